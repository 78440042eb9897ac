"""Arithmetic intensity, and the least time that a machine's bandwidth and FLOP rate allow (the roofline).

Read in one pass: the weights that its tokens need, once for the whole batch; the cache of every request, a shared
beginning once. Left out: activations, launches, communication. No engine can be faster than
max(FLOPs / rate, bytes / bandwidth).
"""

from dataclasses import dataclass
from typing import Literal

from whybox.size import cache, work
from whybox.size.figure import Figure, Unit, divided, spelled
from whybox.size.load import Load, Machine
from whybox.size.outline import Outline
from whybox.size.parameters import read_at_a_step, total

Phase = Literal["decode", "prefill"]


@dataclass(frozen=True)
class Pass:
    """One step of a batch. nbytes: read, or for a prompt's cache written."""

    phase: Phase
    flops: int
    nbytes: float
    requests: int

    @property
    def intensity(self) -> Figure:
        return divided(f"intensity.{self.phase}", "FLOP/byte", "FLOPs / bytes of one step", self.flops, self.nbytes)


def one_pass(of: Outline, load: Load, weights: int, phase: Phase) -> Pass:
    """weights: bytes of all of them. decode: one token of each request. prefill: the prompts of all."""
    tokens = load.batch * (load.context if phase == "prefill" else 1)
    read = weights * read_at_a_step(of, tokens) / total(of).value
    return Pass(phase, _flops(of, load, phase), read + cache.of_batch(of, load).value, load.batch)


def _flops(of: Outline, load: Load, phase: Phase) -> int:
    """Of all requests; what they begin with is read once."""
    if phase == "decode":
        return load.batch * int(work.decode(of, load).value)
    return load.batch * int(work.prefill(of, load).value) - (load.batch - 1) * work.without_head(of, load.shared)


def of_attention(of: Outline, load: Load) -> Figure:
    """Decode, attention alone: FLOPs a byte of cache. At 16 bit h / g; no batch makes it better."""
    kept = cache.per_request(of, load).value
    return divided(
        "intensity.attention", "FLOP/byte", "attention(n) / cache of one request", work.attention(of, load).value, kept
    )


def ridge(machine: Machine) -> Figure | None:
    """Intensity from which on the FLOP rate limits."""
    if machine.flops is None or machine.bandwidth is None:
        return None
    return divided("roofline.ridge", "FLOP/byte", "FLOP rate / bandwidth", machine.flops, machine.bandwidth)


@dataclass(frozen=True)
class Time:
    """limit: what the step waits for."""

    seconds: Figure
    rate: Figure
    limit: Literal["memory", "compute"]


def time(one: Pass, machine: Machine) -> Time | None:
    """None where bandwidth or FLOP rate is not told. rate: tokens that the whole batch writes, or requests read."""
    if machine.flops is None or machine.bandwidth is None:
        return None
    computing, moving = one.flops / machine.flops, one.nbytes / machine.bandwidth
    path, formula = f"roofline.{one.phase}", "max(FLOPs / rate, bytes / bandwidth)"
    both = (one.flops, machine.flops), (one.nbytes, machine.bandwidth)
    numbers = f"max({', '.join(f'{spelled(top)} / {spelled(bottom)}' for top, bottom in both)})"
    seconds = Figure(f"{path}.seconds", max(computing, moving), "s", formula, numbers)
    unit: Unit = "requests/s" if one.phase == "prefill" else "tokens/s"
    rate = divided(f"{path}.per_second", unit, "batch / time", one.requests, seconds.value)
    return Time(seconds, rate, "compute" if computing >= moving else "memory")
