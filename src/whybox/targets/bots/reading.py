"""What a bot finds in a prompt: passages with the answers that they give, options, a rule, codes to be repeated.

Facts are read by the sentences of the item generators, whatever names and values stand in them, so a moved, changed or
missing passage is seen as it is. A bank adds what no text says: the right answers of given items.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from whybox.items.generate.claims import ISSUES
from whybox.items.generate.common import common_facts
from whybox.items.generate.dated import DatedFact
from whybox.items.generate.item import Item
from whybox.items.generate.kinds import JSON_RULE, KEYVALUE, NEVER
from whybox.items.generate.vocabulary import ATTRIBUTES, ENTITY_KINDS, LANGUAGES, Language
from whybox.items.instance import CaseInstance
from whybox.targets.target import Chat, Raw

CODE = r"[A-Z][0-9][A-Z]-[0-9]{2}"
_VALUE = {"number": r"[\d][\d,.]*\d|\d", "code": CODE}
_NAME = {"en": r"[A-Z][a-z]+", "zh": r"[\u4e00-\u9fff]{2}"}
_OPTION = re.compile(r"^([A-H])\)\s*(.+?)\s*$", re.MULTILINE)
_CANARY = {
    "first": re.compile(rf"(?:The first code is |第一个代码是)({CODE})"),
    "last": re.compile(rf"(?:The last code is |最后一个代码是)({CODE})"),
    "asked": re.compile(r"Repeat the first code and the last code|请重复第一个代码和最后一个代码"),
}


@dataclass(frozen=True)
class Known:
    """What a bank holds of one question. claims: every answer that a text might give. parts: of the unedited prompt.

    month: of a dated fact. rule: what the item's checker wants, told or not.
    """

    question: str
    right: str
    wrong: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    month: str = ""
    rule: "Rule | None" = None
    answerable: bool = True


@dataclass(frozen=True)
class Rule:
    """Never write a word, or answer in JSON."""

    kind: Literal["never", "json"]
    word: str = ""


@dataclass(frozen=True)
class Passage:
    """A sentence that gives an answer. turn: the message it stands in. place: its first character in all the text."""

    name: str
    answer: str
    turn: int
    place: int


@dataclass(frozen=True)
class Seen:
    """A prompt as a bot reads it.

    recalled: the question itself is in the bank, and not another about the same text.
    asked: the passage that answers the question. rule_turn: the message that states the rule. turns, tokens: what lies
    behind the rule, or behind the asked passage where there is none.
    """

    question: str
    language: Language
    passages: tuple[Passage, ...] = ()
    asked: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    known: Known | None = None
    rule: Rule | None = None
    rule_told: bool = False
    turns: int = 0
    tokens: int = 0
    codes: tuple[str, ...] | None = None
    edited: bool = False
    understood: bool = False
    recalled: bool = False

    @property
    def given(self) -> str | None:
        """The answer that the text gives."""
        return None if self.asked is None else self.passages[self.asked].answer


@dataclass(frozen=True)
class _Form:
    """A kind of sentence: how it states a fact, how it is asked, what an answer looks like."""

    fact: re.Pattern[str]
    questions: tuple[re.Pattern[str], ...]
    answer: str
    language: Language


@dataclass(frozen=True)
class Bank:
    """The items that a bot knows the answers of; empty is allowed."""

    known: tuple[Known, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item | CaseInstance | DatedFact]) -> "Bank":
        """A bank of generated items, of cases and of dated facts."""
        return cls(tuple(map(_known, items)))

    def find(self, asked: str, context: str) -> Known | None:
        """The item whose question stands in the last message; among equals the one with most parts in the text."""
        found = [each for each in self.known if each.question in asked] or [
            each for each in self.known if sum(part in context for part in each.parts) * 2 > len(each.parts) > 1
        ]
        return max(
            found, key=lambda each: (len(each.question), sum(part in context for part in each.parts)), default=None
        )


NO_BANK = Bank()


@lru_cache(maxsize=4096)
def read(prompt: Chat | Raw, bank: Bank = NO_BANK) -> Seen:
    """A prompt, read."""
    turns = _turns(prompt)
    text = "\n".join(content for _, content in turns)
    asked = turns[-1][1] if turns else ""
    known = bank.find(asked, text)
    options = _options(asked)
    passages, form, target = _passages(turns, asked)
    if known is not None and not passages:
        passages = tuple(_claims(turns, known))
    place = _asked(passages, target) if form is not None else _supported(passages, known)
    rule, told = _rule(turns)
    codes = _codes(text, asked)
    since = told if told is not None else (passages[place].turn if place is not None else None)
    return Seen(
        question=known.question if known else _question(asked),
        language="zh" if re.search(r"[\u4e00-\u9fff]", asked) else "en",
        passages=passages,
        asked=place,
        options=options,
        known=known,
        rule=rule or (known.rule if known else None),
        rule_told=rule is not None,
        turns=0 if since is None else sum(role == "user" for role, _ in turns[since + 1 :]),
        tokens=0 if since is None else sum(len(content.split()) + _han(content) for _, content in turns[since + 1 :]),
        codes=codes,
        edited=known is not None and not all(part in text for part in known.parts),
        recalled=known is not None and known.question in asked,
        understood=known is not None or form is not None or bool(options) or codes is not None,
    )


def _turns(prompt: Chat | Raw) -> tuple[tuple[str, str], ...]:
    if isinstance(prompt, Raw):
        return (("user", prompt.text),)
    return tuple((turn.role, turn.content) for turn in prompt.turns)


def _question(asked: str) -> str:
    """The last line that asks something, else the last line: the name of an item that no bank knows."""
    lines = [line.strip() for line in asked.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if line.endswith(("?", "？"))), lines[-1] if lines else "")


def _options(asked: str) -> tuple[tuple[str, str], ...]:
    found = tuple((match[1], match[2]) for match in _OPTION.finditer(asked))
    return found if len(found) > 1 else ()


def _passages(
    turns: tuple[tuple[str, str], ...], asked: str
) -> tuple[tuple[Passage, ...], "_Form | None", tuple[str, str]]:
    """All facts of the form that the question is about, in order, with the form and what the question names.

    Name and value in the question: one of them is empty.
    """
    for form in _forms():
        for pattern in form.questions:
            matches = list(pattern.finditer(asked))
            if matches:
                named = matches[-1].groupdict()
                wants_name = "value" in named
                passages = tuple(_facts(turns, form, wants_name))
                return passages, form, (named.get("name", ""), named.get("value", ""))
    return (), None, ("", "")


def _facts(turns: tuple[tuple[str, str], ...], form: _Form, wants_name: bool) -> Iterator[Passage]:
    before = 0
    for number, (_, content) in enumerate(turns):
        for match in form.fact.finditer(content):
            answer = match["name"] if wants_name else form.answer.format(value=match["value"])
            named = match["value"] if wants_name else match["name"]
            yield Passage(named, answer, number, before + match.start())
        before += len(content) + 1


def _asked(passages: tuple[Passage, ...], target: tuple[str, str]) -> int | None:
    """The last passage that speaks of what the question names."""
    wanted = target[0] or target[1]
    found = [place for place, passage in enumerate(passages) if passage.name == wanted]
    return found[-1] if found else None


def _claims(turns: tuple[tuple[str, str], ...], known: Known) -> Iterator[Passage]:
    """Where the text in front of the question holds an answer to it."""
    before = 0
    shapes = "|".join(sorted({_shape(claim) for claim in (known.right, *known.wrong, *known.claims)}, key=len)[::-1])
    for number, (_, content) in enumerate(turns):
        context = content.replace(known.question, " " * len(known.question))
        for match in re.finditer(rf"(?<![A-Za-z0-9])(?:{shapes})(?![A-Za-z0-9])", context):
            yield Passage("", match[0], number, before + match.start())
        before += len(content) + 1


def _shape(claim: str) -> str:
    """A pattern of the answer with any number in place of its own."""
    return re.sub(r"\d[\d,.]*", lambda _: r"\d[\d,.]*", re.escape(claim).replace("\\,", ",").replace("\\.", "."))


def _supported(passages: tuple[Passage, ...], known: Known | None) -> int | None:
    """Of free claims the right one counts where it stands; a single claim counts whatever it says."""
    if known is None or not passages:
        return None
    rights = [place for place, passage in enumerate(passages) if passage.answer == known.right]
    if rights:
        return rights[-1]
    return len(passages) - 1 if len({passage.answer for passage in passages}) == 1 else None


def _rule(turns: tuple[tuple[str, str], ...]) -> tuple[Rule | None, int | None]:
    """The rule that was stated last, and in which message."""
    for number in range(len(turns) - 1, -1, -1):
        for pattern in _never_patterns():
            if match := pattern.search(turns[number][1]):
                return Rule("never", match["word"]), number
        if any(stated in turns[number][1] for stated in JSON_RULE.values()):
            return Rule("json"), number
    return None, None


def _codes(text: str, asked: str) -> tuple[str, ...] | None:
    """First and last code of a canary, as far as they are there; None where nobody asks for them."""
    if _CANARY["asked"].search(asked) is None:
        return None
    found = (_CANARY[end].search(text) for end in ("first", "last"))
    return tuple(match[1] for match in found if match is not None)


def _han(text: str) -> int:
    return len(re.findall(r"[\u4e00-\u9fff]", text))


@cache
def _never_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_filled(text, word=r"(?P<word>\w+)")) for text in NEVER.values())


@cache
def _forms() -> tuple[_Form, ...]:
    """Every kind of sentence of the generators, in both languages."""
    return tuple(form for language in LANGUAGES for form in _forms_in(language))


def _forms_in(language: Language) -> Iterator[_Form]:
    for attribute in (*(issue.attribute for issue in ISSUES), *ATTRIBUTES):
        phrases = attribute.phrases(language)
        name, number = _name(attribute.entity, language), rf"(?P<value>{_VALUE['number']})"
        asked = [re.compile(_filled(phrases.question, name=name))]
        asked += [
            re.compile(_filled(issue.who[language], value=number)) for issue in ISSUES if issue.attribute is attribute
        ]
        fact = re.compile(_filled(phrases.fact, name=name, value=number))
        yield _Form(fact, tuple(asked), phrases.answer, language)
    statement, question = KEYVALUE[language]
    name = _name("device", language)
    fact = re.compile(_filled(statement, name=name, value=rf"(?P<value>{CODE})"))
    yield _Form(fact, (re.compile(_filled(question, name=name)),), "{value}", language)


def _name(entity: str, language: Language) -> str:
    kind = ENTITY_KINDS[entity][language]
    return rf"(?P<name>{_NAME[language]}{' ' if language == 'en' else ''}{kind})"


def _filled(template: str, **patterns: str) -> str:
    """A template as a pattern: its own text literally, a pattern in each blank."""
    pieces = re.split(r"\{(\w+)\}", template)
    return "".join(patterns[piece] if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))


def _known(item: Item | CaseInstance | DatedFact) -> Known:
    if isinstance(item, DatedFact):
        return Known(item.question, item.right, item.wrong, month=item.month)
    instance = item.instance if isinstance(item, Item) else item
    question = next((part.text for part in instance.parts if part.name == "question"), instance.parts[-1].text)
    wrong = () if instance.wrong is None else (instance.wrong,)
    parts = tuple(part.text for part in instance.parts)
    if isinstance(item, CaseInstance):
        return Known(question, instance.right, wrong, parts=parts)
    if item.kind == "dated":
        return Known(question, instance.right, item.others, month=item.variant)
    answerable = item.variant not in ("unanswerable", "false-premise")
    if item.kind == "rule":
        rule = Rule("json") if item.variant == "json" else Rule("never", item.variant.removeprefix("never:"))
        return Known(question, instance.right, wrong, parts=parts, rule=rule)
    wrong = tuple(dict.fromkeys((*wrong, *(other for other in item.others if item.kind != "choice"))))
    claims = _topic(item) if item.kind == "common" else ()
    return Known(question, instance.right, wrong, claims, parts, answerable=answerable)


def _topic(item: Item) -> tuple[str, ...]:
    """Every answer of the topic of a common fact, in every form."""
    facts = common_facts()
    topic = next(fact.topic for fact in facts if fact.id == item.variant)
    return tuple(form for fact in facts if fact.topic == topic for form in fact.answers[item.language])
