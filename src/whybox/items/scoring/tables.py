"""What each scorer must and must not match: the published promise of precision and recall, and its test.

`must_not` means "not right": another answer, several answers, a denied one, or none.
"""

from whybox.items.scoring.choice import choice_scorer
from whybox.items.scoring.rules import JsonWithKeys, NeverWrite
from whybox.items.scoring.scorers import (
    AbstainScorer,
    FalsePremiseScorer,
    code_scorer,
    forms_scorer,
    name_scorer,
    number_scorer,
    symbol_scorer,
    word_scorer,
    yes_no_scorer,
)
from whybox.items.scoring.table import Table


def tables() -> tuple[Table, ...]:
    """The tables of all scorers."""
    return (*_numbers(), *_names(), *_choices(), *_words(), *_rules())


def _numbers() -> tuple[Table, ...]:
    return (*_quantities_in_english(), *_quantities_in_chinese(), *_bare_numbers())


def _quantities_in_english() -> tuple[Table, ...]:
    return (
        Table(
            "number en",
            number_scorer("7 days", ["30 days", "70 days"]),
            (
                *("7 days", "Seven days.", "**7** days", "7.0 days", "a 7-day limit", "７ days", "not 30 but 7 days"),
                *(
                    "Answer: 7",
                    "It takes 7 days, not 30.",
                    "The limit is 7 full days.",
                    "7 or 30? Answer: 7 days",
                    "7 or 9? Answer: 7 days",
                    "7 days or 1 week",
                    "no more than 7 days",
                    "at least 7 days",
                    "7 days (168 hours)",
                    "There is no doubt that it is 7 days.",
                    "7",
                    "7 (days)",
                    "within $7$ days",
                ),
            ),
            (
                *("17 days", "-7 days", "70 days", "70%", "7.5 days", "7 weeks", "2007", "not 7 days", "7 or 30 days"),
                *(
                    "7-30 days",
                    "5 to 7 days",
                    "7½ days",
                    "7 and a half days",
                    "7 hundred days",
                    "1.7 days",
                    "7/30 days",
                ),
                *("7 or 9 days", "5, 6, 7, 8 or 9 days", "7 days or 9 days", "5 days, 6 days, 7 days"),
                *("7 days and 12 hours", "7 days 4 hours", "7 weeks and 2 days", "7 days or 2 weeks", "7 days, 9 days"),
                *("7 days ago", "more than 7 days", "less than 7 days", "almost 7 days", "I doubt it is 7 days"),
                *("We are open 7 days a week.", "7 days per week", "twice 7 days", "7 days and a half", "every 7 days"),
                *("It does not say that it takes 7 days.", "7 days and a week", "7 days (12 hours)"),
                *("between 5 and 7 days", "~~7 days~~", "7 business days", "document 7 says so", "isn't 7 days", ""),
            ),
        ),
    )


def _quantities_in_chinese() -> tuple[Table, ...]:
    return (
        Table(
            "number zh",
            number_scorer("7天", ["30天", "70天"]),
            (
                "７天",
                "七天",
                "答案：7 天",
                "不是30天，是7天",
                "7日",
                "不是30天是7天",
                "需要７天。",
                "不仅要7天",
                "不超过7天",
                "7天以内",
                "7天或1周",
            ),
            (
                *("十七天", "七十天", "不是7天", "7天或30天", "7个工作日", "第七天", "7天半", "7万天", "并非7天"),
                *("7天或9天", "5、6、7、8天", "7天12小时", "7天零12小时", "不到7天", "超过7天", "7天前", "7天多"),
                *("每周7天", "未必是7天", "7天或2周"),
                *("5至7天", "7月7日", "①7个月", "七千天", "除了7天", "我选30，7天不对"),
            ),
        ),
    )


