"""The texts on which two runs are compared unless others are given: English, Chinese, code, and one long enough."""

from collections.abc import Iterator
from dataclasses import dataclass

from whybox.model import Model
from whybox.targets.target import Chat

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
SHORT = (("english", ENGLISH), ("chinese", CHINESE), ("code", CODE))
LINES = 6
MOST_LINES = 200


@dataclass(frozen=True)
class Text:
    """name; ids, as our side reads the text (none where no side is ours); text, None where ids alone were given.

    chat: a conversation in place of a text.
    """

    name: str
    ids: tuple[int, ...]
    text: str | None
    chat: Chat | None = None

    @property
    def asked(self) -> str | list[dict[str, str]] | None:
        """What a model makes a prompt of; None where there are only ids."""
        if self.chat is None:
            return self.text
        return [{"role": turn.role, "content": turn.content} for turn in self.chat.turns]


def default_texts(model: Model) -> Iterator[Text]:
    """Short ones of three kinds, then lines that anyone can rebuild, behind the widest window or 96 tokens long."""
    for name, text in SHORT:
        yield Text(name, tuple(model.prompt(text).ids), text)
    yield _long(model)


def plain_texts() -> Iterator[Text]:
    """The same where no side is a model of this machine: as texts alone."""
    yield from (Text(name, (), text) for name, text in SHORT)
    yield Text("lines", (), lines(LINES))


def _long(model: Model) -> Text:
    """As many whole lines as it takes; where not even they fit, tokens of the first ones."""
    wanted = length_for(model)
    for count in range(1, MOST_LINES):
        ids = tuple(model.prompt(lines(count)).ids)
        if len(ids) >= wanted:
            break
    whole = len(ids) <= model.spec.context
    return Text("lines", ids if whole else ids[:wanted], lines(count) if whole else None)


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
