"""The rest of the block: two norms, the gate, the highway.

Shown takes seven runs of text A with something wrong: 18 s.
"""

from collections.abc import Callable

import numpy as np

from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Computations, Remark, Rows, Task
from whybox.learn.figures import ON_MODEL, TOYS, OnModel, OnModels
from whybox.learn.figures.faults import other_eps
from whybox.learn.figures.figure import Toys, Value
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said
from whybox.parts.block import Sublayer, write
from whybox.parts.mlp import dense, gated, gelu_tanh, sigmoid, silu
from whybox.parts.norm import layer_norm, rms_norm
from whybox.spec import Activation, Layout
from whybox.testing import faults

Array = np.ndarray
PROMPT = "The capital of France is"
LAYERS = (0, 1, 2, 5, 10, 15, 20, 25, 28, 29)

FIGURES: Toys = {
    "l08.gated_width": lambda: float(int(2 / 3 * 4 * 512)),
    "l08.counts_of_smollm2": lambda: (float(2 * 576 * 4 * 576), float(3 * 576 * 1536)),
}


def _sum_of_writes(ground: Ground) -> Value:
    """embed + Σ attn_out + Σ mlp_out against the last residual stream: largest distance over the largest number."""
    layers = range(len(ground.model.spec.layers))
    trace = ground.model.run(PROMPT, see=["embed", "attn_out", "mlp_out", "resid_post"])
    total = trace["embed"] + sum(trace[site, layer] for site in ("attn_out", "mlp_out") for layer in layers)
    last = trace["resid_post", layers[-1]]
    return float(np.abs(total - last).max() / np.abs(last).max()), float(2 * len(layers))


def _with_activation(kind: Activation) -> OnModel:
    return OnModel(lambda ground: ground.text_a.with_fault(faults.activation(kind)))


OF_MODEL: OnModels = {
    "l08.relu": _with_activation(Activation.RELU),
    "l08.gelu": _with_activation(Activation.GELU_ERF),
    "l08.other_eps": OnModel(other_eps),
    "l08.sum_of_writes": OnModel(_sum_of_writes, runs=0),
}
HARM = {
    "eps": (Said(en="ε 1e-6 in place of 1e-5", zh="ε 取 1e-6 而不是 1e-5"), "l08.other_eps"),
    "mean": (Said(en="the mean subtracted as well", zh="归一化时也减去均值"), "faults.mean_subtracted"),
    "relu": (Said(en="ReLU in place of SiLU", zh="用 ReLU 代替 SiLU"), "l08.relu"),
    "post": (Said(en="post-norm", zh="Post-Norm"), "faults.post_norm"),
    "final": (Said(en="no norm before the head", zh="输出头之前没有归一化"), "faults.no_final_norm"),
}
BESIDE = (
    (Said(en="as it is", zh="原样"), "faults.none"),
    (Said(en="GELU in place of SiLU", zh="用 GELU 代替 SiLU"), "l08.gelu"),
    (Said(en="gate and value exchanged", zh="门和值互换"), "faults.gate_and_up"),
)


def _nll(name: str, ground: Ground) -> float:
    value = ground.once({**ON_MODEL, **OF_MODEL}[name].compute)
    assert isinstance(value, float)
    return value


def _harm(ground: Ground) -> Rows:
    """What is changed, and the NLL of text A, from least to most harm."""
    rows = [(what, _nll(name, ground)) for what, name in (*HARM.values(), *BESIDE)]
    return tuple(sorted(rows, key=lambda row: row[1]))


def _order(ground: Ground) -> tuple[str, ...]:
    """From least to most harm."""
    return tuple(sorted(HARM, key=lambda name: _nll(HARM[name][1], ground)))


def _writes(ground: Ground) -> Rows:
    """By layer, at the last of five ids: rms of the stream before it, of what attention and what the MLP add."""
    trace = ground.model.run(PROMPT, see=["resid_pre", "attn_out", "mlp_out", "resid_post"])
    sites = ("resid_pre", "attn_out", "mlp_out", "resid_post")
    return tuple((layer, *(float(np.sqrt(np.mean(trace[site, layer][-1] ** 2))) for site in sites)) for layer in LAYERS)


