"""Grading a decoder that writes token by token: equal logits, each key made once, an old cache left as it was."""

from dataclasses import replace

import numpy as np

from whybox.learn.course.chapters import mini
from whybox.learn.course.chapters.l09_llama import EPS_OF_MINI, Llama, logits
from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Remark, Task
from whybox.learn.ground import Ground
from whybox.parts.position import sinusoid

Array = np.ndarray
SIZES = mini.Sizes(width=22, heads=2, kv_heads=2, head_width=11, mlp_width=17, vocab=71, blocks=3)
TOKENS, KEPT = 7, 3
"""Tokens fed one by one; after so many the cache is looked at, and another continuation begins there."""


def draw(rng: np.random.Generator, ground: Ground) -> Arrays:
    """A small decoder, a prompt, and another token for the continuation."""
    ids = rng.integers(0, SIZES.vocab, TOKENS)
    other = (ids[KEPT] + 1 + rng.integers(0, SIZES.vocab - 1)) % SIZES.vocab
    return {**mini.named("model", mini.draw(rng, SIZES)), "ids": ids, "other": np.array(other)}


DRIVE = (
    mini.MODEL_OF
    + f"""
KEPT = {KEPT}
"""
    + """
class Counted(np.ndarray):
    \"\"\"A matrix that counts the rows which it is multiplied with.\"\"\"

    rows, wide = None, 1

    def __array_finalize__(self, parent):
        self.rows, self.wide = getattr(parent, "rows", None), getattr(parent, "wide", 1)

    def counted(self, made, counts):
        if counts and self.rows is not None:
            self.rows[0] += np.size(made) // self.wide
        return made

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **settings):
        made = getattr(ufunc, method)(*map(bare, inputs), **settings)
        return self.counted(made, ufunc is np.matmul)

    def __array_function__(self, func, types, args, settings):
        made = func(*map(bare, args), **settings)
        return self.counted(made, func in (np.dot, np.einsum, np.tensordot, np.inner))


def bare(x):
    return x.view(np.ndarray) if isinstance(x, Counted) else x


def counting(matrix):
    counted = matrix.view(Counted)
    counted.rows, counted.wide = [0], len(matrix)
    return counted


def arrays(cache):
    if isinstance(cache, np.ndarray):
        return [cache]
    inside = cache.values() if isinstance(cache, dict) else cache if isinstance(cache, (list, tuple)) else []
    return [array for each in inside for array in arrays(each)]


def drive(code, inputs):
    model = model_of(inputs, "model")
    for block in model["blocks"]:
        block["key"] = counting(block["key"])
    cache, rows = code.start(model), []
    for place, token in enumerate(inputs["ids"]):
        if place == KEPT:
            old, before = cache, [array.copy() for array in arrays(cache)]
        row, cache = code.step(int(token), cache, model)
        rows.append(np.asarray(row, float).reshape(-1))
    made = np.array([block["key"].rows[0] for block in model["blocks"]])
    after = arrays(old)
    kept = len(before) == len(after) and all(np.array_equal(a, b) for a, b in zip(before, after))
    branch, _ = code.step(int(inputs["other"]), old, model)
    return {
        "logits": np.array(rows), "made": made, "kept": np.array(kept), "held": np.array(len(before)),
        "branch": np.asarray(branch, float).reshape(-1),
    }
"""
)
ALL_AT_0: Both = (
    "every token was placed at position 0: a token's place is the number of tokens before it",
    "每个 token 都放在了位置 0：一个 token 的位置等于它前面的 token 数",
)
ONE_TOO_FAR: Both = (
    "every token stands one position too far: the first one has position 0",
    "每个 token 都多走了一位：第一个 token 的位置是 0",
)
ALONE: Both = (
    "a token saw only itself: the cached keys and values were not read",
    "token 只看见了自己：缓存里的 K 和 V 没有被读取",
)


def judge(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    ids, arrays = inputs["ids"], mini.of(inputs, "model")
    right = _decoder(arrays)
    other = np.array([*ids[:KEPT], int(inputs["other"])])
    came, made = outputs["logits"], outputs["made"].tolist()
    far = replace(right, enter=lambda x: x + sinusoid(len(x) + 1, x.shape[1])[1:])
    still = replace(right, enter=lambda x: x + sinusoid(1, x.shape[1]))
    return (
        unlike(ALL_AT_0, came, logits(still, ids)),
        unlike(ONE_TOO_FAR, came, logits(far, ids)),
        unlike(ALONE, came, np.stack([_alone(right, token, place) for place, token in enumerate(ids.tolist())])),
        equal((f"{TOKENS} tokens, one by one", f"{TOKENS} 个 token 逐个送入"), came, logits(right, ids)),
        found(
            ("keys made in each block", "每个块里算过的 K"),
            max(made) <= TOKENS,
            (f"{TOKENS}, one for each token", f"为 {TOKENS} 个，每个 token 一个"),
            (str(made), str(made)),
        ),
        found(
            ("what the cache holds", "缓存里存着"),
            int(outputs["held"]) > 0,
            ("arrays in tuples, lists or dicts", "为放在元组、列表或字典里的数组"),
            ("none", "没有数组"),
        ),
        found(
            (f"the cache after {KEPT} tokens, when more had been fed", f"{KEPT} 个 token 时的缓存，在继续送入之后"),
            bool(outputs["kept"]),
            ("it unchanged: a step makes a new cache", "保持原样：每一步产生新的缓存"),
            ("other numbers in it", "里面的数变了"),
        ),
        equal(
            ("the old cache continued with another token", "旧缓存接着另一个 token 继续"),
            outputs["branch"],
            logits(right, other)[-1],
        ),
    )


def _decoder(arrays: Arrays) -> Llama:
    """The mini decoder as the Llama that it half is."""
    heads = np.arange(int(arrays["heads"]))
    return Llama(arrays, lambda x: x + sinusoid(*x.shape), _as_is, heads, EPS_OF_MINI, arrays["embedding"])


def _as_is(x: Array) -> Array:
    return x


def _alone(right: Llama, token: int, place: int) -> Array:
    here = replace(right, enter=lambda x: x + sinusoid(place + 1, x.shape[1])[-1:])
    return np.asarray(logits(here, np.array([token]))[0])


CACHED = Task(("start", "step"), draw, DRIVE, judge)