def _bare_numbers() -> tuple[Table, ...]:
    return (
        Table(
            "number without unit",
            number_scorer("7", ["8"]),
            ("7", "7.0", "$7.00", "seven", "The result is 7.", "是七"),
            (
                "17",
                "7 or 8",
                "7 or 9",
                "1, 2, 3, 4, 5, 6, 7, 9",
                "not 7",
                "-7",
                "70%",
                "7%",
                "7,000",
                "7th",
                "K7",
                "covid-7",
                "7:30",
                "7 million",
                "一定",
                "1.2.7",
            ),
        ),
        Table(
            "number without words",
            number_scorer("7", ["8"], words=False),
            ("7", "$7.00"),
            ("seven", "七", "17"),
        ),
        Table(
            "negative number", number_scorer("-3", ["3"]), ("-3", "−3", "It is -3."), ("3", "5-3", "13", "--", "3-3")
        ),
    )


def _names() -> tuple[Table, ...]:
    return (*_common_words(), *_bounded_names())


def _common_words() -> tuple[Table, ...]:
    return (
        Table(
            "name Will",
            name_scorer("Will", ["Mark"]),
            (
                "Will.",
                "Will sells boats.",
                "The answer is Will.",
                "will",
                "WILL",
                "It is Will who sells.",
                "I asked Will.",
            ),
            (
                *("The company will sell you a boat.", "Will you buy a boat?", "Will refunds be paid?", "It will."),
                *("Will the company sell it", "WE WILL SELL IT", "Will's boat", 'The answer is "Mark", he will.'),
            ),
        ),
        Table(
            "name IT",
            name_scorer("IT", ["HR"]),
            ("IT", "The IT department.", "it", "Answer: IT", "部门是IT"),
            ("It depends.", "it depends", "IT DEPENDS", "Contact us, it is easy."),
        ),
        Table(
            "name May",
            name_scorer("May", ["June"]),
            ("May", "Bills are due in May.", "It is May"),
            ("You may pay in July.", "May I pay in July?", "you may"),
        ),
        Table(
            "text May",
            word_scorer("May", ["June"]),
            ("May", "may", "Bills are due in May.", "It is May"),
            ("You may pay in July.", "May I pay in July?", "you may", "It may be June."),
        ),
        Table("text will", word_scorer("will"), ("He left a will.", "will", "Will"), ("He willed it.",)),
        Table("text US", word_scorer("US"), ("US", "In the US it is so."), ("Contact us in France.", "USA")),
    )


def _bounded_names() -> tuple[Table, ...]:
    return (
        Table(
            "name Anna Berg",
            name_scorer("Anna Berg", ["Tom Stone"]),
            ("Anna Berg", "anna berg", "It is Anna Berg.", "ANNA BERG", "it is anna berg", "It is Anna Berg's."),
            (
                *("Anna Berg-Mann", "Anna Bergmann", "Anna Berg's sister", "the sister of Anna Berg"),
                *("Anna Berg Mann leads it", "Joanna Berg"),
            ),
        ),
        Table(
            "name 李明",
            name_scorer("李明", ["王芳"]),
            ("李明", "由李明负责", "是李明的", "李明和王五", "李明先生", "答案是李明。"),
            ("李明华", "由李明华负责", "李明的妹妹", "王芳"),
        ),
        Table(
            "name en",
            name_scorer("Velmora", ["Tanrik"]),
            ("Velmora.", "VELMORA's depot", "the Velmora depot", "Not Tanrik but Velmora", "**Velmora**"),
            (
                "Velmoran",
                "not Velmora",
                "Velmora or Tanrik",
                "Tanrik",
                "neither Velmora nor Tanrik",
                "Velmora is wrong",
            ),
        ),
        Table(
            "name zh",
            name_scorer("维岚仓库", ["青岑仓库"]),
            ("“维岚”仓库", "维 岚 仓库", "维岚仓库", "是维岚仓库。", "答案是维岚。"),
            ("维岚山", "不是维岚仓库", "维岚仓库或青岑仓库", "青岑仓库", "并非维岚仓库", "维岚仓库是错的"),
        ),
    )


def _choices() -> tuple[Table, ...]:
    contents = {"A": "3 days", "B": "7 days", "C": "30 days", "D": "90 days"}
    return (
        Table(
            "choice",
            choice_scorer("B", contents=contents),
            (
                *("B", "(b)", "Answer: B", "B) seven days", "选B", "答案是 B。", "7 days", "b.", "[B]", "**B**"),
                *("A refund takes seven days.", "The answer is B because A is wrong.", "不是A，是B"),
            ),
            (
                *(
                    "A",
                    "both A and B",
                    "B is wrong; A",
                    "Because it is.",
                    "既不是A也不是B",
                    "B) 30 days",
                    "C",
                    "30 days",
                ),
                *("not B", "be", "AB", "A or B"),
            ),
        ),
    )


