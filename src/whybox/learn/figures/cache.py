"""Old keys and values, what they take, and what growing without them costs."""

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.learn.figures.position import blocks
from whybox.learn.figures.published import LLAMA_2_70B, SMOLLM2, UNGROUPED, outline
from whybox.parts.mask import visible
from whybox.size import cache, roofline, work
from whybox.size.load import Load

Array = np.ndarray
N = 7
SHORT, LONG = 4_096, 131_072


def _appended(causal: bool) -> Value:
    """Largest change of earlier outputs of two blocks when one token is appended."""
    x = np.random.default_rng(1).normal(size=(N, 13))
    seen = visible(np.arange(N), np.arange(N)) if causal else None
    run = blocks(2, seen)
    return float(np.abs(run(x)[:-1] - run(x[:-1])).max())


def _last_row_alone() -> Value:
    """What the last query reads, all keys before it among them: earlier keys that change its output when changed."""
    run, x = blocks(1, visible(np.arange(N), np.arange(N))), np.random.default_rng(1).normal(size=(N, 13))
    base = run(x)[-1]
    return float(sum(np.abs(run(_nudged(x, key))[-1] - base).max() > 1e-6 for key in range(N - 1)))


def _nudged(x: Array, key: int) -> Array:
    changed = x.copy()
    changed[key] += 1
    return changed


def _cubic_from() -> Value:
    """New tokens from which, without a cache, scores and mixes cost more than all matrices."""
    of = outline(SMOLLM2)
    each = int(work.matrices(of).value) - int(work.head(of).value)
    return float(next(n for n in _candidates() if _scores_anew(n) > each * (n * (n + 1) // 2)))


def _candidates() -> range:
    return range(1, 100_000)


def _scores_anew(n: int) -> int:
    """FLOPs of scores and mixes where every prefix of n tokens is read anew."""
    of = outline(SMOLLM2)
    a = of.blocks[0].attention
    pair = 2 * a.heads * 2 * 64
    return sum(count * pair * work.prefixes_of(block, n) for block, count in of.kinds.items())


def _bytes(name: str, context: int) -> float:
    return float(cache.per_request(outline(name), Load(context)).value)


def _growth_of_attention() -> Value:
    """From 4,096 to 131,072 tokens: length, and pairs of query and key without a mask."""
    length = LONG / SHORT
    return length, length**2


def _growth_of_prefill() -> Value:
    """The same of all FLOPs of reading SmolLM2's prompt."""
    long, short = (work.prefill(outline(SMOLLM2), Load(n)).value for n in (LONG, SHORT))
    return long / short


def _intensity(*names: str) -> Value:
    """FLOPs a byte of cache at 16 bit, decoding."""
    return tuple(float(roofline.of_attention(outline(name), Load(4096)).value) for name in names)


TOYS: Toys = {
    "cache.appended_causal": lambda: _appended(True),
    "cache.appended_bidirectional": lambda: _appended(False),
    "cache.keys_read": _last_row_alone,
    "cache.cubic_from": _cubic_from,
    "cache.without": lambda: tuple(
        float(work.without_cache(outline(SMOLLM2), Load(n)).value) for n in (100, 1_000, 4_000)
    ),
    "cache.smollm2": lambda: (float(cache.per_token(outline(SMOLLM2), Load(1)).value), _bytes(SMOLLM2, 8192)),
    "cache.llama_2_70b": lambda: _bytes(LLAMA_2_70B, 4096),
    "cache.llama_2_70b_gb": lambda: (_bytes(LLAMA_2_70B, 4096) / 1e9, _bytes(LLAMA_2_70B, 4096) / 2**30),
    "cache.llama_2_70b_ungrouped_gb": lambda: _bytes(UNGROUPED, 4096) / 1e9,
    "cache.llama_2_70b_token": lambda: float(cache.per_token(outline(LLAMA_2_70B), Load(1)).value),
    "cache.rows_copied": lambda: float(cache.rows_copied(Load(4096)).value),
    "cache.growth_of_attention": _growth_of_attention,
    "cache.growth_of_prefill": _growth_of_prefill,
    "cache.intensity": lambda: _intensity("Llama 2 7B", SMOLLM2, LLAMA_2_70B),
}
