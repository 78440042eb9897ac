"""A value keeps its sign and scale however it is written; naming everything is never right; ordinary answers are."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.items.scoring import Scorer, choice_scorer, code_scorer, name_scorer, number_scorer, word_scorer
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.quantities import find_quantities

DAYS, TIAN = number_scorer("7 days", ["30 days"]), number_scorer("7天", ["30天"])
SEVEN, MINUS = number_scorer("7", ["8"]), number_scorer("-7 degrees", ["7 degrees"])
DOLLARS, PERCENT, GREAT = number_scorer("7 dollars"), number_scorer("70%", ["7%"]), number_scorer("7000 metres")
NAME, HAN = name_scorer("Velmora", ["Tanrik"]), name_scorer("维岚仓库", ["青岑仓库"])
WORD, CODE, LETTER = word_scorer("Germany"), code_scorer("K7Q-19"), choice_scorer("B")

ORDINARY: list[tuple[Scorer, tuple[str, ...]]] = [
    (
        DAYS,
        (
            *(
                "The refund takes 7 days.",
                "7 days, that is one week",
                "7 days, which equals 1 week.",
                "7 days - no more.",
            ),
            *(
                "Refund time - 7 days",
                "The answer is:\n- 7 days",
                "Answer: 7 days",
                "- **Refund:** 7 days\n- **Fee:** none",
            ),
            *("1. Send the form within 3 hours.\n2. Wait.\n3. The refund takes 7 days.", "Step 1: 7 days", "1. 7 days"),
            *(
                "It takes 7 days — not more.",
                "A while — 7 days.",
                "It takes 7 days; no fee is due.",
                "Is it 7 days? Yes.",
            ),
            *(
                "You have 7 days to pay, and the fee is 20 dollars.",
                "7 days (one week).",
                "7-day limit",
                "about 7 days",
            ),
            *(
                "It is not 30 days but 7 days.",
                "No, it takes 7 days.",
                "7 days. It is not 30 days.",
            ),
            *("According to document 2, it takes 7 days.", "It takes 7 days. It takes 7 days.", "Please allow 7 days."),
            *(
                "A request takes 7 days, on page 3 or 4.",
                "No longer a week of 5, 7 days!",
                "seven days",
                "7 days or one week",
            ),
        ),
    ),
    (
        TIAN,
        (
            *(
                "退款在7天内到账。",
                "退款需要7天。",
                "答案是7天。",
                "答案——7天",
                "是7天，也就是一周。",
                "7天，而不是30天",
            ),
            *(
                "1. 提交申请。\n2. 等待审核。\n3. 7天内退款。",
                "不会超过7天",
                "不得晚于7天",
                "分别是7天",
                "负责人说是7天",
            ),
            *("没错，是7天。", "不用等30天，7天就行。", "根据文档2，需要七天。", "不是三十天，是七天。", "一共7 天"),
        ),
    ),
    (
        SEVEN,
        (
            "The answer is 7.",
            "x = 7",
            "It has 7 apples.",
            "4 + 3 = 7",
            "7 metres",
            "\\boxed{7}",
            "共7个",
            "- 7\n- final",
        ),
    ),
    (DOLLARS, ("$7", "$7.00", "It costs $7.", "7 USD", "The fee ($7) is due.", "The price is US$7.", "Fee - $7")),
    (
        MINUS,
        ("-7 degrees", "−7°", "minus 7 degrees", "negative seven degrees", "零下7度", "负7度", "7 degrees below zero"),
    ),
    (PERCENT, ("70%", "70 pct", "70 per cent", "百分之70", "百分之七十", "It is 70 percent.")),
    (GREAT, ("7000 m", "7,000 metres", "7 000 metres", "7\u00a0000 metres", "7'000 metres", "7\u202f000 m")),
    (
        NAME,
        (
            *("Velmora.", "It is Velmora.", "Velmora, Spain", "Yes. Velmora.", "Sure, Velmora.", "Velmora, isn't it?"),
            *("Velmora. The depot keeps parcels.", "Velmora is not open on Sundays.", "The depot is in Velmora or so."),
            *(
                "Not Tanrik, but Velmora.",
                "Velmora\n\nThe document says so.",
                "Velmora (see Note 3)",
                "Velmora, more or less.",
            ),
            *(
                "There is no doubt: Velmora.",
                "The Velmora depot or the Velmora depot.",
                "Velmora. Thanks!",
                "Answer\nVelmora",
            ),
        ),
    ),
    (
        HAN,
        (
            "维岚仓库。",
            "在维岚仓库。",
            "是维岚仓库，没错。",
            "不是青岑仓库，是维岚仓库。",
            "维岚仓库还是最近的。",
            "答案：维岚",
        ),
    ),
    (WORD, ("Germany", "In Germany, of course.", "It was Germany in 1990.", "Germany and nobody else")),
    (CODE, ("K7Q-19", "The code is K7Q-19.", "Code: K7Q-19", "K7Q-19, as you said")),
    (LETTER, ("B", "The answer is B.", "选B", "B is not wrong.", "B. It is so.")),
]

NOT_RIGHT: list[tuple[Scorer, tuple[str, ...]]] = [
    (
        SEVEN,
        (
            *("- 7", "—7", "-seven", "minus 7", "negative seven", "负7", "零下7", "⁻7", "x = - 7", "±7", "10 minus 7"),
            *(
                "7‰",
                "7 pct",
                "百分之7",
                "7成",
                "7折",
                "7倍",
                "7 dozen",
                "7 000",
                "7\u00a0000",
                "7'000",
                "7_000",
                "7M",
                "7 bn",
            ),
            *(
                "7 million",
                "7k",
                "7^2",
                "7×10^3",
                "√7",
                "二分之七",
                "seven point five",
                "7 point 5",
                "七点五",
                "≠7",
                "!= 7",
            ),
            *("> 7", "不等于7", "7错", "7 不是答案", "别选7", "wrong: 7", "7 not", "It's anything but 7"),
            *("7\n9\n11", "7; 9; 11", "7|9|11", "7 / 9 / 10", "7 9", "- 7\n- 9", "1. 7\n2. 9", "It's 7. Or 9. Or 10."),
            *("It is 7. It is 9.", "Maybe 7. Maybe 9.", "是7。是9。"),
        ),
    ),
    (DOLLARS, ("-$7", "−$7.00", "$-7", "minus 7 dollars", "minus $7", "- $7")),
    (
        DAYS,
        (
            *("1 day 2 days 7 days 8 days", "1 day; 7 days", "7 days. 9 days.", "7 days\n9 days", "7 days or 30"),
            *("It takes 7 days. It takes 9 days.", "minus 7 days", "7 000 days", "7 days; 2 weeks"),
        ),
    ),
    (TIAN, ("负7天", "零下7天", "7天9天11天", "需要7天。需要9天。", "不会是7天", "7天；9天", "7，000天")),
    (MINUS, ("7 degrees", "--7 degrees", "minus 70 degrees", "-7%")),
    (
        NAME,
        (
            *(
                "Velmora or Zumra",
                "Zumra or Velmora",
                "Velmora. Or Zumra.",
                "Velmora/Zumra",
                "Velmora; Zumra",
                "Velmora\nZumra",
            ),
            *("Aldor, Benik, Velmora, Zumra", "Velmora Zumra Aldor", "velmora, zumra, aldor", "- Aldor\n- Velmora"),
            *(
                "Velmora isn't it",
                "Velmora isn't the one",
                "anything but Velmora",
                "no Velmora",
                "Velmora, no",
                "Velmora? No.",
            ),
            *(
                "Unlike Velmora, none",
                "avoid Velmora",
                "It would be wrong to say Velmora",
                "Velmora was not",
                "either Velmora or Zumra",
            ),
        ),
    ),
    (
        HAN,
        (
            *(
                "不在维岚仓库",
                "非维岚仓库",
                "没去维岚仓库",
                "而非维岚仓库",
                "不应是维岚仓库",
                "绝非维岚仓库",
                "维岚仓库吗？不是",
            ),
            *(
                "维岚仓库不是答案",
                "并不在维岚仓库",
                "不选维岚仓库",
                "不会是维岚仓库",
                "维岚仓库或青木仓库",
                "青木仓库、维岚仓库",
            ),
        ),
    ),
    (WORD, ("Germany or France", "Austria, France, Germany", "Germany/France", "Germany isn't it.")),
    (CODE, ("K7Q-19/20", "K7Q-19.5", "K7Q-19--20", "K7Q-19 or K7Q-20", "K7Q-18, K7Q-19", "K7Q-19?? no", "a/K7Q-19")),
    (LETTER, ("不选B", "排除B", "Anything but B", "B isn't it", "A; B; C; D")),
]


def rows(table: list[tuple[Scorer, tuple[str, ...]]]) -> list[tuple[Scorer, str]]:
    return [(scorer, text) for scorer, texts in table for text in texts]


def test_ordinary_answers_stay_right() -> None:
    assert len(rows(ORDINARY)) > 100
    assert [text for scorer, text in rows(ORDINARY) if not scorer.score(text).right] == []


def test_signs_scales_lists_and_denials_are_not_right() -> None:
    assert [text for scorer, text in rows(NOT_RIGHT) if scorer.score(text).right] == []


@pytest.mark.parametrize("text", ["Velmora or Zumra", "Aldor, Benik, Velmora", "Velmora\nZumra"])
def test_unlisted_names_hedge(text: str) -> None:
    assert NAME.score(text).outcome == "hedged"
    assert NAME.score(f"{text}?\nAnswer: Velmora").right


def test_groups_and_signs_are_read_as_one_value() -> None:
    def values(text: str) -> list[Decimal]:
        return [one.value for one in find_quantities(fold_text(text), words=True)]

    assert values("7 000 and 12'345.5 and 1\u00a0234\u00a0567") == [7000, Decimal("12345.5"), 1234567]
    assert values("-$7, $-8, minus €9, 负10, 5-7") == [-7, -8, -9, -10, 5, 7]


MINUSES = st.sampled_from(["-{}", "−{}", "minus {}", "negative {}", "负{}", "零下{}", "-${}", "$-{}"])


@settings(deadline=None, max_examples=30)
@given(value=st.integers(1, 10**6), sign=MINUSES, lead=st.sampled_from(["", "It is ", "答案是", "(", "x = "]))
def test_a_signed_value_is_its_own_and_never_the_unsigned_one(value: int, sign: str, lead: str) -> None:
    text = lead + sign.format(value)
    assert not number_scorer(str(value)).score(text).right
    assert number_scorer(str(-value)).score(text).right


PARTS = st.sampled_from(["\n", "; ", " / ", "|", ", ", " or ", ". ", " ", "\n- ", "、", ". Or "])


@settings(deadline=None, max_examples=30)
@given(
    values=st.lists(st.integers(2, 99), min_size=3, max_size=9, unique=True),  # "1. 70. 21" may be a numbered line
    part=PARTS,
    unit=st.sampled_from(["", " days"]),
)
def test_naming_everything_is_never_right(values: list[int], part: str, unit: str) -> None:
    text = part.join(f"{value}{unit}" for value in values)
    assert [value for value in values if number_scorer(f"{value}{unit}").score(text).right] == []


@settings(deadline=None, max_examples=30)
@given(names=st.permutations(["Velmora", "Zumra", "Aldor", "Benik"]), part=PARTS)
def test_naming_everybody_is_never_right(names: list[str], part: str) -> None:
    assert not NAME.score(part.join(names)).right
