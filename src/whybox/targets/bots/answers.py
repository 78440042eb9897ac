"""What each bot says to what it has read: one function, one branch a bot."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from whybox.items.generate.kinds import DECLINE
from whybox.targets.bots.draws import Draws, uniform
from whybox.targets.bots.kinds import (
    AlwaysFirst,
    AlwaysLast,
    AnswersLate,
    BatchSensitive,
    Bluffer,
    Bot,
    Brittle,
    ClosedBook,
    ColdWarm,
    CutOff,
    CutoffAt,
    DropsLogprobs,
    Errors,
    ForgetsAt,
    ForgetsGeometric,
    ForgetsTokens,
    FormatDrift,
    Guesser,
    Gullible,
    HalfClosed,
    Honest,
    IgnoresSeed,
    ItemBiased,
    KeywordDeaf,
    LabelBiased,
    LogitNoise,
    MalformedJson,
    MiddleBlind,
    Misattributes,
    NoRuleObeyer,
    NullContent,
    OverRefuser,
    PositionBiased,
    RateLimited,
    Reader,
    ReasoningOnly,
    RecencyWeighted,
    Stubborn,
    TemplateBreaker,
    TieFlipper,
    TruncatesContext,
)
from whybox.targets.bots.reading import Rule, Seen

WORDS = [
    "river",
    "lamp",
    "stone",
    "window",
    "bread",
    "garden",
    "winter",
    "letter",
    "bridge",
    "apple",
    "morning",
    "silver",
    "forest",
    "table",
    "music",
    "harbour",
    "candle",
    "mountain",
    "paper",
    "summer",
]


@dataclass(frozen=True)
class Circumstances:
    """What is not in the prompt. temperature, seed: as asked. first: never asked before. beside: other calls run."""

    temperature: float = 0.0
    seed: int | None = None
    first: bool = True
    beside: bool = False


def answer(bot: Bot, seen: Seen, draws: Draws, around: Circumstances) -> str:
    """The text of one answer."""
    if seen.codes is not None:
        return ", ".join(seen.codes) or decline(seen)
    if not seen.understood:
        return _prose(bot, draws, around)
    said = _decided(bot, seen, draws, around)
    return _in_form(bot, said, seen, draws)


def right(seen: Seen) -> str | None:
    """The right answer: what the text gives, else what the bank knows; None where nothing answers the question."""
    known = seen.known
    if known is not None and not known.answerable:
        return None
    if seen.options:
        given = next((label for label, content in seen.options if content == seen.given), None)
        return given or (known.right if known else None)
    if seen.given is not None:
        return seen.given
    if seen.passages:
        return None  # the text speaks of others only
    return _plain_right(seen)


def decline(seen: Seen) -> str:
    """Says that nothing is said of it."""
    return DECLINE[seen.language]


def others(seen: Seen) -> list[str]:
    """Wrong answers, in an order that does not depend on their places."""
    correct = right(seen)
    if seen.options:
        by_content = sorted((content, label) for label, content in seen.options if label != correct)
        return [label for _, label in by_content]
    found = {passage.answer for passage in seen.passages} | set(seen.known.wrong if seen.known else ())
    return sorted(found - {correct or ""}) or [_made_up(correct or "7")]


def _decided(bot: Bot, seen: Seen, draws: Draws, around: Circumstances) -> str:
    """The answer before any rule or form is put on it."""
    honest, wrong = right(seen) or decline(seen), _wrong(seen, draws)
    match bot:
        case Honest(p):
            return honest if draws.per_item("honest") < p else wrong
        case TieFlipper(epsilon):
            return wrong if draws.per_call("flip") < epsilon else honest
        case AlwaysFirst():
            return _place(seen, 0) or decline(seen)
        case AlwaysLast():
            return _place(seen, -1) or decline(seen)
        case PositionBiased(b) | Misattributes(b):
            return (_place(seen, 0) or honest) if draws.per_call("place") < b else honest
        case ItemBiased(b):
            return (_place(seen, 0) or honest) if draws.per_item("place") < b else honest
        case LabelBiased(b):
            labels = [label for label, _ in seen.options]
            return "A" if "A" in labels and draws.per_call("label") < b else honest
        case RecencyWeighted(w):
            return _place(seen, _recent(w, len(_units(seen)), draws.per_call("recent"))) or decline(seen)
        case MiddleBlind(d):
            return wrong if _is_inside(seen) and draws.per_prompt("blind") < d else honest
        case ClosedBook(p):
            if not seen.recalled:
                return honest
            return _memory(seen) if draws.per_item("memory") < p else wrong
        case Reader(e):
            given = honest if seen.options or seen.given is not None else decline(seen)
            return wrong if given != decline(seen) and draws.per_prompt("error") < e else given
        case ForgetsAt() | ForgetsGeometric() | ForgetsTokens() | NoRuleObeyer():
            return honest if seen.rule is not None or _remembers(bot, seen, draws) else decline(seen)
        case KeywordDeaf():
            return _memory(seen)
        case Brittle(r):
            return wrong if seen.edited and draws.per_prompt("edit") < r else honest
        case Stubborn(s):
            return _memory(seen) if seen.recalled and draws.per_prompt("conflict") < s else honest
        case Gullible(g):
            return honest if draws.per_prompt("conflict") < g else _memory(seen)
        case Bluffer(b):
            return wrong if right(seen) is None and draws.per_prompt("bluff") < b else honest
        case OverRefuser(r):
            return decline(seen) if draws.per_prompt("refuse") < r else honest
        case CutoffAt(c, lam, gamma):
            known = seen.known is not None and seen.known.month < c
            return honest if draws.per_item("dated") < (lam if known else gamma) else wrong
        case Guesser(gamma):
            return honest if draws.per_item("dated") < gamma else wrong
        case IgnoresSeed() | ColdWarm() | BatchSensitive():
            return wrong if flips(bot, draws, around) else honest
        case (
            FormatDrift() | TemplateBreaker() | TruncatesContext() | DropsLogprobs() | AnswersLate() | RateLimited()
            | Errors() | NullContent() | ReasoningOnly() | CutOff() | MalformedJson() | HalfClosed() | LogitNoise()
        ):  # fmt: skip
            return honest
        case _:
            assert_never(bot)


def flips(bot: IgnoresSeed | ColdWarm | BatchSensitive, draws: Draws, around: Circumstances) -> bool:
    """Whether this call is one of those that come out otherwise."""
    match bot:
        case IgnoresSeed(epsilon):
            each = (1 - (1 - 2 * epsilon) ** 0.5) / 2  # two calls differ with 2f(1 − f) = ε
            return around.temperature > 0 and draws.per_call("seed") < each
        case ColdWarm(epsilon):
            return around.first and draws.per_prompt("cold") < epsilon
        case BatchSensitive(epsilon):
            return around.beside and draws.per_call("beside") < epsilon
        case _:
            assert_never(bot)


def _wrong(seen: Seen, draws: Draws) -> str:
    """The wrong answer of this item: the same one whatever the order of the parts."""
    choices = others(seen)
    return choices[int(draws.per_item("wrong") * len(choices))]


def _memory(seen: Seen) -> str:
    """What the bot knows without the text."""
    if seen.known is None or not seen.known.answerable:
        return right(seen) or decline(seen)
    return _plain_right(seen) or decline(seen)


def _plain_right(seen: Seen) -> str | None:
    """The bank's answer; of an item whose answer obeys a rule, the value inside it."""
    if seen.known is None:
        return None
    found = re.fullmatch(r'\{"value": (.+)\}', seen.known.right)
    return found[1] if found else seen.known.right


