"""The prompt as runs of token chips, at most so many of them; the text of what is left out stays readable."""

from dataclasses import dataclass

from whybox.report.document import PromptToken, PromptView, SegmentInfo
from whybox.report.visible import calm, shortened, visible

MOST_CHIPS = 360
MOST_RUNS = 48
MOST_GAP_TEXT = 4_000


@dataclass(frozen=True)
class Chip:
    """A token on the page. `inspected` shows every character of it; `part` is "k/n" for a cut character."""

    text: str
    inspected: str
    title: str
    classes: str
    part: str


@dataclass(frozen=True)
class Gap:
    """Tokens that are not drawn one by one."""

    tokens: int
    text: str


@dataclass(frozen=True)
class Run:
    """Neighbouring tokens of one segment."""

    index: int
    info: SegmentInfo
    head: list[Chip]
    gap: Gap | None
    tail: list[Chip]


def runs_of(prompt: PromptView) -> tuple[list[Run], int]:
    """The runs in order, and the number of tokens in runs beyond MOST_RUNS."""
    groups: list[list[tuple[int, PromptToken]]] = []
    for place, token in enumerate(prompt.tokens):
        if not groups or groups[-1][0][1].segment != token.segment:
            groups.append([])
        groups[-1].append((place, token))
    drawn = groups[-MOST_RUNS:]
    total = sum(map(len, drawn))
    runs = [_run(prompt, group, max(4, MOST_CHIPS * len(group) // max(total, 1))) for group in drawn]
    return runs, len(prompt.tokens) - total


def _run(prompt: PromptView, group: list[tuple[int, PromptToken]], most: int) -> Run:
    index = group[0][1].segment
    info = prompt.segments[index]
    if len(group) <= most:
        return Run(index, info, [_chip(*token, info) for token in group], None, [])
    first = most // 2
    last = len(group) - (most - first)
    text = prompt.text[group[first][1].span[0] : group[last - 1][1].span[1]]
    gap = Gap(last - first, shortened(calm(text), MOST_GAP_TEXT))
    return Run(index, info, [_chip(*t, info) for t in group[:first]], gap, [_chip(*t, info) for t in group[last:]])


def _chip(place: int, token: PromptToken, info: SegmentInfo) -> Chip:
    """Scaffold is shown with its line ends even as text: there is nothing else to see in many of its runs."""
    marks = {"control": token.control, "control-like": token.control_like}
    cut = {"cut": token.of > 1, "rest": token.part > 1}
    return Chip(
        text=visible(token.text) if info.kind == "template" else calm(token.text),
        inspected=visible(token.text),
        title=f"#{place} · id {token.id} · {token.bytes}",
        classes=" ".join(["chip", *(name for name, on in (marks | cut).items() if on)]),
        part=f"{token.part}/{token.of}" if token.of > 1 else "",
    )
