"""Figures by name, each computed once, and sentences whose blanks are filled with them."""

import re
from dataclasses import dataclass, field

from whybox.errors import FormatError
from whybox.learn.course.chapter import Computed, Told
from whybox.learn.course.computed import Computations
from whybox.learn.figures import ON_MODEL, TOYS, Value
from whybox.learn.ground import Ground
from whybox.learn.ledger import Lang


@dataclass
class Reckoner:
    """What was computed so far; the ground opens the default model only when a figure needs it."""

    ground: Ground
    found: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def number(self, of: Computed, computed: Computations) -> float:
        """FormatError for a figure that does not exist, or a place that it does not have."""
        if of.figure not in self.found:
            value = self._compute(of.figure, computed)
            self.found[of.figure] = value if isinstance(value, tuple) else (value,)
        values = self.found[of.figure]
        if (of.take is None and len(values) > 1) or (of.take or 0) >= len(values):
            raise FormatError("the course", of.figure, f"one of its {len(values)} numbers", f"place {of.take}")
        return values[of.take or 0]

    def _compute(self, name: str, computed: Computations) -> Value:
        for toys in (computed.figures, TOYS):
            if name in toys:
                return toys[name]()
        for figures in (computed.on_model, ON_MODEL):
            if name in figures:
                return self.ground.once(figures[name].compute)
        raise FormatError("the course", name, "the name of a figure", "no such figure")

    def fill(self, told: Told, computed: Computations, lang: Lang) -> tuple[str, ...]:
        """The paragraphs, with every blank filled."""
        filled = {name: written(self.number(of, computed), of.spec) for name, of in told.fills.items()}
        return paragraphs(told.say.of(lang).format_map(filled))


def written(value: float, spec: str) -> str:
    """With a true minus sign."""
    return format(value, spec).replace("-", "−")


def paragraphs(text: str) -> tuple[str, ...]:
    """Blank lines part them. A line end within one is only how the file is written, but before `- ` and code."""
    return tuple(_joined(part.strip("\n")) for part in text.strip().split("\n\n") if part.strip())


WIDE = "[\u2e80-\u9fff\uff00-\uffef]"
"""A character of Chinese text, punctuation included, as in a regular expression."""


def _joined(text: str) -> str:
    """Chinese lines are joined without a blank."""
    text = re.sub(rf"(?<={WIDE})\n(?![-`])|\n(?={WIDE})", "", text)
    return re.sub(r"\n(?![-`])", " ", text)
