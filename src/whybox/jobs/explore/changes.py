"""A change of the explorer as a counterfactual of the engine."""

from collections.abc import Iterable
from typing import assert_never

from whybox.engine.edit import Edit, boost, cut, zero
from whybox.engine.trace import Change
from whybox.errors import SiteError
from whybox.jobs.explore.prompts import changed_prompt
from whybox.model import Model
from whybox.report.document.explore import (
    AnyChange,
    EdgeCut,
    HeadGone,
    MlpGone,
    PartDropped,
    PartReworded,
    RunChange,
    SegmentBoosted,
    SegmentCut,
    State,
)
from whybox.text.prompt import Prompt, Segment


def joined(model: Model, state: State, base: Prompt, changes: Iterable[AnyChange]) -> tuple[Prompt, Change]:
    """The changes together: the prompt that they leave, and the counterfactual of a run of `base`."""
    chosen = list(changes)
    texts = [change for change in chosen if isinstance(change, PartDropped | PartReworded)]
    runs = [change for change in chosen if not isinstance(change, PartDropped | PartReworded)]
    prompt = changed_prompt(model, state, texts) if texts else base
    edits = tuple(edit for change in runs for edit in edits_of(change, prompt))
    return prompt, Change(edits, prompt.ids if texts else None)


def edits_of(change: RunChange, prompt: Prompt) -> tuple[Edit, ...]:
    """The edits of one change. They hold at every token that is written on as well.

    Raises PromptError for a segment that the prompt lacks, SiteError for a segment that owns no token or that nothing
    behind it reads; places of layers and heads are checked by the engine.
    """
    last = len(prompt.ids) - 1
    match change:
        case HeadGone():
            return (zero("head_out", change.layer, h=change.head),)
        case MlpGone():
            return (zero("mlp_out", change.layer),)
        case EdgeCut():
            return (_edge(change, last),)
        case SegmentCut():
            segment = _owning(prompt, change.segment)
            rows = slice(last if change.by == "decision" else segment.end, None)
            return (cut(q=rows, k=_readable(segment, last)),)
        case SegmentBoosted():
            return (boost(q=slice(last, None), k=_readable(_owning(prompt, change.segment), last)),)
        case _:
            assert_never(change)


def _edge(change: EdgeCut, last: int) -> Edit:
    if change.head is not None and change.layer is None:
        raise SiteError("an edge of one head needs its layer", "name both, or neither for every head of every layer")
    query = slice(last, None) if change.query is None else change.query
    row = last if change.query is None else change.query
    if change.key >= row:
        raise SiteError(
            f"query {row} cannot be cut from key {change.key}",
            "a query keeps itself and sees no later token: choose an earlier key",
        )
    layers = None if change.layer is None else (change.layer,)
    heads = {} if change.head is None else {"h": change.head}
    return cut(q=query, k=change.key, layers=layers, **heads)


def _owning(prompt: Prompt, name: str) -> Segment:
    segment = prompt.segment(name)
    if segment.start == segment.end:
        raise SiteError(f"segment {name!r} owns no token of this prompt")
    return segment


def _readable(segment: Segment, last: int) -> range:
    """The segment's keys; not the deciding row itself, which must see something."""
    keys = range(segment.start, min(segment.end, last))
    if not keys:
        raise SiteError(f"segment {segment.name!r} is the deciding token alone", "choose an earlier segment")
    return keys
