"""Which engine runs a model, and how: chosen once, from what is asked for and what is installed."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal

import numpy as np

from whybox import weights as ledger
from whybox.engine import machine
from whybox.engine.memory import held, require_room, weights_bytes
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Engine
from whybox.engine.wishes import whole
from whybox.errors import UsageError
from whybox.formats import WeightFile
from whybox.spec import Spec
from whybox.weights import Rule, Streamed, Weights

NUMPY_PRECISIONS: dict[str, type[np.floating]] = {"fp32": np.float32, "fp64": np.float64}
TORCH_PRECISIONS = ("fp32", "fp64", "bf16", "fp16", "int8", "int4")
KERNELS = ("auto", "sdpa", "tiled", "plain")


@dataclass(frozen=True)
class Way:
    """A way to run weights. What is None is the engine's own choice.

    engine: auto (torch where it is installed, else numpy) | numpy | torch. kernel: how attention is computed.
    chunk: most tokens that go through the layers at once. batch: a prompt is one of so many rows, of unlike lengths.
    padding: a prompt is padded by so many rows, beside one that is longer. weights: auto | held | streamed.
    """

    engine: str = "auto"
    precision: str = "fp32"
    device: str = "auto"
    kernel: str | None = None
    chunk: int | None = None
    batch: int = 1
    weights: str = "auto"
    padding: int = 0


NUMPY = Way("numpy")
REFERENCE_BYTES = 2 << 30
"""Of weights in float32: beyond, the reference is too slow to be asked along the way."""
HELD_SHARE = 0.5
"""Weights are held when they take no more than this share of the memory that is left: a run needs the rest."""


def resolve(engine: str) -> Literal["numpy", "torch"]:
    """The engine that a name stands for. UsageError for an unknown name, or torch where it is not installed."""
    match engine:
        case "numpy":
            return "numpy"
        case "auto":
            return "torch" if _has_torch() else "numpy"
        case "torch" if _has_torch():
            return "torch"
        case "torch":
            raise UsageError("engine 'torch' needs torch, which is not installed", "pip install 'whybox[torch]'")
        case _:
            raise UsageError(f"engine {engine!r} is not available", "available: auto, numpy, torch")


def _has_torch() -> bool:
    """Whether torch can be found; a finder that hides it may raise instead of finding nothing."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


def has_reference(spec: Spec, way: Way, most_bytes: float = REFERENCE_BYTES) -> bool:
    """Whether weights run otherwise than the reference runs them, and are small enough for it."""
    return replace(way, engine=resolve(way.engine)) != NUMPY and weights_bytes(spec, 32) <= most_bytes


@dataclass(frozen=True)
class Built:
    """An engine and the role arrays that go with it: views of what the engine holds, where that saves memory."""

    engine: Engine
    weights: Weights


def require_possible(way: Way) -> None:
    """UsageError names what the engine cannot do, and what it can; to be asked before anything is loaded."""
    _among(way.weights, ("auto", "held", "streamed"), "weights")
    if resolve(way.engine) == "torch":
        _among(way.precision, TORCH_PRECISIONS, "precision")
        _among(way.kernel or "auto", KERNELS, "kernel")
        whole("chunk", 1 if way.chunk is None else way.chunk, 1)
        whole("batch", way.batch, 1)
        whole("padding", way.padding, 0)
        return _require_device(way)
    _among(way.precision, tuple(NUMPY_PRECISIONS), "precision", "with numpy; torch knows bf16 and int8 as well")
    _among(way.kernel or "plain", ("auto", "plain"), "kernel", "with numpy; torch knows sdpa and tiled as well")
    _among(way.device, ("auto", "cpu"), "device", "with numpy")
    if way.chunk is not None or way.batch != 1 or way.padding:
        raise UsageError("the numpy engine runs one prompt, in one piece", "torch knows chunks, batches and padding")
    return None


def source(file: WeightFile, spec: Spec, rules: tuple[Rule, ...], way: Way) -> Weights:
    """Weights in float32, held or streamed; float64 is made from them, so that both are there for a while.

    An engine that packs them in a lower precision holds them already: those in float32 are decoded where they are asked
    for, unless they are to be held.
    """
    needed, left = weights_bytes(spec, 32 + 64 if way.precision == "fp64" else 32), machine.available()
    elsewhere = way.precision not in NUMPY_PRECISIONS or not _leaves_room(needed, left)
    if way.weights == "streamed" or (way.weights == "auto" and elsewhere):
        return ledger.stream(file, spec, rules)
    way_out = 'have them decoded as they are used: weights="streamed"'
    require_room(held("weights", needed, way_out), left, "the model")
    return ledger.load(file, spec, rules)


def _leaves_room(needed: int, left: int | None) -> bool:
    return left is None or needed <= HELD_SHARE * left


def build(spec: Spec, weights: Weights, way: Way) -> Built:
    """An engine that runs the weights in that way."""
    require_possible(way)
    if resolve(way.engine) == "torch":
        return _fast(spec, weights, way)
    needed = weights_bytes(spec, 64 if way.precision == "fp64" else 32)
    if isinstance(weights, Streamed) and way.weights == "auto" and _leaves_room(needed, machine.available()):
        weights = weights.held()
    return Built(ReferenceEngine(spec, ledger.in_precision(weights, NUMPY_PRECISIONS[way.precision])), weights)


def _require_device(way: Way) -> None:
    from whybox.engine import fast

    fast.require_precision(fast.Precision(way.precision), fast.device(way.device))


def _fast(spec: Spec, weights: Weights, way: Way) -> Built:
    """Streamed weights are packed once where they fit in this precision, else layer by layer in every pass."""
    from whybox.engine import fast

    precision = fast.Precision(way.precision)
    fits = way.weights != "streamed" and _leaves_room(weights_bytes(spec, precision.bits), machine.available())
    pack = fast.pack if fits or not isinstance(weights, Streamed) else fast.pack_streamed
    packed = pack(spec, weights, precision, fast.device(way.device))
    kernel, chunk = fast.Kernel(way.kernel or "auto"), way.chunk or fast.CHUNK
    engine = fast.FastEngine(packed, kernel, chunk, way.batch, weights.origin, way.padding)
    return Built(engine, fast.shared_views(packed, weights))


def _among(value: str, known: tuple[str, ...], what: str, whose: str = "") -> None:
    if value not in known:
        raise UsageError(f"{what} {value!r} is not available", f"available: {', '.join(known)} {whose}".rstrip())
