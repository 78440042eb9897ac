"""The same model served another way: by a name behind that of the target, `smollm2 [tiled]`.

Nothing is built before it is asked, and what was built is given back when its calls are made.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from whybox.engine.choice import resolve
from whybox.model import Model
from whybox.probes.merged_heads import merged_heads
from whybox.targets.bots.process import BotTarget
from whybox.targets.local import LocalTarget
from whybox.targets.openai import OpenAITarget
from whybox.targets.target import Target

CHUNK, ROWS = 16, 4  # other than any default
ENGINES = ("torch", "numpy")
_NAMED = re.compile(r"(?P<target>.+) \[(?P<way>[a-z0-9-]+)\]")

Rebuilt = Callable[[Model], Model]
TORCH: dict[str, Rebuilt] = {
    "plain": lambda model: model.variant(kernel="plain"),
    "tiled": lambda model: model.variant(kernel="tiled"),
    "sdpa": lambda model: model.variant(kernel="sdpa"),
    "chunk": lambda model: model.variant(chunk=CHUNK),
    "batch": lambda model: model.variant(batch=ROWS),
    "no-cache": lambda model: model.variant(cache=False),
    "numpy": lambda model: model.on_reference(),
    "bf16": lambda model: model.variant(precision="bf16"),
    "fp16": lambda model: model.variant(precision="fp16"),
    "int8": lambda model: model.variant(precision="int8"),
    "int4": lambda model: model.variant(precision="int4"),
    "merged-heads": merged_heads,
}
NUMPY: dict[str, Rebuilt] = {
    "no-cache": TORCH["no-cache"],
    "fp64": lambda model: model.variant(precision="fp64"),
    "torch": lambda model: model.variant(engine="torch"),
    "merged-heads": merged_heads,
}
USUAL = ("plain", "tiled", "sdpa", "chunk", "batch", "no-cache", "alone", "stream")
"""Ways that ought to change nothing, and are compared where none are named. Other precisions are wished for by name."""
ALL_WAYS = tuple(dict.fromkeys((*TORCH, *NUMPY, "alone", "stream")))


def name_of(target: str, way: str) -> str:
    """How calls name a target that is run another way."""
    return f"{target} [{way}]"


def ways_of(target: Target) -> tuple[str, ...]:
    """The ways in which a target can be run besides its own.

    alone: one call at a time. stream: the answer piece by piece, or whole where it came in pieces.
    """
    match target:
        case LocalTarget(model=model) if model.engine.name == "numpy":
            return tuple(way for way in NUMPY if way != "torch" or resolve("auto") == "torch")
        case LocalTarget():
            return tuple(TORCH)
        case OpenAITarget():
            return ("alone", "stream")
        case BotTarget():
            return ("alone",)
        case _:
            return ()


def variant_of(name: str, targets: Mapping[str, Target]) -> Target:
    """The target of `name_of`, built."""
    found = _NAMED.fullmatch(name)
    assert found is not None, f"calls name targets of the suite, not {name!r}"
    target, way = targets[found["target"]], found["way"]
    match target:
        case LocalTarget(model=model):
            table = NUMPY if model.engine.name == "numpy" else TORCH
            return LocalTarget(table[way](model), target.batch)
        case OpenAITarget(endpoint=end) if way == "stream":
            return OpenAITarget(replace(end, stream=not end.stream))
        case OpenAITarget(endpoint=end):
            return OpenAITarget(replace(end, concurrency=1))
        case BotTarget():
            return BotTarget(target.bot, target.bank, target.seed, target.latency, target.patience, 1)
        case _:
            raise AssertionError(f"{name!r} has no other way")