def _words() -> tuple[Table, ...]:
    return (*_exact_words(), *_stances())


def _exact_words() -> tuple[Table, ...]:
    return (
        Table(
            "code",
            code_scorer("K7Q-19"),
            ("K7Q-19", '"K7Q-19".', "k7q-19"),
            ("K7Q-190", "k7q19", "K7Q", "K7Q-19-B", "XK7Q-19", "A-K7Q-19"),
        ),
        Table(
            "word",
            word_scorer("Germany"),
            ("It was Germany.", "germany", "Germany's team"),
            ("It was not Germany", "Germanys", "German", "East-Germanys", "Germany1"),
        ),
        Table(
            "symbol",
            symbol_scorer("Co"),
            ("Co", "Co.", "The symbol is Co.", "**Co**", "Symbol: Co", "元素符号是Co。", "the symbol (Co)"),
            ("CO", "co", "Cobalt", "Co is short for company", "not Co", "We met with Co today.", "C", ""),
        ),
        Table(
            "forms",
            forms_scorer(["Kyiv", "Kiev"]),
            ("Kyiv", "It is Kiev."),
            ("Kyivan", "not Kiev", "Kyi"),
        ),
    )


def _stances() -> tuple[Table, ...]:
    return (
        Table(
            "yes or no",
            yes_no_scorer("no"),
            ("No.", "No, it is not.", "不可以。", "Answer: no", "不行", "NO!", "**No**", "No - it is not."),
            (
                "I do not know",
                "nothing",
                "It is now open",
                "不知道",
                "Yes.",
                "可以",
                "There is no refund, yes.",
                "Yes. No.",
            ),
        ),
        Table(
            "false premise",
            FalsePremiseScorer(),
            ("The documents do not say.", "It did not close.", "文档没有说明。", "它没有停用。"),
            ("Because of a storm.", "", "因为下雨。", "It closed last year."),
        ),
        Table(
            "abstain",
            AbstainScorer(),
            (
                *("The documents do not say.", "I can't tell from this.", "文中没有提到", "无法确定", "资料未说明"),
                *("It isn’t mentioned.", "This cannot be determined.", "I don't know.", "不知道", "没有相关信息"),
            ),
            (
                *(
                    "I don't know why you ask, but 7 days.",
                    "没有问题，7天。",
                    "",
                    "   ",
                    "I know.",
                    "not bad",
                    "知道了",
                ),
                *("I do not know that you mean that.",),
            ),
        ),
    )


def _rules() -> tuple[Table, ...]:
    return (
        Table(
            "never write refund",
            NeverWrite.of("refund"),
            ("fund", "profound", "We pay it back.", "funded", "refundry"),
            (
                "Refunds are paid.",
                "It was refunded.",
                "refund",
                "REFUNDING",
                "non-refundable",
                "re**fund**",
                "",
                "refund's",
            ),
        ),
        Table(
            "never write 退款",
            NeverWrite.of("退款"),
            ("退回货款", "可以退"),
            ("退款需要7天", "不退款", "退 款", "退\u200b款"),
        ),
        Table(
            "JSON with key days",
            JsonWithKeys(("days",)),
            ('{"days": 7}', '```json\n{"days": 7}\n```', 'Here: {"days": 7}', '{"days": 7} done'),
            ('{"day": 7}', "{'days': 7}", "7", "", '["days"]', '{"days": 7', '{"x": {"days": 7}}'),
        ),
        Table(
            "strict JSON with key days",
            JsonWithKeys(("days",), strict=True),
            ('{"days": 7}', '```\n{"days": 7}\n```', '  {"days": 7}\n'),
            ('{"days": 7} done', 'Here: {"days": 7}', '{"day": 7}', '```\n{"days": 7}\n```\nDone.'),
        ),
    )
