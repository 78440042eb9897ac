"""The value inside an answer's form: `7 days` → 7, `{"days": 7}` → 7, `Paris` → Paris."""

import json

from whybox.items.scoring.finders import NumberCandidate
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.quantities import find_quantities


def bare_value(answer: str) -> str:
    """The number of an answer that is one, the only value of a JSON object, otherwise the answer as it is."""
    only = _only_json_value(answer)
    if only is not None:
        return only
    return str(NumberCandidate.parse(answer).value) if is_number(answer) else answer


def is_number(answer: str) -> bool:
    """Whether an answer is a number, with or without a unit: `7 days`, but not `K7Q-19` or `Room 7`."""
    number = next(iter(find_quantities(fold_text(answer).strip(), words=True)), None)
    return number is not None and number.start == 0


def _only_json_value(answer: str) -> str | None:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or len(data) != 1:
        return None
    (value,) = data.values()
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