def _units(seen: Seen) -> list[str]:
    """What stands in an order: options, else passages."""
    return [label for label, _ in seen.options] or [passage.answer for passage in seen.passages]


def _place(seen: Seen, place: int) -> str | None:
    units = _units(seen)
    return units[place] if units else None


def _recent(w: float, count: int, draw: float) -> int:
    """A place among `count`, each with weight w^(count − 1 − place)."""
    weights = [w ** (count - 1 - place) for place in range(count)]
    left = draw * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return place
    return count - 1


def _is_inside(seen: Seen) -> bool:
    """Whether the right unit stands between others."""
    units, correct = _units(seen), right(seen)
    return correct in units[1:-1] if seen.options else seen.asked is not None and 0 < seen.asked < len(units) - 1


def _made_up(correct: str) -> str:
    """Another answer of the same form, where the prompt offers none."""
    moved = re.sub(r"\d+", lambda number: str(int(number[0]) + 3), correct)
    return moved if moved != correct else f"not {correct}"


def _remembers(bot: ForgetsAt | ForgetsGeometric | ForgetsTokens | NoRuleObeyer, seen: Seen, draws: Draws) -> bool:
    """Whether the rule (or the fact) is obeyed after all that came behind it."""
    draw = draws.per_prompt("obey")
    match bot:
        case NoRuleObeyer(c):
            return draw < c
        case ForgetsAt(t0, q):
            return _told(seen) and (seen.turns <= t0 or draw < q)
        case ForgetsGeometric(h):
            return _told(seen) and draw < 2 ** (-seen.turns / h)
        case ForgetsTokens(n0):
            return _told(seen) and seen.tokens <= n0
        case _:
            assert_never(bot)


