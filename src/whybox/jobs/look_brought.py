"""Attention of another library as the document of `look`: what there is without the model that made it."""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from whybox.jobs.look_diagnoses import not_said, said
from whybox.jobs.look_payload import MOST_BYTES, packed
from whybox.jobs.look_views import clearest, counted, maps, shared_fields, short
from whybox.jobs.provenance import versions
from whybox.measure import thresholds
from whybox.measure.brought import QUERIES, Brought
from whybox.measure.budget import Budget, budget_of
from whybox.measure.diagnosis import diagnose
from whybox.measure.heads import Heads
from whybox.measure.subject import of_arrays
from whybox.report import document as d
from whybox.text.prompt import Segment

NO_MODEL = "arrays were brought, not the model that made them"
NO_DECISION = "queries look both ways: none decides, and none was named"
_NO_DISTANCE = "queries and keys are two texts: there are no distances between them"

_NOBODY = d.ModelInfo(
    name="arrays", family="brought", digest="", engine="another library", precision="as given", kernel="as given"
)


def look_at_brought(
    brought: Brought, title: str = "", lang: d.Lang = "en", wrong: bool | None = None
) -> d.LookDocument:
    """The document of arrays: table, classes, maps, diagnoses. No model means no probe, no values, no next token.

    wrong: whether the answer that came of it was, where evidence is named.
    """
    began = time.monotonic()
    subject = of_arrays(brought, wrong)
    segments = tuple(_segments(brought, budget_of(brought.decision, brought.segments)))
    keys = tuple(_tokens(brought.keys, _owners(brought)))
    queries = tuple(_tokens(brought.tokens, [len(segments) - 1] * len(brought.tokens)))
    cross = brought.direction == "cross"
    return d.LookDocument(
        schema=d.LookDocument.identity(),
        lang=lang,
        model=_NOBODY,
        seed=0,
        took_s=time.monotonic() - began,
        title=title,
        text=" ".join(brought.tokens),
        tokens=queries if cross else keys,
        key_tokens=keys if cross else (),
        direction=brought.direction,
        short_text=len(brought.tokens) < thresholds.SHORT_TEXT,
        beyond_training=False,
        segments=segments,
        evidence=brought.evidence,
        decision=_decision(brought),
        heads=tuple(_heads(brought, subject.heads)),
        layers=tuple(_layers(brought)),
        classes=tuple(counted(subject.heads.classes)),
        probe=None,
        probe_reason=NO_MODEL,
        diagnoses=tuple(said(_NOBODY.digest, found, lang) for found in diagnose(subject)),
        not_said=tuple(not_said(subject, lang)),
        dilution=None,
        dilution_reason=NO_MODEL,
        maps=maps(brought.attention, (brought.tokens, brought.keys), brought.causal, {}),
        opened=tuple(_opened(brought, subject.heads)),
        notes=(NO_MODEL,),
        versions=versions(),
    )


def brought_payload(brought: Brought, opened: Sequence[d.Opened]) -> d.LookPayload:
    """Whole patterns of the opened heads."""
    return d.LookPayload(
        patterns=tuple(
            d.PatternRows(
                layer=each.layer,
                head=each.head,
                rows=packed(brought.patterns[each.layer][each.head], np.dtype(np.float32)),
            )
            for each in opened
        )
    )


def _opened(brought: Brought, heads: Heads) -> Iterator[d.Opened]:
    room = MOST_BYTES // (4 * len(brought.tokens) * len(brought.keys))
    for (layer, head), why in list(clearest(heads.table, heads.classes).items())[: max(room, 1)]:
        yield d.Opened(layer=layer, head=head, why=why)


