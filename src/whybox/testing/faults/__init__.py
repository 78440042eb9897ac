"""Faults that real inference code shipped, one at a time, around the reference engine.

Where a fault is another description or other weights it is data: a `Spec` or `Weights` with something replaced. Where
it is another arithmetic it is a `Rewire`, or an engine of its own. The same data plants a fault in a sound model and
undoes it in a faulty one. `FAULTS` names those without parameters.
"""

from whybox.testing.faults.caches import CACHE_POSITION, CACHE_SLOT, MASK_BY_INDEX
from whybox.testing.faults.ends import (
    EMBEDDING_UNSCALED,
    HEAD_TIED,
    NO_EMBED_NORM,
    corrupt,
    embed_scale,
    logit_cap,
    logit_scale,
)
from whybox.testing.faults.fault import NO_FAULT, Fault, together
from whybox.testing.faults.mlps import (
    ERF_GELU,
    EXPERTS_NORMALISED,
    EXPERTS_NOT_NORMALISED,
    GATE_UP_EXCHANGED,
    NO_MLP_BIAS,
    NO_OUT_BIAS,
    NO_QKV_BIAS,
    activation,
    active_experts,
)
from whybox.testing.faults.norms import (
    ATTENTION_NORM_MISSING,
    FINAL_GAIN_ONE,
    FINAL_NORM_MISSING,
    GAIN_NEVER,
    GAIN_TWICE,
    MLP_NORM_MISSING,
    NO_QK_NORM,
    NORM_KIND,
    eps,
    norm_before_gain_in,
    norm_out_in,
)
from whybox.testing.faults.positions import (
    NO_ROPE,
    NO_ROPE_SCALING,
    ROPE_PAIRING,
    ROPE_ROWS,
    ROPE_ROWS_OF_KEYS,
    ROPE_ROWS_OF_QUERIES,
    all_positions_divided,
    global_theta,
    local_theta,
    positions_divided,
    rope_scaled,
    rope_width,
    table_offset,
    theta,
    yarn_magnitude,
)
from whybox.testing.faults.scores import (
    KV_HEADS_TILED,
    MASK_AFTER_SOFTMAX,
    NO_ALIBI,
    NO_CAP,
    NO_MASK,
    NO_SCORE_SCALE,
    NO_SINKS,
    NO_WINDOW,
    WINDOW_OFF_BY_ONE,
    score_cap,
    score_scale,
    score_scale_times,
    softmax_in,
    window,
    window_everywhere,
)

__all__ = [
    "ATTENTION_NORM_MISSING", "CACHE_POSITION", "CACHE_SLOT", "EMBEDDING_UNSCALED", "ERF_GELU",
    "EXPERTS_NORMALISED", "EXPERTS_NOT_NORMALISED", "FAULTS", "FINAL_GAIN_ONE", "FINAL_NORM_MISSING", "GAIN_NEVER",
    "GAIN_TWICE", "GATE_UP_EXCHANGED", "HEAD_TIED", "KV_HEADS_TILED", "MASK_AFTER_SOFTMAX", "MASK_BY_INDEX",
    "MLP_NORM_MISSING", "NORM_KIND", "NO_ALIBI", "NO_CAP", "NO_EMBED_NORM", "NO_FAULT", "NO_MASK", "NO_MLP_BIAS",
    "NO_OUT_BIAS", "NO_QKV_BIAS", "NO_QK_NORM", "NO_ROPE", "NO_ROPE_SCALING", "NO_SCORE_SCALE", "NO_SINKS",
    "NO_WINDOW", "ROPE_PAIRING", "ROPE_ROWS", "ROPE_ROWS_OF_KEYS", "ROPE_ROWS_OF_QUERIES", "WINDOW_OFF_BY_ONE",
    "Fault", "activation", "active_experts", "all_positions_divided", "corrupt", "embed_scale", "eps",
    "global_theta", "local_theta", "logit_cap", "logit_scale", "norm_before_gain_in", "norm_out_in",
    "positions_divided", "rope_scaled", "rope_width", "score_cap", "score_scale", "score_scale_times", "softmax_in",
    "table_offset", "theta", "together", "window", "window_everywhere", "yarn_magnitude",
]  # fmt: skip

FAULTS = {
    fault.name: fault
    for fault in (
        MASK_AFTER_SOFTMAX, NO_SCORE_SCALE, CACHE_SLOT, WINDOW_OFF_BY_ONE, NO_WINDOW, KV_HEADS_TILED, ROPE_ROWS,
        ROPE_ROWS_OF_KEYS, FINAL_GAIN_ONE, GAIN_TWICE, GAIN_NEVER, EMBEDDING_UNSCALED, ERF_GELU, CACHE_POSITION,
        NO_CAP, NO_SINKS, NO_ALIBI, NO_MASK, ROPE_PAIRING, NO_ROPE, NO_ROPE_SCALING, ROPE_ROWS_OF_QUERIES,
        FINAL_NORM_MISSING, ATTENTION_NORM_MISSING, MLP_NORM_MISSING, NORM_KIND, NO_QK_NORM, GATE_UP_EXCHANGED,
        NO_QKV_BIAS, NO_OUT_BIAS, NO_MLP_BIAS, NO_EMBED_NORM, HEAD_TIED, MASK_BY_INDEX,
    )
}  # fmt: skip
