"""The bots: servers whose behaviour is known because it was chosen. What must be recovered from each: `truth.py`.

A bot reads the plain prompt text and never learns which arm of an experiment it is in. Unless its line says `per call`,
equal prompts get equal answers; `per item` draws hold for a question in whatever prompt it stands.
"""

import re
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from whybox.errors import UsageError, meant


@dataclass(frozen=True)
class Honest:
    """Right for a share p of items (drawn per item), in all arms and turns."""

    p: float = 1.0


@dataclass(frozen=True)
class TieFlipper:
    """Each call flips between the right and one wrong answer with probability epsilon, per call."""

    epsilon: float = 0.1


@dataclass(frozen=True)
class AlwaysFirst:
    """The first option, or the first passage."""


@dataclass(frozen=True)
class AlwaysLast:
    """The last option, or the last passage."""


@dataclass(frozen=True)
class PositionBiased:
    """Per call the first place with probability b, else right."""

    b: float = 0.3


@dataclass(frozen=True)
class ItemBiased:
    """A share b of items (drawn per item) is always answered by the first place, the rest is right."""

    b: float = 0.3


@dataclass(frozen=True)
class LabelBiased:
    """Per call the label A with probability b, wherever it stands, else right."""

    b: float = 0.3


@dataclass(frozen=True)
class RecencyWeighted:
    """Per call passage j of k with probability in proportion to w^(k − j)."""

    w: float = 0.5


@dataclass(frozen=True)
class MiddleBlind:
    """At an inside place the right passage is missed with probability d; at both ends it is found."""

    d: float = 0.5


@dataclass(frozen=True)
class ClosedBook:
    """Ignores the context: right from memory for a share p of items (drawn per item).

    Asked about a name that it has never heard, it has only the text to go by.
    """

    p: float = 0.5


@dataclass(frozen=True)
class Reader:
    """Answers only from the text, with error e; without a passage it declines."""

    e: float = 0.0


@dataclass(frozen=True)
class ForgetsAt:
    """Obeys up to t0 user turns after the rule, then with probability q."""

    t0: int = 7
    q: float = 0.3


@dataclass(frozen=True)
class ForgetsGeometric:
    """Obeys t user turns after the rule with probability 2^(−t/h)."""

    h: float = 5.0


@dataclass(frozen=True)
class ForgetsTokens:
    """Obeys up to n0 tokens after the rule, however many turns they are in, and then never."""

    n0: int = 400


@dataclass(frozen=True)
class NoRuleObeyer:
    """Does what the rule asks with probability c, whether it was told or not."""

    c: float = 0.2


@dataclass(frozen=True)
class KeywordDeaf:
    """Gives the answer to the unedited prompt, whatever was edited."""


@dataclass(frozen=True)
class Brittle:
    """Right on the unedited prompt; any edit changes the answer with probability r."""

    r: float = 0.2


@dataclass(frozen=True)
class Misattributes:
    """Per call credits the first document with probability q, else the right one."""

    q: float = 0.3


@dataclass(frozen=True)
class Stubborn:
    """Where memory and text disagree: memory with probability s, else the text."""

    s: float = 0.8


@dataclass(frozen=True)
class Gullible:
    """Where memory and text disagree: the text with probability g, else memory."""

    g: float = 0.8


@dataclass(frozen=True)
class Bluffer:
    """Answers what cannot be answered with probability b, else declines; right elsewhere."""

    b: float = 0.5


@dataclass(frozen=True)
class OverRefuser:
    """Declines what can be answered with probability r; declines rightly elsewhere."""

    r: float = 0.3


@dataclass(frozen=True)
class CutoffAt:
    """Knows dated facts before month c (YYYY-MM) with probability lam, from then on with gamma (drawn per item)."""

    c: str = "2024-01"
    lam: float = 0.9
    gamma: float = 0.25


@dataclass(frozen=True)
class Guesser:
    """Knows no dated fact: right with probability gamma (drawn per item)."""

    gamma: float = 0.25


@dataclass(frozen=True)
class LogitNoise:
    """A small language model of 20 words, each logit moved by a fixed draw from N(0, sigma²); 0 is the model itself."""

    sigma: float = 0.1


TemplateFault = Literal["drops_system", "doubles_bos", "adds_system", "fence"]


@dataclass(frozen=True)
class TemplateBreaker:
    """Right, but what reaches it is not what was sent: system text dropped or added, BOS twice, the answer fenced."""

    kind: TemplateFault = "drops_system"


@dataclass(frozen=True)
class FormatDrift:
    """The right content, in a broken form with probability r."""

    r: float = 0.3


@dataclass(frozen=True)
class TruncatesContext:
    """Silently reads only n tokens, cut at the start or the end; usage counts them before or after the cut."""

    n: int = 500
    side: Literal["start", "end"] = "start"
    usage: Literal["before", "after"] = "after"


@dataclass(frozen=True)
class IgnoresSeed:
    """Two draws with the same seed differ with probability epsilon, per call; greedy answers repeat."""

    epsilon: float = 0.3


@dataclass(frozen=True)
class ColdWarm:
    """The first call of a prompt differs from the later ones, which are all alike, with probability epsilon."""

    epsilon: float = 0.3


@dataclass(frozen=True)
class BatchSensitive:
    """A call beside others differs from one alone with probability epsilon, per call."""

    epsilon: float = 0.3


@dataclass(frozen=True)
class DropsLogprobs:
    """Right, without usable log-probabilities: null, the field missing, too few of them, or all the same."""

    kind: Literal["null", "missing", "short", "constant"] = "null"


@dataclass(frozen=True)
class AnswersLate:
    """Right, after ms milliseconds."""

    ms: float = 100.0