def _tokens(labels: Sequence[str], owners: Sequence[int]) -> Iterator[d.PromptToken]:
    """Labels are all that is known of a token; those that are alike get one number."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    place = 0
    for label, owner in zip(labels, owners, strict=True):
        span = (place, place + len(label))
        yield d.PromptToken(
            id=numbers[label], text=label, bytes=label.encode().hex(), part=1, of=1, span=span, segment=owner
        )
        place += len(label) + 1


def _owners(brought: Brought) -> list[int]:
    """The segment of each key."""
    return [number for number, s in enumerate(brought.segments) for _ in range(s.start, s.end)]


def _segments(brought: Brought, budget: Budget) -> Iterator[d.LookSegment]:
    for segment, shared in shared_fields(brought.segments, budget, brought.attention):
        lift = budget.mean_lift(segment.name) if brought.named else None
        layers = len(brought.attention)
        yield d.LookSegment(
            **shared,
            lift=lift,
            lift_reason=None if lift is not None else _no_lift(brought, segment),
            lift_by_layer=tuple(budget.lift_by_layer(segment.name) if brought.named else [None] * layers),
            value_share=None,
            value_share_reason=NO_MODEL,
        )
    if brought.direction == "cross":
        yield _asking(len(brought.patterns))


def _no_lift(brought: Brought, segment: Segment) -> str:
    if not brought.named:
        return "it is all there is"
    if segment.end == 1:
        return "its only token is the first key, the sink"
    return f"every head gives the first key more than {thresholds.SINK} of its attention there"


def _asking(layers: int) -> d.LookSegment:
    """The text of the queries, which no query looks at."""
    nothing = (0.0,) * layers
    return d.LookSegment(
        name=QUERIES,
        kind="template",
        letter="T",
        start=0,
        end=0,
        share=0.0,
        share_by_layer=nothing,
        mean_share=0.0,
        mean_share_by_layer=nothing,
        lift=None,
        lift_reason="it has no keys",
        lift_by_layer=(None,) * layers,
        value_share=None,
        value_share_reason=NO_MODEL,
    )


def _decision(brought: Brought) -> d.Decision:
    shares = np.zeros(len(brought.keys))
    heads = sum(len(row.pattern) for row in brought.decision)
    for row in brought.decision:
        shares[row.places] += row.pattern.sum(axis=0)
    return d.Decision(
        position=brought.query,
        position_reason=NO_DECISION if brought.query is None else None,
        next=(),
        by_token=tuple(map(short, shares / heads)),
        value_by_token=(),
        value_by_token_reason=NO_MODEL,
    )


def _heads(brought: Brought, heads: Heads) -> Iterator[d.HeadLook]:
    unknown = dict.fromkeys(("induction", "induction_control", "duplicate", "score_sd", "value_sink"))
    shares = np.concatenate(budget_of(brought.decision, brought.segments).shares)
    shares = np.pad(shares, ((0, 0), (0, brought.direction == "cross")))  # no share of the queries' own text
    sinks = np.concatenate([row.pattern[:, row.places == 0].sum(axis=1) for row in brought.decision])
    for number, row in enumerate(heads.table.rows()):
        decided: dict[str, object] = {"decision_sink": float(sinks[number]) if brought.query is not None else None}
        values = {"induction_text": None, "duplicate_text": None, **row, **unknown, **decided}
        key = row["stripe_key"]
        yield d.HeadLook.model_validate(
            values
            | {f"{name}_reason": _why_null(name, brought) for name, value in values.items() if value is None}
            | {
                "layer": int(row["layer"] or 0),
                "head": int(row["head"] or 0),
                "stripe_key": None if key is None else int(key),
                "classes": heads.classes[number],
                "secondary_sinks": tuple(d.SecondarySink(key=k, share=share) for k, share in heads.secondary[number]),
                "decision_segments": () if brought.query is None else tuple(map(short, shares[number])),
                "decision_segments_reason": NO_DECISION if brought.query is None else None,
                "value_segments": (),
                "value_segments_reason": NO_MODEL,
            }
        )


def _why_null(name: str, brought: Brought) -> str:
    if name in ("induction", "induction_control", "duplicate", "score_sd", "value_sink"):
        return NO_MODEL
    if name == "decision_sink":
        return NO_DECISION
    if brought.direction == "cross":
        return _NO_DISTANCE
    match name:
        case "next":
            return "no query looks ahead"
        case "stripe" | "stripe_key":
            return "the text has fewer than 10 tokens"
        case _:
            return "no query sees two keys"


def _layers(brought: Brought) -> Iterator[d.LayerLook]:
    for layer, pattern in enumerate(brought.patterns):
        yield d.LayerLook(
            layer=layer,
            heads=len(pattern),
            score_sd_least=None,
            score_sd_least_reason=NO_MODEL,
            score_sd_median=None,
            score_sd_median_reason=NO_MODEL,
            score_sd_most=None,
            score_sd_most_reason=NO_MODEL,
            units=None,
            units_reason=NO_MODEL,
            dead_units=None,
            dead_units_reason=NO_MODEL,
        )
