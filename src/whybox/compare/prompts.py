"""The texts on which two runs are compared unless others are given: English, Chinese, code, and one long enough."""

from collections.abc import Iterator
from dataclasses import dataclass

from whybox.model import Model

BEYOND = 48
"""Tokens that a text goes on behind the widest window, so that a window off by one shows."""
LONGEST = 1024
"""Tokens of the longest text that is made on its own: a wider window needs a text of the user's."""
_ANIMALS = ("fox", "hen", "ox", "owl", "eel")
ENGLISH = (
    "The museum opened in 1894 after the river had been moved. Visitors came by boat, paid two coins at the gate, and "
    "were asked to leave their umbrellas with the porter. The capital of France is"
)
CHINESE = "退货须在收到商品后七天内提出，运费由买家承担；换货期限为三十天。客服会在两个工作日内回复。请问退货期限是"
CODE = (
    "def median(values):\n    ordered = sorted(values)\n    middle = len(ordered) // 2\n    if len(ordered) % 2:\n"
    "        return ordered[middle]\n    return (ordered[middle - 1] + ordered[middle]) /"
)


@dataclass(frozen=True)
class Text:
    """name; ids, as our side reads the text; text, None where ids alone were given."""

    name: str
    ids: tuple[int, ...]
    text: str | None


def default_texts(model: Model) -> Iterator[Text]:
    """Short ones of three kinds, then lines that anyone can rebuild, behind the widest window or 96 tokens long."""
    for name, text in (("english", ENGLISH), ("chinese", CHINESE), ("code", CODE)):
        yield Text(name, tuple(model.prompt(text).ids), text)
    ids = tuple(model.prompt(lines(200)).ids)
    yield Text("lines", ids[: length_for(model)], None)


def length_for(model: Model) -> int:
    """Tokens that show a window, where there is one that LONGEST reaches and the context allows."""
    windows = [layer.attention.window for layer in model.spec.layers if layer.attention.window is not None]
    reached = [window + BEYOND for window in windows if window + BEYOND <= min(LONGEST, model.spec.context)]
    return min(max(reached, default=96), model.spec.context)


def windows_not_reached(model: Model) -> list[int]:
    """Windows that no default text is long enough for."""
    windows = {layer.attention.window for layer in model.spec.layers if layer.attention.window is not None}
    return sorted(window for window in windows if window + BEYOND > min(LONGEST, model.spec.context))


def lines(count: int) -> str:
    """A text that anyone can rebuild."""
    return " ".join(
        f"Line {i}: the {_ANIMALS[i % 5]} sold {i * i % 89} apples to the {_ANIMALS[(i + 2) % 5]} in town {i % 7}."
        for i in range(1, count + 1)
    )
