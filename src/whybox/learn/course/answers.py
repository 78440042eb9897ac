"""What was said, read: numbers as people write them, ids of options. A bad answer is one clear UsageError."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybox.errors import UsageError
from whybox.learn.course.chapter import Chosen, Code, Exercise, Handed, Matched, Numbers, Option
from whybox.learn.course.questions import listed

Answer = str | float | Sequence[str | float] | Mapping[str, str]
"""One answer as it comes from a terminal, a page or a file: text, several in order, or an option for each item."""
Said = tuple[str, ...]
"""An answer as it is kept: numbers as written, ids of options, or one piece of text."""

_NUMBER = re.compile(r"[+-]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)(e[+-]?\d+)?(/[1-9]\d*)?%?", re.IGNORECASE | re.ASCII)
MOST_DIGITS = 100
SHOWN = 40


@dataclass(frozen=True)
class Read:
    """said: as it is kept. numbers: their values, of a question that asks for numbers."""

    said: Said
    numbers: tuple[float, ...] = ()


def read(question: Exercise, given: Answer) -> Read:
    """UsageError for a wrong count, what is no number, and ids that are no options."""
    match question:
        case Numbers():
            said = _parts(question.id, given, len(question.fields))
            return Read(said, tuple(number(text) for text in said))
        case Chosen():
            return Read(_chosen(question, given))
        case Matched():
            return Read(_matched(question, given))
        case Code() | Handed():
            if not isinstance(given, str) or not given.strip():
                raise UsageError(f"{question.id}: there is nothing in it", "hand in what you wrote, as text")
            return Read((given,))


def alike(question: Exercise, one: Said, other: Said) -> bool:
    """Whether two answers are the same; of several choices the order does not matter."""
    if isinstance(question, Chosen) and question.kind == "some":
        return set(one) == set(other)
    return one == other


def number(text: str) -> float:
    """0.67, .67, 1,048,576, 1.3e9, −2, 1/32, 62 %. UsageError for anything else."""
    plain = re.sub(r"\s", "", text).replace("−", "-").replace("，", ",")
    if len(plain) > MOST_DIGITS or _NUMBER.fullmatch(plain) is None:
        raise UsageError(f"{_short(text)} is not a number", "write it like 0.67, 1,048,576, 1.3e9 or 1/32")
    whole, _, below = plain.removesuffix("%").replace(",", "").partition("/")
    value = float(whole) / float(below or 1)
    if not abs(value) < 1e300:
        raise UsageError(f"{_short(text)} is beyond every number that is asked for", "write it like 1.3e9")
    return value / 100 if plain.endswith("%") else value


def _short(text: str) -> str:
    """As it was written, cut where it is long."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def _parts(name: str, given: Answer, count: int) -> Said:
    """Several answers: a list, or text with blanks, semicolons, line ends or commas between them."""
    if isinstance(given, Mapping):
        raise UsageError(f"{name}: expected {_several(count)}", "write one behind the other")
    if isinstance(given, str):
        pieces = re.split(r"[,，、]?\s+|[;；、]\s*", re.sub(r"\s+%", "%", given.strip()))
        parts = tuple(part for piece in pieces for part in _at_commas(piece))
    elif isinstance(given, Sequence):
        parts = tuple(map(str, given))
    else:
        parts = (str(given),)
    if len(parts) != count or not all(parts):
        raise UsageError(
            f"{name}: expected {_several(count)}, found {len([part for part in parts if part])}",
            "write one behind the other, with a blank between them",
        )
    return parts


def _at_commas(piece: str) -> list[str]:
    """A comma may stand in a number (1,048,576); where it can not, it stands between two."""
    whole = piece.replace("，", ",")
    return [piece] if _NUMBER.fullmatch(whole.replace("−", "-")) else whole.split(",")


def _several(count: int) -> str:
    return "one number" if count == 1 else f"{count} numbers"


def _ids(given: Answer) -> list[str]:
    if isinstance(given, str):
        return [part for part in re.split(r"[,;，；、\s]+", given) if part]
    if isinstance(given, Sequence):
        return [str(each).strip() for each in given]
    return [str(given)]


def _option(name: str, options: Sequence[Option], said: str) -> str:
    """An option by its id, or by its number as they are listed."""
    if said.isdecimal() and len(said) < MOST_DIGITS and 1 <= int(said) <= len(options):
        return options[int(said) - 1].id
    if said in (known := [option.id for option in options]):
        return said
    raise UsageError(f"{name}: there is no option {_short(said)}", f"options are {', '.join(known)}")


def _chosen(question: Chosen, given: Answer) -> Said:
    ids = tuple(_option(question.id, listed(question), said) for said in _ids(given))
    if len(set(ids)) != len(ids):
        raise UsageError(f"{question.id}: an option is there twice", "name each once")
    if question.kind == "one" and len(ids) != 1:
        raise UsageError(f"{question.id}: expected one option, found {len(ids)}", "name one")
    if question.kind == "order" and len(ids) != len(question.options):
        raise UsageError(f"{question.id}: expected all {len(question.options)} options, found {len(ids)}", "name all")
    if not ids:
        raise UsageError(f"{question.id}: no option is named", "name every one that is right")
    return ids


def _matched(question: Matched, given: Answer) -> Said:
    items = [item.id for item in question.items]
    if isinstance(given, Mapping):
        if set(given) != set(items):
            raise UsageError(f"{question.id}: expected an option for each item", f"items are {', '.join(items)}")
        said = [str(given[item]) for item in items]
    else:
        said = _ids(given)
    if len(said) != len(items):
        raise UsageError(f"{question.id}: expected {len(items)} options, found {len(said)}", "give each item one")
    return tuple(_option(question.id, question.options, each) for each in said)