def _draw_norms(rng: np.random.Generator, ground: Ground) -> Arrays:
    x, small = 3 + 2 * rng.normal(size=(5, 7)), 1e-3 * rng.normal(size=(3, 11))
    return {
        "x": x, "gain": rng.normal(size=7), "bias": rng.normal(size=7),
        "small": small, "small_gain": rng.normal(size=11), "small_bias": rng.normal(size=11),
    }  # fmt: skip


DRIVE_NORMS = """
def drive(code, inputs):
    x, gain, bias = inputs["x"], inputs["gain"], inputs["bias"]
    small, more, less = inputs["small"], inputs["small_gain"], inputs["small_bias"]
    return {
        "layer": code.layer_norm(x, gain, bias, 1e-5), "rms": code.rms_norm(x, gain, 1e-6),
        "one": code.rms_norm(x[0], gain, 1e-6),
        "layer_small": code.layer_norm(small, more, less, 1e-5), "rms_small": code.rms_norm(small, more, 1e-5),
    }
"""
WRONG_AXIS: Both = ("the mean was taken over rows; a norm looks at one row alone", "均值跨行取了；归一化只看自己这一行")
UNBIASED: Both = ("the variance was divided by c − 1; the norm divides by c", "方差除以了 c − 1；这里应除以 c")
EPS_OUTSIDE: Both = ("ε was added behind the root; it stands inside", "ε 加在了开方之后；它应在根号里面")
CENTRED: Both = ("rms_norm subtracted the mean; it leaves it", "rms_norm 减了均值；它不减均值")


def _judge_norms(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    x, gain, bias = inputs["x"], inputs["gain"], inputs["bias"]
    small, more, less = inputs["small"], inputs["small_gain"], inputs["small_bias"]
    mean, centred = x.mean(axis=-1, keepdims=True), small - small.mean(axis=-1, keepdims=True)
    across = gain * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5) + bias
    wide = gain * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True, ddof=1) + 1e-5) + bias
    outside = more * small / (np.sqrt((small**2).mean(axis=-1, keepdims=True)) + 1e-5)
    outside_layer = more * centred / (centred.std(axis=-1, keepdims=True) + 1e-5) + less
    return (
        unlike(WRONG_AXIS, outputs["layer"], across),
        unlike(UNBIASED, outputs["layer"], wide),
        unlike(EPS_OUTSIDE, outputs["rms_small"], outside),
        unlike(EPS_OUTSIDE, outputs["layer_small"], outside_layer),
        unlike(CENTRED, outputs["rms"], layer_norm(x, gain, None, 1e-6)),
        equal(("layer_norm, 5 rows of 7", "layer_norm，5 行 7 列"), outputs["layer"], layer_norm(x, gain, bias, 1e-5)),
        equal(("rms_norm, 5 rows of 7", "rms_norm，5 行 7 列"), outputs["rms"], rms_norm(x, gain, 1e-6)),
        equal(("rms_norm of one row", "rms_norm，单独一行"), outputs["one"], rms_norm(x[0], gain, 1e-6)),
        equal(
            ("layer_norm of small rows, where ε counts", "layer_norm，数值很小、ε 起作用的行"),
            outputs["layer_small"],
            layer_norm(small, more, less, 1e-5),
        ),
        equal(
            ("rms_norm of small rows, where ε counts", "rms_norm，数值很小、ε 起作用的行"),
            outputs["rms_small"],
            rms_norm(small, more, 1e-5),
        ),
    )


def _draw_gates(rng: np.random.Generator, ground: Ground) -> Arrays:
    shapes = {"gate": (11, 7), "up": (11, 7), "down": (7, 11)}
    return {"x": rng.normal(size=(5, 7)), **{name: rng.normal(size=shape) for name, shape in shapes.items()}}


DRIVE_GATES = """
import numpy as np

def drive(code, inputs):
    given = [inputs[name] for name in ("x", "gate", "up", "down")]
    with np.errstate(all="ignore"):
        far = np.asarray(code.silu(np.array([-1000.0, 0.0, 1000.0])))
    return {"silu": far, **{name: getattr(code, name)(*given) for name in ("glu", "swiglu", "geglu")}}
"""
SWAPPED: Both = (
    "gate and value were exchanged: the activation belongs on x · gateᵀ",
    "门和值弄反了：激活函数应作用在 x · gateᵀ 上",
)
UNGATED: Both = ("the gate was not applied: only act(x · gateᵀ) went on", "没有相乘：只传下去了 act(x · gateᵀ)")
ACTIVATIONS = {"glu": sigmoid, "swiglu": silu, "geglu": gelu_tanh}


