"""The whole decoder, then the real one: what the smallest decoder knows of its prompt, and six changes to Llama.

Shown takes five runs of text A with something wrong and one prompt of five ids: 10 s.
"""

from dataclasses import replace

import numpy as np

from whybox.engine.rewired import Rewire
from whybox.learn.course.chapters.l09_llama import CAPITAL, REAL
from whybox.learn.course.computed import Computations, Rows
from whybox.learn.figures import ON_MODEL, TOYS, OnModel, OnModels
from whybox.learn.figures.figure import Value
from whybox.learn.ground import Ground
from whybox.parts.position import sinusoid
from whybox.sites import BY_NAME
from whybox.testing import faults
from whybox.testing.faults import Fault

Array = np.ndarray
STAGES = (
    "embed", "attn_in", "query", "query_pos", "key_pos", "value", "pattern", "head_out", "attn_out", "mlp_hidden",
    "resid_post", "logits",
)  # fmt: skip
SAME = 0.005
"""Nats below which no text shows a difference."""


def _added(value: Array, before: object) -> Array:
    return np.asarray(value + sinusoid(*value.shape).astype(value.dtype))


SINUSOID = Fault("", "", faults.NO_ROPE.changed, rewires=(Rewire("embed", _added),))
TWO_BLOCKS = Fault("", "", lambda spec, weights: (replace(spec, layers=spec.layers[:2]), weights))


def _paris(ground: Ground) -> Value:
    """The likeliest next token's probability after the five ids."""
    return ground.model.run(CAPITAL).next(1)[0][1]


OF_MODEL: OnModels = {
    "l09.sinusoid": OnModel(lambda ground: ground.text_a.with_fault(SINUSOID)),
    "l09.two_blocks": OnModel(lambda ground: ground.text_a.with_fault(TWO_BLOCKS)),
    "l09.other_eps": OnModel(lambda ground: ground.text_a.with_fault(faults.eps(1e-6))),
    "l09.paris": OnModel(_paris, runs=0),
}
CHANGES = (
    ("rope", "sinusoid → RoPE", "l09.sinusoid"),
    ("gqa", "MHA → GQA (0 0 0 1 1 1 2 2 2)", "faults.tiled_heads"),
    ("cache", "— → KV cache", "faults.none"),
    ("eps", "ε 1e-6 → 1e-5", "l09.other_eps"),
    ("head", "tied → tied", "faults.none"),
    ("sizes", "2 blocks → 30", "l09.two_blocks"),
)
"""Each change, from the smallest decoder to SmolLM2, and the figure of text A when this one alone is left out."""


def _nll(name: str, ground: Ground) -> float:
    value = {**ON_MODEL, **OF_MODEL}[name].compute(ground)
    assert isinstance(value, float)
    return value


def _changes(ground: Ground) -> Rows:
    return tuple((what, _nll(figure, ground)) for _, what, figure in CHANGES)


def _silent(ground: Ground) -> tuple[str, ...]:
    """The changes that no text shows."""
    sound = _nll("faults.none", ground)
    return tuple(change for change, _, figure in CHANGES if abs(_nll(figure, ground) - sound) < SAME)


def _stages(ground: Ground) -> Rows:
    """By stage of the first layer: site, axes, shape, rms of the last position."""
    trace = ground.model.run(CAPITAL, see=[(site, 0) if BY_NAME[site].per_layer else site for site in STAGES[:-1]])
    rows = []
    for site in STAGES:
        value = trace.logits if site == "logits" else trace[(site, 0) if BY_NAME[site].per_layer else site]
        last = value[:, -1] if site == "pattern" else value[-1]
        rows.append((site, BY_NAME[site].axes, " × ".join(map(str, value.shape)), float(np.sqrt(np.mean(last**2)))))
    return tuple(rows)


LINES = (
    ("self.input_layernorm(hidden_states)", "attn_in"),
    ("self.q_proj(…).view(bsz, q_len, 32, 128).transpose(1, 2)", "query"),
    ("self.k_proj(…).view(bsz, q_len, 8, 128).transpose(1, 2)", "key"),
    ("self.v_proj(…).view(bsz, q_len, 8, 128).transpose(1, 2)", "value"),
    ("apply_rotary_pos_emb(query_states, key_states, cos, sin)", "query_pos, key_pos"),
    ("torch.cat([past_key_value[0], key_states], dim=2)", "key_pos (cache)"),
    ("repeat_kv(key_states, 4)", "—"),
    ("torch.matmul(query_states, key_states.transpose(2, 3)) / math.sqrt(128)", "scores"),
    ("attn_weights + attention_mask", "—"),
    ("F.softmax(attn_weights, dim=-1, dtype=torch.float32)", "pattern"),
    ("torch.matmul(attn_weights, value_states).transpose(1, 2)", "head_out"),
    ("self.o_proj(attn_output)", "attn_out"),
)


def _always(ground: Ground) -> tuple[str, ...]:
    """Whether the smallest decoder's next token depends on the prompt at all."""
    always = TOYS["decoder.always"]()
    assert isinstance(always, tuple)
    return ("never",) if always == (300, 256) else ("often",)


COMPUTED = Computations(
    on_model=OF_MODEL,
    tables={"changes": _changes, "stages": _stages, "lines": lambda ground: LINES},
    answers={
        "always": _always,
        "silent": _silent,
        "sites": lambda ground: (
            "attn_in", "query", "value", "key_pos", "scores", "pattern", "head_out", "attn_out", "mlp_hidden", "logits",
        ),
    },
    tasks={"llama": REAL},
)  # fmt: skip
