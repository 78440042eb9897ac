"""Faults of our own list, planted in sound models: what another program with that fault would have recorded."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bench.mutations.row import Planted, Row
from bench.mutations.subjects import DRAWN, ids_for, model_of
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text, lines
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sides import Live
from whybox.spec import Activation, Llama3Rope, Moe, Spec, YarnRope
from whybox.testing import faults
from whybox.testing.faults import Fault

ROWS = 16
"""Of logits, where the vocabulary is large."""
SITES = "every site"
STREAM = "hidden states and logits"
LOGITS = "logits alone"
STEPPED = "every site, the last 8 tokens behind a cache"


def general(spec: Spec) -> Iterator[Fault]:
    """Every fault that a description can have, with numbers that stand in no list of suspects among them."""
    f, first = faults, spec.layers[0].attention
    yield from (fault for fault in f.FAULTS.values() if fault.cached is None)
    yield from (f.eps(1e-6), f.eps(2.3e-4))
    yield from (f.score_scale_times(0.5), f.score_scale(first.scale * 1.37))
    yield from (f.embed_scale(5.3), f.logit_scale(0.4), f.score_cap(20.0), f.logit_cap(30.0))
    yield from (f.activation(form) for form in Activation)
    yield from (f.softmax_in("bf16"), f.softmax_in("fp16"), f.norm_out_in("bf16"), f.norm_before_gain_in("bf16"))
    if first.rope is not None:
        yield from (f.theta(1e6), f.theta(2.7e4), f.all_positions_divided(4), f.all_positions_divided(3.1))
        yield from (f.rope_width(first.head_width), f.rope_width(first.head_width // 4 * 2))
        yield f.rope_scaled("Llama 3.1", lambda plain: Llama3Rope(plain, 8.0, 1.0, 4.0, 8192))
    if isinstance(first.rope, YarnRope):
        yield f.yarn_magnitude(1.0)
    if spec.positions is not None:
        yield f.table_offset(1)
    if any(layer.attention.window is not None for layer in spec.layers):
        yield from (f.window(1), f.window(-1))
    if len({layer.attention.window is None for layer in spec.layers}) == 2 and first.rope is not None:
        yield from (f.local_theta(1e6), f.global_theta(1e4), f.positions_divided(8))
    if any(isinstance(layer.mlp, Moe) for layer in spec.layers):
        yield from (f.active_experts(1), f.active_experts(3))


PAIRS: tuple[tuple[Fault, Fault], ...] = (
    (faults.eps(1e-6), faults.theta(1e6)),
    (faults.ROPE_PAIRING, faults.theta(5e5)),
    (faults.KV_HEADS_TILED, faults.softmax_in("bf16")),
    (faults.MASK_AFTER_SOFTMAX, faults.FINAL_NORM_MISSING),
    (faults.GAIN_TWICE, faults.GATE_UP_EXCHANGED),
    (faults.NO_SCORE_SCALE, faults.activation(Activation.RELU)),
    (faults.NO_QKV_BIAS, faults.NO_ROPE),
    (faults.NO_WINDOW, faults.NO_CAP),
    (faults.embed_scale(5.3), faults.logit_scale(0.4)),
    (faults.NO_ALIBI, faults.NO_EMBED_NORM),
    (faults.table_offset(1), faults.NO_OUT_BIAS),
)


def tiny_rows() -> Iterator[Row]:
    """Single faults and pairs in every tiny model."""
    for name in DRAWN:
        seen_by = (SITES, LOGITS) if name in ("llama", "gemma2") else (SITES,)
        for fault in _distinct(general(model_of(name).spec)):
            yield from (single(name, fault, seen) for seen in seen_by)
        yield from (pair(name, two) for two in PAIRS)
        yield from (
            single(name, fault, STEPPED) for fault in (faults.CACHE_SLOT, faults.CACHE_POSITION, faults.MASK_BY_INDEX)
        )


def _distinct(found: Iterator[Fault]) -> list[Fault]:
    return list({fault.what: fault for fault in found}.values())


SMOLLM2: tuple[Fault, ...] = (
    faults.ROPE_ROWS, faults.ROPE_ROWS_OF_KEYS, faults.ROPE_PAIRING, faults.theta(1e4), faults.theta(2.7e4),
    faults.all_positions_divided(4), faults.NO_ROPE, faults.rope_width(32), faults.eps(1e-6), faults.NO_SCORE_SCALE,
    faults.score_scale_times(1.37), faults.score_cap(20.0), faults.KV_HEADS_TILED, faults.MASK_AFTER_SOFTMAX,
    faults.NO_MASK, faults.softmax_in("bf16"), faults.norm_out_in("bf16"), faults.norm_before_gain_in("bf16"),
    faults.FINAL_GAIN_ONE, faults.FINAL_NORM_MISSING, faults.MLP_NORM_MISSING, faults.GAIN_TWICE, faults.NORM_KIND,
    faults.activation(Activation.GELU_TANH), faults.GATE_UP_EXCHANGED, faults.embed_scale(5.3), faults.logit_cap(30.0),
)  # fmt: skip
GEMMA: tuple[Fault, ...] = (
    faults.GAIN_TWICE, faults.GAIN_NEVER, faults.ERF_GELU, faults.embed_scale(25.25), faults.EMBEDDING_UNSCALED,
    faults.score_scale(160**-0.5), faults.NO_QK_NORM, faults.local_theta(1e6), faults.positions_divided(8),
)  # fmt: skip
GEMMA_LONG = (faults.window(1), faults.window(-1), faults.NO_WINDOW)
SILENT = {
    ("smollm2", faults.ROPE_ROWS.what), ("smollm2", faults.theta(1e4).what), ("smollm2", faults.eps(1e-6).what),
    ("gemma3-270m", faults.window(1).what), ("gemma3-270m", faults.window(-1).what),
    ("gemma3-270m", faults.ERF_GELU.what), ("gemma3-270m", faults.embed_scale(25.25).what),
    ("gemma3-270m", faults.score_scale(160**-0.5).what),
}  # fmt: skip
"""Those that leave the most probable token, and so the answer's text, as it is."""


