"""RoPE's frequencies: how far a pair of dimensions turns per position, in every variant that files ask for.

Width is the head's, never the model's, and may be smaller than the head (partial rotary). Frequencies that depend on
the length of the run (dynamic NTK, LongRoPE) are chosen once, from its total length.
"""

from typing import assert_never

import numpy as np
from jaxtyping import Float

from whybox.errors import UsageError
from whybox.spec import DividedRope, LinearRope, Llama3Rope, LongRope, NtkRope, PlainRope, Rope, YarnRope


def frequencies(rope: Rope, length: int) -> Float[np.ndarray, "p"]:
    """Radians per position for each of the width/2 pairs, fastest first (float64). length: the run's total tokens."""
    match rope:
        case PlainRope():
            return _plain(rope.base, rope.width)
        case LinearRope(plain, factor):
            return frequencies(plain, length) / factor
        case NtkRope():
            return _dynamic_ntk(rope, length)
        case Llama3Rope():
            return _llama3(rope)
        case YarnRope():
            return _yarn(rope)
        case LongRope(plain, short, long, original):
            return _divided(plain, short if length <= original else long)
        case DividedRope(plain, divisors):
            return _divided(plain, divisors)
        case _:
            assert_never(rope)


def magnitude(rope: Rope) -> float:
    """What multiplies cos and sin; scores are multiplied by its square."""
    match rope:
        case YarnRope() | LongRope():
            return rope.magnitude
        case PlainRope() | LinearRope() | NtkRope() | Llama3Rope() | DividedRope():
            return 1.0
        case _:
            assert_never(rope)


def plain_of(rope: Rope) -> PlainRope:
    """Base, width and pairing that every variant starts from."""
    return rope if isinstance(rope, PlainRope) else rope.plain


def wavelengths(rope: Rope, length: int) -> Float[np.ndarray, "p"]:
    """Positions per full turn of each pair: 2π / frequency."""
    return 2 * np.pi / frequencies(rope, length)


def yarn_magnitude(
    factor: float,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
) -> tuple[float, str]:
    """The magnitude that a YaRN config means, and the rule by which it was found: the field is not unanimous.

    An explicit attention_factor is final. Both coefficients: (0.1·mscale·ln f + 1) / (0.1·mscale_all_dim·ln f + 1).
    Otherwise 0.1·ln f + 1, and 1 for a factor up to 1. Source: arXiv 2309.00071 and the configs of DeepSeek-V2.
    """
    if attention_factor is not None:
        return attention_factor, "attention_factor, as given"
    if mscale and mscale_all_dim:
        return _mscale(factor, mscale) / _mscale(factor, mscale_all_dim), "mscale over mscale_all_dim"
    if mscale or mscale_all_dim:
        return _mscale(factor, 1.0), "0.1·ln(factor) + 1; one of mscale and mscale_all_dim alone is not used"
    return _mscale(factor, 1.0), "0.1·ln(factor) + 1"


def longrope_magnitude(context: int, original: int, attention_factor: float | None = None) -> tuple[float, str]:
    """LongRoPE's magnitude and its rule: as given, else √(1 + ln f / ln original) with f = context / original."""
    if attention_factor is not None:
        return attention_factor, "attention_factor, as given"
    if context <= original:
        return 1.0, "1, since the context is not extended"
    extension = np.log(context / original) / np.log(original)
    return float(np.sqrt(1 + extension)), "√(1 + ln(context/original) / ln(original))"


def _mscale(factor: float, coefficient: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * coefficient * float(np.log(factor)) + 1.0


def _plain(base: float, width: int) -> Float[np.ndarray, "p"]:
    """base^(−2i/width)."""
    if width < 2 or width % 2:
        raise UsageError(f"expected an even rotary width of at least 2, found {width}")
    return float(base) ** (-np.arange(0, width, 2) / width)


def _divided(plain: PlainRope, divisors: tuple[float, ...]) -> Float[np.ndarray, "p"]:
    if len(divisors) != plain.width // 2:
        raise UsageError(f"expected width/2 = {plain.width // 2} divisors, found {len(divisors)}")
    return _plain(plain.base, plain.width) / np.asarray(divisors, np.float64)


def _dynamic_ntk(rope: NtkRope, length: int) -> Float[np.ndarray, "p"]:
    """A larger base once the run is longer than the training: slow pairs are stretched, fast ones kept."""
    width, stretch = rope.plain.width, max(length, rope.original) / rope.original
    grown = rope.factor * stretch - rope.factor + 1
    return _plain(rope.plain.base * grown ** (width / (width - 2)), width)


def _llama3(rope: Llama3Rope) -> Float[np.ndarray, "p"]:
    """Pairs by their turns within the original context: below `low` divided, above `high` kept, between blended."""
    plain = _plain(rope.plain.base, rope.plain.width)
    turns = rope.original * plain / (2 * np.pi)
    kept = np.clip((turns - rope.low) / (rope.high - rope.low), 0, 1)
    return plain * (kept + (1 - kept) / rope.factor)


def _yarn(rope: YarnRope) -> Float[np.ndarray, "p"]:
    """As Llama 3, but the blend is linear in the pair's index, from beta_fast turns to beta_slow turns."""
    plain, width = _plain(rope.plain.base, rope.plain.width), rope.plain.width
    first, last = (_pair_of_turns(rope, turns) for turns in (rope.beta_fast, rope.beta_slow))
    if rope.truncate:
        first, last = np.floor(first), np.ceil(last)
    first, last = max(first, 0), min(last, width - 1)
    span = last - first or 0.001  # a ramp of no width would divide by zero
    interpolated = np.clip((np.arange(width // 2) - first) / span, 0, 1)
    return plain * (1 - interpolated + interpolated / rope.factor)


def _pair_of_turns(rope: YarnRope, turns: float) -> float:
    """The (fractional) pair that makes so many turns within the original context."""
    return float(rope.plain.width * np.log(rope.original / (turns * 2 * np.pi)) / (2 * np.log(rope.plain.base)))
