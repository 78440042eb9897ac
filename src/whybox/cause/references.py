"""Other runs that values come from: which prompts stand in, and which of their rows play the same role."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whybox.cause.components import Component, wishes
from whybox.cause.ground import Ground
from whybox.engine.ablation import REFERENCES, Donor
from whybox.engine.trace import Trace
from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.items.generate import REFERENCE_NAME, Language, reference_set
from whybox.text.prompt import Prompt, SegmentKind


@dataclass(frozen=True, eq=False)
class Other:
    """Another run. rows: row of the base text → the row of this run that plays the same role."""

    trace: Trace
    rows: Mapping[int, int]

    def donor(self, rows: Sequence[int]) -> Donor:
        """Its values at the counterparts of some rows, in rising order. UsageError for a row without counterpart."""
        missing = [row for row in rows if row not in self.rows]
        if missing:
            raise UsageError(
                f"position {missing[0]} has no counterpart in the other run",
                "map it, or name the positions that have one: rows=…",
            )
        return Donor(self.trace, tuple(self.rows[row] for row in rows))


@dataclass(frozen=True, eq=False)
class References:
    """At least 32 other runs; the name is printed beside whatever rests on them."""

    name: str
    others: tuple[Other, ...]


def by_role(base: Prompt, other: Prompt) -> dict[int, int]:
    """Row → row: the same distance from the nearer end of the segment of the same name.

    Where there is no such segment, from the nearer end of the prompt. Shorter counterparts repeat their last row.
    """
    named = {segment.name: segment for segment in other.segments if segment.start < segment.end}
    found: dict[int, int] = {}
    for own in base.segments:
        twin = named.get(own.name)
        for row in range(own.start, own.end):
            span = range(len(base)) if twin is None else range(own.start, own.end)
            goal = range(len(other)) if twin is None else range(twin.start, twin.end)
            found[row] = _counterpart(row, span, goal)
    return found


def _counterpart(row: int, span: range, goal: range) -> int:
    before, behind = row - span.start, span.stop - 1 - row
    last = len(goal) - 1
    return goal.start + (min(before, last) if before < behind else last - min(behind, last))


def reference_prompts(ground: Ground, variants: Case | None = None) -> tuple[str, tuple[Prompt, ...]]:
    """The variants of a case where it has 32 others, else the built-in set, in the prompt's language and length."""
    model = ground.model
    own = [] if variants is None else [model.prompt(one) for one in variants.instances()[1:]]
    if len(own) >= REFERENCES:
        return f"{len(own)} variants of the case", tuple(own)
    raw = not any(token.control for token in ground.prompt.tokens[1:])
    count = lambda text: len(model.tokenizer.encode(text))  # noqa: E731
    typed = sum(one.end - one.start for one in ground.prompt.segments if one.kind is SegmentKind.PART)
    drawn = reference_set(_language(ground.prompt.text), count, typed, raw)
    return REFERENCE_NAME, tuple(model.prompt(one) for one in drawn)


def _language(text: str) -> Language:
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"


def references(ground: Ground, prompts: Iterable[Prompt], components: Iterable[Component], name: str) -> References:
    """The prompts run with the values of these components kept."""
    wanted = wishes(tuple(components))
    runs = ((prompt, ground.model.run(prompt, see=wanted, tail=1)) for prompt in prompts)
    return References(name, tuple(Other(trace, by_role(ground.prompt, prompt)) for prompt, trace in runs))
