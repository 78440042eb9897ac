"""Runs of tokens: where segments lie, and the other spans of the same length that serve as their null."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whybox.engine.edit import Edit, boost, cut
from whybox.text.prompt import JOIN, Prompt, Segment, SegmentKind

TEMPLATE, BOS, BETWEEN = "template", "bos", "between the parts"  # what the case does not write
SHAMS = 39  # with so many draws a p below .05 needs that at most one of them is as large


@dataclass(frozen=True)
class Stretch:
    """A named set of token ranges: one for a part, several for the template around and between parts."""

    name: str
    kind: SegmentKind
    ranges: tuple[range, ...]

    @property
    def keys(self) -> tuple[int, ...]:
        return tuple(key for piece in self.ranges for key in piece)

    @property
    def span(self) -> range | None:
        """The range, where it is one."""
        return self.ranges[0] if len(self.ranges) == 1 else None


def stretches(segments: Sequence[Segment], end: int) -> tuple[Stretch, ...]:
    """Segments of tokens 0 … end − 1; BOS, template text and joins are one. Sentences that nobody typed stay apart. A
    raw prompt has no template: its joins are one, and BOS is itself.
    """
    templated = any(segment.kind is SegmentKind.TEMPLATE and not segment.name.startswith(JOIN) for segment in segments)
    named: dict[str, list[Segment]] = {}
    for segment in segments:
        if segment.start < min(segment.end, end):
            named.setdefault(_group(segment, templated), []).append(segment)
    return tuple(
        Stretch(name, _kind(pieces[0].kind), tuple(range(s.start, min(s.end, end)) for s in pieces))
        for name, pieces in named.items()
    )


def _group(segment: Segment, templated: bool) -> str:
    scaffold = segment.kind in (SegmentKind.BOS, SegmentKind.TEMPLATE) and not segment.name.startswith("not typed")
    if scaffold and templated:
        return TEMPLATE
    return BETWEEN if scaffold and segment.name.startswith(JOIN) else segment.name


def _kind(kind: SegmentKind) -> SegmentKind:
    return SegmentKind.TEMPLATE if kind is SegmentKind.BOS else kind


def keys_of(prompt: Prompt, names: Sequence[str]) -> tuple[int, ...]:
    """All tokens of the named segments."""
    found = [prompt.segment(name) for name in names]
    return tuple(key for segment in found for key in range(segment.start, segment.end))


def other_spans(
    length: int, taken: Sequence[int], end: int, most: int = SHAMS, first: Callable[[range], bool] | None = None
) -> list[range]:
    """All spans of `length` tokens in 1 … end − 1 that touch none of `taken`, the nearest of them, at most `most`.

    Token 0 is left out: a sink reads it from everywhere, so it is no match for ordinary tokens. first: spans that go
    before nearer ones, up to half of the places.
    """
    if not taken or length < 1:
        return []
    held = set(taken)
    spans = [range(start, start + length) for start in range(1, end - length + 1)]
    free = [span for span in spans if held.isdisjoint(span)]
    middle = sum(taken) / len(taken)
    nearest = sorted(free, key=lambda span: abs(span.start + (length - 1) / 2 - middle))
    before = [] if first is None else [span for span in nearest if first(span)][: (most + 1) // 2]
    others = [span for span in nearest if span not in before]
    return sorted([*before, *others[: most - len(before)]], key=lambda span: span.start)


@dataclass(frozen=True)
class Edge:
    """An edit of the attention from the rows that decide to some keys: cut, or boosted."""

    action: str
    keys: tuple[int, ...]
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None

    def from_row(self, row: int) -> Edit:
        """Held for this row and all after it."""
        make = cut if self.action == "cut" else boost
        chosen: dict[str, slice | tuple[int, ...]] = {"q": slice(row, None), "k": self.keys}
        if self.heads is not None:
            chosen["h"] = self.heads
        return make(self.layers, **chosen)
