"""The value inside an answer's form: `7 days` → 7, `{"days": 7}` → 7, `Paris` → Paris."""

import json

from whybox.items.scoring.finders import NumberCandidate
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.quantities import find_quantities
from whybox.items.scoring.units import UNITS

_SHORTEST_UNIT = 2  # letters: `d` as a key is no unit


def bare_value(answer: str) -> str:
    """The number of an answer that is one, the only value of a JSON object, otherwise the answer as it is."""
    only = _only_json_value(answer)
    if only is not None:
        return only[1]
    return str(NumberCandidate.parse(answer).value) if is_number(answer) else answer


def unwrapped(answer: str) -> str:
    """The only value of a JSON object, with its key where that names a unit (`{"days": 7}` → `7 days`); otherwise the
    answer as it is.
    """
    only = _only_json_value(answer)
    if only is None:
        return answer
    key, value = only
    names_unit = len(key) >= _SHORTEST_UNIT and any(key.casefold() in unit.after for unit in UNITS)
    return f"{value} {key.casefold()}" if names_unit and is_number(value) else value


def is_number(answer: str) -> bool:
    """Whether an answer is a number, with or without a unit: `7 days`, but not `K7Q-19` or `Room 7`."""
    number = next(iter(find_quantities(fold_text(answer).strip(), words=True)), None)
    return number is not None and number.start == 0


def _only_json_value(answer: str) -> tuple[str, str] | None:
    """Key and value."""
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or len(data) != 1:
        return None
    ((key, value),) = data.items()
    return (key, str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