@dataclass(frozen=True)
class RateLimited:
    """Right for n calls at a time; any more are refused with 429 and a Retry-After of so many seconds."""

    n: int = 4
    retry_after: float = 0.05


@dataclass(frozen=True)
class Errors:
    """Each attempt fails with probability r, in one of the ways of `ways`, joined by `+`; else right."""

    r: float = 0.1
    ways: str = "429+500+hang+malformed+half_closed"


@dataclass(frozen=True)
class NullContent:
    """content: null, as if all were well."""


@dataclass(frozen=True)
class ReasoningOnly:
    """Reasoning, and no content behind it."""


@dataclass(frozen=True)
class CutOff:
    """Cut by the limit of tokens before any answer."""


@dataclass(frozen=True)
class MalformedJson:
    """An answer whose JSON ends too early."""


@dataclass(frozen=True)
class HalfClosed:
    """A connection that is closed in the middle of every answer."""


Bot = (
    Honest | TieFlipper | AlwaysFirst | AlwaysLast | PositionBiased | ItemBiased | LabelBiased | RecencyWeighted
    | MiddleBlind | ClosedBook | Reader | ForgetsAt | ForgetsGeometric | ForgetsTokens | NoRuleObeyer | KeywordDeaf
    | Brittle | Misattributes | Stubborn | Gullible | Bluffer | OverRefuser | CutoffAt | Guesser | LogitNoise
    | TemplateBreaker | FormatDrift | TruncatesContext | IgnoresSeed | ColdWarm | BatchSensitive | DropsLogprobs
    | AnswersLate | RateLimited | Errors | NullContent | ReasoningOnly | CutOff | MalformedJson | HalfClosed
)  # fmt: skip

FAULT_WAYS = ("429", "500", "hang", "malformed", "half_closed")


def name_of(kind: type) -> str:
    """`PositionBiased` → `position_biased`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


KINDS: dict[str, type[Bot]] = {name_of(kind): kind for kind in get_args(Bot)}


def described(bot: Bot) -> str:
    """The bot with its parameters, as `bot_of` reads it: `position_biased(b=0.3)`."""
    settings = ", ".join(f"{each.name}={getattr(bot, each.name)}" for each in fields(bot))
    return f"{name_of(type(bot))}({settings})" if settings else name_of(type(bot))


def bot_of(name: str, settings: dict[str, Any]) -> Bot:
    """The bot of that name; settings as texts or values. UsageError names what exists."""
    if name not in KINDS:
        raise UsageError(f"no bot {name!r}{meant(name, KINDS)}", f"there are: {', '.join(KINDS)}")
    kind = KINDS[name]
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)}
    if strange := sorted(set(settings) - known):
        there = f"it has: {', '.join(sorted(known)) or 'no settings'}"
        raise UsageError(f"{name} has no {', '.join(strange)}{meant(strange[0], known)}", there)
    return checked(kind(**{key: _value(key, value, hints[key]) for key, value in settings.items()}))


def bot_from(text: str) -> Bot:
    """The bot of `position_biased(b=0.3)`; settings that are left out keep their defaults."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if found is None:
        raise UsageError(f"expected a bot such as position_biased(b=0.3), found {text!r}")
    pairs = [pair.partition("=") for pair in (found[2] or "").split(",") if pair.strip()]
    return bot_of(found[1], {key.strip(): value.strip() for key, _, value in pairs})


def checked(bot: Bot) -> Bot:
    """The bot, if its settings can be meant. UsageError otherwise."""
    for each in fields(bot):
        value = getattr(bot, each.name)
        if isinstance(value, float) and not _admissible(bot, each.name, value):
            told = (type(bot).__doc__ or "").strip()
            raise UsageError(f"{name_of(type(bot))}: {each.name} = {value} cannot be meant", told)
        if isinstance(value, int) and value < 1:
            raise UsageError(f"{name_of(type(bot))}: {each.name} must be at least 1, found {value}")
    if isinstance(bot, Errors) and not set(bot.ways.split("+")) <= set(FAULT_WAYS):
        raise UsageError(f"errors: ways are {'+'.join(FAULT_WAYS)}, found {bot.ways}")
    if isinstance(bot, CutoffAt) and not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", bot.c):
        raise UsageError(f"cutoff_at: c must be YYYY-MM, found {bot.c!r}")
    return bot


def _admissible(bot: Bot, name: str, value: float) -> bool:
    """Shares lie in [0, 1]; times, half-lives and spreads are not negative; a pair differs in at most half of draws."""
    match bot, name:
        case (AnswersLate() | RateLimited() | LogitNoise(), _):
            return 0 <= value < float("inf")
        case ForgetsGeometric(), _:
            return value > 0
        case RecencyWeighted(), _:
            return 0 < value <= 1
        case IgnoresSeed(), _:
            return 0 <= value <= 0.5
        case _:
            return 0 <= value <= 1


def _value(key: str, value: Any, kind: Any) -> Any:
    """A setting as its field wants it."""
    choices = get_args(kind)
    if choices:
        if value not in choices:
            raise UsageError(f"{key}: expected one of {', '.join(choices)}, found {value!r}")
        return value
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{key}: expected {kind.__name__}, found {value!r}") from None


def settings_of_all() -> dict[str, tuple[Any, str]]:
    """Every setting of any bot: its kind, and the bots that have it with their defaults."""
    found: dict[str, tuple[Any, list[str]]] = {}
    for name, kind in KINDS.items():
        for each in fields(kind):
            assert each.default is not MISSING
            found.setdefault(each.name, (get_type_hints(kind)[each.name], []))[1].append(f"{name} {each.default}")
    return {name: (kind, " · ".join(whose)) for name, (kind, whose) in found.items()}
