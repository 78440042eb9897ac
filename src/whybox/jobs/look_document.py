"""One prompt, looked at, as the machine document of `look`. Nothing is measured here."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whybox.jobs.look_views import counted, judged_mean, maps, over_heads, shared_fields, short
from whybox.jobs.next import candidates
from whybox.jobs.provenance import model_info, versions
from whybox.jobs.tokens import shown_tokens
from whybox.measure import thresholds
from whybox.measure.budget import Budget
from whybox.measure.heads import Heads, decision_budget, value_budget
from whybox.measure.looking import Looked
from whybox.measure.probe import Probed
from whybox.report import document as d
from whybox.text.prompt import Prompt, Segment

_CAUSAL = "a query sees no token behind it"
_EARLY = "the text has fewer than 10 tokens"


@dataclass(frozen=True)
class Told:
    """What the caller knows and the report repeats."""

    title: str
    evidence: tuple[str, ...]
    seed: int
    lang: d.Lang
    command: str
    took_s: float


@dataclass(frozen=True, eq=False)
class Found:
    """All that was measured."""

    looked: Looked
    probed: Probed | str
    heads: Heads
    diagnoses: tuple[d.Diagnosis, ...]
    not_said: tuple[d.NotSaid, ...]
    dilution: d.Dilution | str
    opened: tuple[d.Opened, ...]


def document(found: Found, told: Told) -> d.LookDocument:
    """The whole document."""
    looked = found.looked
    prompt, spec = looked.prompt, looked.spec
    labels = [token.label for token in prompt.tokens]
    at_decision, by_value = decision_budget(looked), value_budget(looked)
    probed = found.probed if isinstance(found.probed, Probed) else None
    dilution = found.dilution if isinstance(found.dilution, d.Dilution) else None
    return d.LookDocument(
        schema=d.LookDocument.identity(),
        lang=told.lang,
        model=model_info(looked.model).model_copy(update={"kernel": looked.kernel}),
        seed=told.seed,
        took_s=told.took_s,
        title=told.title,
        text=prompt.text,
        tokens=tuple(_tokens(prompt)),
        direction="causal",
        short_text=len(prompt) < thresholds.SHORT_TEXT,
        beyond_training=len(prompt) > spec.context,
        segments=tuple(_segments(looked, at_decision, by_value)),
        evidence=told.evidence,
        decision=_decision(looked),
        heads=tuple(_heads(found, at_decision, by_value)),
        layers=tuple(_layers(found)),
        classes=tuple(counted(found.heads.classes)),
        probe=None if probed is None else d.Probe(tokens=probed.length, draws=probed.draws, seed=probed.seed),
        probe_reason=found.probed if isinstance(found.probed, str) else None,
        diagnoses=found.diagnoses,
        not_said=found.not_said,
        dilution=dilution,
        dilution_reason=found.dilution if isinstance(found.dilution, str) else None,
        maps=maps(looked.attention, (labels, labels), True, _windows(looked)),
        opened=found.opened,
        notes=tuple(_notes(looked)),
        command=told.command,
        versions=versions(),
    )


def _tokens(prompt: Prompt) -> Iterator[d.PromptToken]:
    owner = {place: i for i, segment in enumerate(prompt.segments) for place in range(segment.start, segment.end)}
    return shown_tokens(prompt, owner)


def _segments(looked: Looked, budget: Budget, by_value: Budget) -> Iterator[d.LookSegment]:
    values = by_value.mean()
    for segment, shared in shared_fields(looked.prompt.segments, budget, looked.attention):
        lift = budget.mean_lift(segment.name)
        yield d.LookSegment(
            **shared,
            lift=lift,
            lift_reason=None if lift is not None else _no_lift(segment),
            lift_by_layer=tuple(budget.lift_by_layer(segment.name)),
            value_share=values[segment.name],
        )
    if any(layer.attention.sinks for layer in looked.spec.layers):
        yield _learned_sink(looked)


def _learned_sink(looked: Looked) -> d.LookSegment:
    """What learned sinks take, as a segment without tokens, so that shares of a row sum to 1."""
    taken = [row.sink_mass for row in looked.decision]
    mean = [judged_mean(rows, rows.sink_mass) for rows in looked.attention]
    named = {segment.name for segment in looked.prompt.segments}
    return d.LookSegment(
        name="sink" if "sink" not in named else "learned sink",
        kind="sink",
        letter="S",
        start=0,
        end=0,
        share=over_heads(taken),
        share_by_layer=tuple(float(layer.mean()) for layer in taken),
        mean_share=over_heads(mean),
        mean_share_by_layer=tuple(float(layer.mean()) for layer in mean),
        lift=None,
        lift_reason="it has no tokens",
        lift_by_layer=(None,) * len(taken),
        value_share=0.0,
    )


def _no_lift(segment: Segment) -> str:
    if segment.start == segment.end:
        return "it has no tokens"
    if segment.end == 1:
        return "its only token is the first key, the sink"
    return f"every head gives the sink more than {thresholds.SINK} of its attention at the decision"


def _decision(looked: Looked) -> d.Decision:
    row = len(looked.prompt) - 1
    weights, writes = np.zeros(row + 1), np.zeros(row + 1)
    heads = sum(len(layer.pattern) for layer in looked.decision)
    for layer in looked.decision:
        weights[layer.places] += layer.pattern.sum(axis=0)
        writes[layer.places] += layer.value_shares.sum(axis=0)
    log_probs = looked.logits.astype(np.float64) - np.logaddexp.reduce(looked.logits.astype(np.float64))
    return d.Decision(
        position=row,
        next=candidates(looked.model, log_probs, 5),
        by_token=tuple(map(short, weights / heads)),
        value_by_token=tuple(map(short, writes / heads)),
    )


def _heads(found: Found, budget: Budget, by_value: Budget) -> Iterator[d.HeadLook]:
    shares, writes = np.concatenate(budget.shares), np.concatenate(by_value.shares)
    table = found.heads.table.rows()
    for number, row in enumerate(table):
        statistics = {name: value for name, value in row.items() if name not in ("layer", "head", "anchor_tokens")}
        values: dict[str, object] = {**statistics, "next": None}
        reasons = {f"{name}_reason": _why_null(name, found) for name, value in values.items() if value is None}
        key = row["stripe_key"]
        yield d.HeadLook.model_validate(
            values
            | reasons
            | {
                "layer": int(row["layer"] or 0),
                "head": int(row["head"] or 0),
                "anchor_tokens": row["anchor_tokens"],
                "stripe_key": None if key is None else int(key),
                "classes": found.heads.classes[number],
                "secondary_sinks": tuple(
                    d.SecondarySink(key=place, share=share) for place, share in found.heads.secondary[number]
                ),
                "decision_segments": tuple(map(short, shares[number])),
                "value_segments": tuple(map(short, writes[number])),
            }
        )


def _why_null(name: str, found: Found) -> str:
    match name:
        case "next":
            return _CAUSAL
        case "induction" | "induction_control" | "duplicate":
            return found.probed if isinstance(found.probed, str) else ""
        case "stripe" | "stripe_key":
            return _EARLY
        case _:
            return "no query sees two keys"


def _layers(found: Found) -> Iterator[d.LayerLook]:
    for index, (layer, rows) in enumerate(zip(found.looked.spec.layers, found.looked.attention, strict=True)):
        sd, silence = rows.score_sd, found.looked.silence[index]
        assert sd is not None, "scores were asked for"
        yield d.LayerLook(
            layer=index,
            heads=layer.attention.heads,
            window=layer.attention.window,
            score_sd_least=float(sd.min()),
            score_sd_median=float(np.median(sd)),
            score_sd_most=float(sd.max()),
            units=silence.units,
            dead_units=silence.dead,
        )


def _windows(looked: Looked) -> dict[int, int]:
    windows = ((index, layer.attention.window) for index, layer in enumerate(looked.spec.layers))
    return {index: window for index, window in windows if window is not None}


def _notes(looked: Looked) -> Iterator[str]:
    yield from looked.spec.notes
    yield from map(str, looked.prompt.warnings)
    if len(looked.prompt) > looked.spec.context:
        yield f"{len(looked.prompt)} tokens: beyond the {looked.spec.context} of the trained context"
