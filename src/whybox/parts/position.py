"""Where order comes from: a code added to the embedding, a rotation of query and key, or a penalty on distance.

Positions are data that come in, never an index counted here.
"""

from typing import assert_never

import numpy as np
from jaxtyping import Complex, Float, Int

from whybox.errors import PromptError, UsageError
from whybox.parts.rope import frequencies, magnitude
from whybox.spec import Pairing, Rope


def sinusoid(n: int, c: int) -> Float[np.ndarray, "q c"]:
    """PE(p, 2i) = sin(p / 10000^(2i/c)), PE(p, 2i+1) = cos(…), positions 0 … n − 1. Added, not concatenated.

    Raises UsageError for an odd c. Source: arXiv 1706.03762.
    """
    return sinusoid_at(np.arange(n), c)


def sinusoid_at(positions: Int[np.ndarray, "q"], c: int) -> Float[np.ndarray, "q c"]:
    """The sinusoid at any positions: it has no last one."""
    angles = positions[:, None] * _sinusoid_frequencies(c)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), c)


def sinusoid_shift(k: int, c: int) -> Float[np.ndarray, "c c"]:
    """M_k with PE(p + k) = M_k · PE(p) for every p: one rotation per pair, the same at all positions."""
    shift = np.zeros((c, c))
    for pair, angle in enumerate(k * _sinusoid_frequencies(c)):
        cos, sin = np.cos(angle), np.sin(angle)
        shift[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cos, sin], [-sin, cos]]
    return shift


def learned(
    positions: Int[np.ndarray, "q"], table: Float[np.ndarray, "rows c"], offset: int = 0
) -> Float[np.ndarray, "q c"]:
    """Row p + offset of a trained table: beyond its last row there is no code at all.

    Raises PromptError for such a position.
    """
    count = len(table) - offset
    if len(positions) and not 0 <= positions.min() <= positions.max() < count:
        raise PromptError(
            f"expected positions 0 … {count - 1} (learned table), found {positions.min()} … {positions.max()}",
            "shorten the prompt: this model has no code for later positions",
        )
    return table[positions + offset]


def rope_angles(
    rope: Rope, positions: Int[np.ndarray, "q"], length: int
) -> tuple[Float[np.ndarray, "q p"], Float[np.ndarray, "q p"]]:
    """cos and sin of position · frequency, times the magnitude; p = width/2 pairs, float64.

    length: tokens of the whole run, prompt and continuation, so that its frequencies never change midway.
    """
    angles = positions[:, None] * frequencies(rope, length)
    return np.cos(angles) * magnitude(rope), np.sin(angles) * magnitude(rope)


def rotate(
    x: Float[np.ndarray, "q h d"], cos: Float[np.ndarray, "q p"], sin: Float[np.ndarray, "q p"], pairing: Pairing
) -> Float[np.ndarray, "q h d"]:
    """(a cos − b sin, a sin + b cos) for each pair (a, b) of the first 2p dimensions; the rest pass unturned.

    Rotated query at m times rotated key at n depends on n − m only. Source: arXiv 2104.09864.
    """
    out = x.copy()
    first, second = _pairs(cos.shape[-1], pairing, x.shape[-1])
    cos, sin = (part[:, None, :].astype(x.dtype, copy=False) for part in (cos, sin))
    a, b = x[..., first], x[..., second]
    out[..., first] = a * cos - b * sin
    out[..., second] = a * sin + b * cos
    return out


def rotate_complex(
    x: Float[np.ndarray, "q h d"], cos: Float[np.ndarray, "q p"], sin: Float[np.ndarray, "q p"], pairing: Pairing
) -> Float[np.ndarray, "q h d"]:
    """The same turn, as it is meant: z · e^{iθ} with z = a + ib."""
    out = x.copy()
    first, second = _pairs(cos.shape[-1], pairing, x.shape[-1])
    turn: Complex[np.ndarray, "q 1 p"] = (cos + 1j * sin)[:, None, :]
    turned = (x[..., first] + 1j * x[..., second]) * turn
    out[..., first], out[..., second] = turned.real, turned.imag
    return out


def half_from_interleaved(width: int) -> Int[np.ndarray, "d"]:
    """The order P with half(x[P]) = interleaved(x)[P]: even dimensions first, then the odd ones."""
    return np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])


def alibi_slopes(heads: int) -> Float[np.ndarray, "h"]:
    """2^(−8i/h), i = 1 … h, for a power of two; else those of the power below, then every other one of the power above.

    Source: arXiv 2108.12409 and its code.
    """
    if heads < 1:
        raise UsageError(f"expected at least 1 head, found {heads}")
    below = 1 << (heads.bit_length() - 1)
    return np.concatenate([_geometric(below), _geometric(2 * below)[0::2]])[:heads]


def alibi_bias(
    slopes: Float[np.ndarray, "h"], query_pos: Int[np.ndarray, "q"], key_pos: Int[np.ndarray, "k"]
) -> Float[np.ndarray, "h q k"]:
    """−slope · |query position − key position|, added to the scores."""
    distance = np.abs(query_pos[:, None] - key_pos[None, :]).astype(slopes.dtype)
    return -slopes[:, None, None] * distance


def _geometric(heads: int) -> Float[np.ndarray, "h"]:
    return np.exp2(-8 * np.arange(1, heads + 1) / heads)


def _sinusoid_frequencies(c: int) -> Float[np.ndarray, "p"]:
    if c < 2 or c % 2:
        raise UsageError(f"expected an even width (sine and cosine in pairs), found {c}")
    return 1 / 10000.0 ** (np.arange(0, c, 2) / c)


def _pairs(count: int, pairing: Pairing, width: int) -> tuple[slice, slice]:
    """Which dimensions hold the first and the second members of the pairs."""
    if 2 * count > width:
        raise UsageError(f"expected at most {width // 2} pairs in a head of width {width}, found {count}")
    match pairing:
        case Pairing.HALF:
            return slice(0, count), slice(count, 2 * count)
        case Pairing.INTERLEAVED:
            return slice(0, 2 * count, 2), slice(1, 2 * count, 2)
        case _:
            assert_never(pairing)