def real_rows() -> Iterator[Row]:
    """In the two real models."""
    yield from (single("smollm2", fault, SITES) for fault in SMOLLM2)
    yield from (single("smollm2", fault, STREAM) for fault in (faults.theta(1e4), faults.eps(1e-6), faults.ROPE_ROWS))
    yield from (single("smollm2", fault, LOGITS) for fault in (faults.theta(1e4), faults.KV_HEADS_TILED))
    yield from (single("smollm2", fault, STEPPED) for fault in (faults.CACHE_SLOT, faults.CACHE_POSITION))
    yield from (pair("smollm2", two) for two in PAIRS[:4])
    yield from (single("gemma3-270m", fault, SITES) for fault in GEMMA)
    yield from (single("gemma3-270m", fault, SITES, 530) for fault in GEMMA_LONG)
    yield single("gemma3-270m", faults.MASK_BY_INDEX, STEPPED, 530)


def single(name: str, fault: Fault, seen: str, length: int = 0) -> Row:
    """One fault."""
    silent = (name, fault.what) in SILENT
    planted = Planted(fault.what, (fault.name,), fault.why, silent=silent)
    return Row(name, "single", planted, seen, partial(compared, name, fault, seen, length), fault)


def pair(name: str, two: Sequence[Fault]) -> Row:
    """Two at once."""
    both = faults.together(two)
    planted = Planted(both.what, tuple(each.name for each in two), "Each is named where it is made.")
    return Row(name, "pair", planted, SITES, partial(compared_pair, name, tuple(two)), both)


def compared_pair(name: str, two: Sequence[Fault]) -> Comparison | None:
    """None where one of the two changes nothing beside the other."""
    if any(np.array_equal(*_logits(name, one, two)) for one in two):
        return None
    return compared(name, faults.together(two), SITES)


def _logits(name: str, one: Fault, two: Sequence[Fault]) -> tuple[np.ndarray, np.ndarray]:
    model, ids = model_of(name), ids_of(name)
    engines = (fault.engine_for(model.spec, model.weights) for fault in (one, faults.together(two)))
    first, second = (engine.run(ids, tail=ROWS).logits for engine in engines)
    return first, second


def compared(name: str, fault: Fault, seen: str, length: int = 0) -> Comparison | None:
    """The sound model against what a faulty one shows. None where the fault changes no logit of this model."""
    model, ids = model_of(name), ids_of(name, length)
    side = Live("theirs", fault.of(model), stepped=fault.cached is not None)
    rows = len(ids) if name in DRAWN else ROWS
    shown = side.observe(ids, rows)
    sound = Live("sound", faults.NO_FAULT.of(model), side.stepped).observe(ids, rows)
    if shown.logits is not None and sound.logits is not None and np.array_equal(shown.logits, sound.logits):
        return None
    return against(name, reduced(shown, seen))


def ids_of(name: str, length: int = 0) -> tuple[int, ...]:
    """What is fed: random tokens of a tiny model, prose of a real one."""
    if name in DRAWN:
        return ids_for(name)
    return tuple(model_of(name).prompt(lines(60)).ids)[: length or 24]


def reduced(shown: Observation, seen: str) -> Observation:
    """As much of it as the row lets `diff` see."""
    kept = {STREAM: ("embed", "resid_post", "logits"), LOGITS: ("logits",)}.get(seen)
    if kept is None:
        return shown
    return replace(shown, sites={key: value for key, value in shown.sites.items() if key[0] in kept})


def against(name: str, shown: Observation, text: str | None = None) -> Comparison:
    """The sound model against a recording."""
    recorded = Recorded("theirs.npz", (Recording(shown, text=text),))
    return compare(Live(name, model_of(name)), recorded, Asked(written=0))


def live(name: str, other: Live, length: int = 0) -> Comparison:
    """The sound model against another that can be run."""
    text = Text("ids", ids_of(name, length), None)
    return compare(Live(name, model_of(name)), other, Asked((text,), 0))