def _judge_gates(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    x, gate, up, down = (inputs[name] for name in ("x", "gate", "up", "down"))
    far = outputs["silu"]
    remarks = [
        found(
            ("silu of −1000, 0, 1000", "silu 作用于 −1000、0、1000"),
            far.shape == (3,) and bool(np.allclose(far, [0, 0, 1000])),
            ("0, 0 and 1000, nothing infinite or NaN", "为 0、0、1000，不出现无穷或 NaN"),
            (str(far.tolist()), str(far.tolist())),
        )
    ]
    for name, act in ACTIVATIONS.items():
        right = (act(x @ gate.T) * (x @ up.T)) @ down.T
        remarks += [
            unlike(SWAPPED, outputs[name], (act(x @ up.T) * (x @ gate.T)) @ down.T),
            unlike(UNGATED, outputs[name], act(x @ gate.T) @ down.T),
            equal((f"{name}, 5 rows of 7, f 11", f"{name}，5 行 7 列，f = 11"), outputs[name], right),
        ]
    swiglu = gated(x, gate, up, down, Activation.SILU)
    return (*remarks, equal(("swiglu against the part", "swiglu 与部件对照"), outputs["swiglu"], swiglu))


def _post_norm(ground: Ground) -> tuple[str, ...]:
    """Which of the formulas is the layout that parts call post."""
    rng = np.random.default_rng(0)
    x, matrix = rng.normal(size=(3, 7)), rng.normal(size=(7, 7))

    def norm(row: Array) -> Array:
        return layer_norm(row, np.ones(7), None, 1e-5)

    def attend(row: Array) -> Array:
        return np.asarray(row @ matrix)

    right = write(x, Sublayer(attend, after=norm), Layout.POST)[1]
    ways = {
        "printed": x + norm(attend(x)),
        "post": norm(x + attend(x)),
        "pre": x + attend(norm(x)),
        "inside": norm(x) + attend(norm(x)),
    }
    return tuple(name for name, way in ways.items() if np.allclose(way, right))


def _rows_form(ground: Ground) -> tuple[str, ...]:
    """Which of the formulas can be computed with W₁ [c f] and W₂ [f c] on rows, and is the MLP."""
    rng = np.random.default_rng(0)
    x, first, second = rng.normal(size=(3, 7)), rng.normal(size=(7, 11)), rng.normal(size=(11, 7))
    right = dense(x, first.T, second.T, Activation.RELU)
    ways: dict[str, Callable[[], Array]] = {
        "printed": lambda: second @ np.maximum(first @ x, 0),
        "rows": lambda: np.maximum(x @ first, 0) @ second,
        "reversed": lambda: np.maximum(x @ second, 0) @ first,
        "outside": lambda: np.maximum(x @ first @ second, 0),
    }
    return tuple(name for name, way in ways.items() if _is(way, right))


def _is(way: Callable[[], Array], right: Array) -> bool:
    try:
        return bool(np.allclose(way(), right))
    except ValueError:
        return False


def _depth(ground: Ground) -> tuple[str, ...]:
    """Of 80 layers without a highway: which power of ten the gradient is left with."""
    gradients = TOYS["mlp.depth"]()
    assert isinstance(gradients, tuple)
    return ("tiny",) if gradients[0] < 1e-12 else ("small",) if gradients[0] < 0.1 else ("one",)


COMPUTED = Computations(
    figures=FIGURES,
    on_model=OF_MODEL,
    tables={"harm": _harm, "writes": _writes},
    answers={"harm": _order, "depth": _depth, "post_norm": _post_norm, "rows_form": _rows_form},
    tasks={
        "norms": Task(("layer_norm", "rms_norm"), _draw_norms, DRIVE_NORMS, _judge_norms),
        "gates": Task(("silu", "glu", "swiglu", "geglu"), _draw_gates, DRIVE_GATES, _judge_gates),
    },
)
