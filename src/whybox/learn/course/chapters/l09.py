"""The whole decoder, then the real one: what the smallest decoder knows of its prompt, and six changes to Llama.

Shown takes five runs of text A with something wrong and one prompt of five ids: 11 s.
"""

from dataclasses import replace

import numpy as np

from whybox.engine.rewired import Rewire
from whybox.learn.course.chapters.l09_llama import CAPITAL, REAL
from whybox.learn.course.computed import Cell, Computations, Rows
from whybox.learn.figures import ON_MODEL, TOYS, OnModel, OnModels
from whybox.learn.figures.faults import other_eps
from whybox.learn.figures.figure import Value
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said
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
    "l09.other_eps": OnModel(other_eps),
    "l09.paris": OnModel(_paris, runs=0),
}
CHANGES = (
    ("rope", Said(en="sinusoid → RoPE", zh="正弦编码 → RoPE"), "l09.sinusoid"),
    (
        "gqa",
        Said(en="one key a head → shared, 0 0 0 1 1 1 2 2 2", zh="每头一个 K → 共享，0 0 0 1 1 1 2 2 2"),
        "faults.tiled_heads",
    ),
    ("cache", Said(en="everything anew → a cache", zh="全部重算 → 缓存"), "faults.none"),
    ("eps", Said(en="ε 1e-6 → 1e-5", zh="ε 1e-6 → 1e-5"), "l09.other_eps"),
    ("head", Said(en="tied head → as the file says (tied)", zh="共享输出头 → 按文件（也是共享）"), "faults.none"),
    ("sizes", Said(en="2 blocks → 30", zh="2 块 → 30 块"), "l09.two_blocks"),
)
"""Each change, from the smallest decoder to SmolLM2, and the figure of text A when this one alone is left out."""


def _nll(name: str, ground: Ground) -> float:
    value = ground.once({**ON_MODEL, **OF_MODEL}[name].compute)
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


def _line(code: str, site: str, en: str = "", zh: str = "") -> tuple[Cell, ...]:
    return (code, site, Said(en=en, zh=zh) if en else "")


LINES = (
    _line("self.input_layernorm(hidden_states)", "attn_in", "before the attention, in the layer", "在层里，注意力之前"),
    _line("self.q_proj(…).view(bsz, q_len, 32, 128).transpose(1, 2)", "query"),
    _line("self.k_proj(…).view(bsz, q_len, 8, 128).transpose(1, 2)", "key"),
    _line("self.v_proj(…).view(bsz, q_len, 8, 128).transpose(1, 2)", "value", "never turned", "从不旋转"),
    _line(
        "apply_rotary_pos_emb(query_states, key_states, cos, sin)",
        "query_pos, key_pos",
        "cos, sin: undefined here",
        "这里的 cos、sin 未定义",
    ),
    _line(
        "torch.cat([past_key_value[0], key_states], dim=2)",
        "key_pos",
        "what the cache holds; an object today",
        "缓存里的内容；如今是一个对象",
    ),
    _line("repeat_kv(key_states, 4)", "—", "no copy is needed", "不必复制"),
    _line("torch.matmul(query_states, key_states.transpose(2, 3)) / math.sqrt(128)", "scores"),
    _line("attn_weights + attention_mask", "—", "fails for a mask of None", "mask 为 None 时出错"),
    _line(
        "F.softmax(attn_weights, dim=-1, dtype=torch.float32)",
        "pattern",
        "guards precision, not NaN",
        "保精度，防不了 NaN",
    ),
    _line(
        "torch.matmul(attn_weights, value_states).transpose(1, 2)",
        "head_out",
        "reshape copies by itself",
        "reshape 会自己复制",
    ),
    _line("self.o_proj(attn_output)", "attn_out", "h · d → c, which need not be equal", "h · d → c，两者不必相等"),
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