def _told(seen: Seen) -> bool:
    return seen.rule_told if seen.rule is not None else seen.given is not None


def _in_form(bot: Bot, said: str, seen: Seen, draws: Draws) -> str:
    """The answer as the rule of the prompt wants it, or not, and in a fence or broken where the bot does that."""
    if seen.rule is not None:
        said = _ruled(seen.rule, said, seen, _obeys(bot, seen, draws))
    match bot:
        case FormatDrift(r) if draws.per_prompt("form") < r:
            return _broken(said)
        case TemplateBreaker("fence"):
            return f"```\n{said}\n```"
        case _:
            return said


def _obeys(bot: Bot, seen: Seen, draws: Draws) -> bool:
    match bot:
        case ForgetsAt() | ForgetsGeometric() | ForgetsTokens() | NoRuleObeyer():
            return _remembers(bot, seen, draws)
        case Honest(p):
            return draws.per_item("honest") < p
        case _:
            return seen.rule_told


def _ruled(rule: Rule, said: str, seen: Seen, obeyed: bool) -> str:
    """An answer that obeys the rule, or one that breaks it without meaning to."""
    match rule.kind:
        case "json":
            value = re.sub(r"[^\d.].*$", "", said.strip()) or said
            quoted = value if re.fullmatch(r"\d+(?:\.\d+)?", value) else f'"{value}"'
            return f'{{"value": {quoted}}}' if obeyed else said
        case "never":
            told = f"{said} ({rule.word})" if seen.language == "en" else f"{rule.word}：{said}"
            return said if obeyed else told
        case _:
            assert_never(rule.kind)


def _broken(said: str) -> str:
    """The same content in a form that no strict reading accepts: JSON without its braces, a value with a wrong name."""
    if said.startswith("{"):
        return said.strip("{}").replace('"', "")
    number = re.match(r"\d[\d,.]*", said)
    return f"value: {number[0]}" if number and number[0] != said else f"<<{said}>>"


def _prose(bot: Bot, draws: Draws, around: Circumstances) -> str:
    """Words for a prompt that asks nothing the bot knows: by the prompt, and by the seed where one is drawn with."""
    drawn = around.seed if around.temperature > 0 and around.seed is not None else 0
    if around.temperature > 0 and around.seed is None:
        drawn = 1 + draws.repeat
    flipped = isinstance(bot, IgnoresSeed | ColdWarm | BatchSensitive) and flips(bot, draws, around)
    if isinstance(bot, TieFlipper):
        flipped = draws.per_call("flip") < bot.epsilon
    text = _words(draws.seed, draws.prompt, drawn, flipped)
    return f"```\n{text}\n```" if isinstance(bot, TemplateBreaker) and bot.kind == "fence" else text


def _words(*name: object, among: Sequence[str] = WORDS) -> str:
    return " ".join(among[int(uniform(*name, place) * len(among))] for place in range(12))
