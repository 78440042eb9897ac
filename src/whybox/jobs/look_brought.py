"""Attention of another library as the document of `look`: what there is without the model that made it."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from whybox.jobs.look_payload import MOST_BYTES, packed
from whybox.jobs.look_views import clearest, counted, maps, short
from whybox.jobs.provenance import versions
from whybox.measure import thresholds
from whybox.measure.brought import Brought
from whybox.measure.heads import secondary_sinks
from whybox.report import document as d

NO_MODEL = "arrays were brought, not the model that made them"
_NO_DISTANCE = "queries and keys are two texts: there are no distances between them"

_NOBODY = d.ModelInfo(
    name="arrays", family="brought", digest="", engine="another library", precision="as given", kernel="as given"
)


def look_at_brought(brought: Brought, title: str = "", lang: d.Lang = "en") -> d.LookDocument:
    """The document of arrays: table, classes and maps. No model means no probe, no values, no next token."""
    began = time.monotonic()
    classes = brought.classes()
    texts = (brought.tokens, brought.keys) if brought.direction == "cross" else (brought.tokens, ())
    return d.LookDocument(
        schema=d.LookDocument.identity(),
        lang=lang,
        model=d.ModelInfo(
            name="arrays",
            family="brought",
            digest="",
            engine="another library",
            precision="as given",
            kernel="as given",
        ),
        seed=0,
        took_s=time.monotonic() - began,
        title=title,
        text=" ".join(brought.tokens),
        tokens=tuple(_tokens(texts[0])),
        key_tokens=tuple(_tokens(texts[1])),
        direction=brought.direction,
        short_text=len(brought.tokens) < thresholds.SHORT_TEXT,
        beyond_training=False,
        segments=(_everything(brought),),
        decision=_decision(brought),
        heads=tuple(_heads(brought, classes)),
        layers=tuple(_layers(brought)),
        classes=tuple(counted(classes)),
        probe=None,
        probe_reason=NO_MODEL,
        diagnoses=(),
        dilution=None,
        dilution_reason=NO_MODEL,
        maps=maps(brought.attention, (brought.tokens, brought.keys), brought.causal, {}),
        opened=tuple(_opened(brought, classes)),
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


def _opened(brought: Brought, classes: Sequence[tuple[str, ...]]) -> Iterator[d.Opened]:
    room = MOST_BYTES // (4 * len(brought.tokens) * len(brought.keys))
    for (layer, head), why in list(clearest(brought.heads(), classes).items())[: max(room, 1)]:
        yield d.Opened(layer=layer, head=head, why=why)


def _tokens(labels: Sequence[str]) -> Iterator[d.PromptToken]:
    """Labels are all that is known of a token; those that are alike get one number."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    place = 0
    for label in labels:
        span = (place, place + len(label))
        yield d.PromptToken(
            id=numbers[label], text=label, bytes=label.encode().hex(), part=1, of=1, span=span, segment=0
        )
        place += len(label) + 1


def _everything(brought: Brought) -> d.LookSegment:
    ones = (1.0,) * len(brought.patterns)
    return d.LookSegment(
        name="tokens",
        kind="part",
        letter="A",
        start=0,
        end=len(brought.keys),
        share=1.0,
        share_by_layer=ones,
        mean_share=1.0,
        mean_share_by_layer=ones,
        lift=None,
        lift_reason="it is all there is",
        lift_by_layer=(None,) * len(ones),
        value_share=None,
        value_share_reason=NO_MODEL,
    )


def _decision(brought: Brought) -> d.Decision:
    mean: Float[np.ndarray, "k"] = np.concatenate([pattern[:, -1] for pattern in brought.patterns]).mean(axis=0)
    return d.Decision(
        position=len(brought.tokens) - 1,
        next=(),
        by_token=tuple(map(short, mean)),
        value_by_token=(),
        value_by_token_reason=NO_MODEL,
    )


def _heads(brought: Brought, classes: Sequence[tuple[str, ...]]) -> Iterator[d.HeadLook]:
    sinks = [found for rows in brought.attention for found in secondary_sinks(rows)]
    unknown = dict.fromkeys(("induction", "induction_control", "duplicate", "score_sd", "value_sink"))
    for number, row in enumerate(brought.heads().rows()):
        values = {"induction_text": None, "duplicate_text": None, **row, **unknown}
        layer, head = int(row["layer"] or 0), int(row["head"] or 0)
        key = row["stripe_key"]
        yield d.HeadLook.model_validate(
            values
            | {f"{name}_reason": _why_null(name, brought) for name, value in values.items() if value is None}
            | {
                "layer": layer,
                "head": head,
                "stripe_key": None if key is None else int(key),
                "classes": classes[number],
                "secondary_sinks": tuple(d.SecondarySink(key=place, share=share) for place, share in sinks[number]),
                "decision_sink": float(brought.patterns[layer][head, -1, 0]),
                "decision_segments": (1.0,),
                "value_segments": (),
                "value_segments_reason": NO_MODEL,
            }
        )


def _why_null(name: str, brought: Brought) -> str:
    if name in ("induction", "induction_control", "duplicate", "score_sd", "value_sink"):
        return NO_MODEL
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
