"""Random ids twice in a row: which heads look behind the earlier copy of a token, and which at the copy itself.

Sources: induction heads arXiv 2209.11895; duplicate-token heads 2211.00593.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.model import Model
from whybox.statistics.marks import Behind
from whybox.statistics.rows import AttentionRows, AttentionWish

LENGTH = 50
DRAWS = 4
FIRST, LAST = 1_000, 39_999  # below lie bytes and control tokens, above the rare ones


@dataclass(frozen=True, eq=False)
class Probed:
    """By layer, for every head [h], means over the second half and all draws. length: ids of one half.

    induction: weight on the token behind the earlier copy, A[q, q − T + 1]; control: the same on ids that are not
    repeated. duplicate: on the copy, A[q, q − T]. previous: A[q, q − 1].
    """

    length: int
    draws: int
    seed: int
    induction: tuple[Float[np.ndarray, "_"], ...]
    control: tuple[Float[np.ndarray, "_"], ...]
    duplicate: tuple[Float[np.ndarray, "_"], ...]
    previous: tuple[Float[np.ndarray, "_"], ...]


def probe(model: Model, draws: int = DRAWS, seed: int = 0, length: int = LENGTH) -> Probed | str:
    """2 · draws short runs: BOS where there is one, then `length` random ids twice; or why there can be none."""
    usable = _usable(model)
    if len(usable) < 2 * length:
        return f"the vocabulary has {len(usable)} ordinary ids; the probe needs {2 * length}"
    if 2 * length + 1 > model.spec.context:
        return f"the trained context has {model.spec.context} tokens; the probe needs {2 * length + 1}"
    generator = np.random.default_rng(seed)
    repeated, unrepeated = [], []
    for _ in range(draws):
        ids = generator.choice(usable, 2 * length, replace=False)
        repeated.append(_read(model, np.concatenate([ids[:length], ids[:length]]), length))
        unrepeated.append(_read(model, ids, length))
    induction, duplicate, previous = (_mean([read[i] for read in repeated]) for i in range(3))
    return Probed(length, draws, seed, induction, _mean([read[0] for read in unrepeated]), duplicate, previous)


_Read = tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]


def _usable(model: Model) -> np.ndarray:
    ids = range(min(FIRST, model.spec.vocab // 10), min(LAST + 1, model.spec.vocab, model.tokenizer.vocab_size))
    return np.array([token for token in ids if not model.tokenizer.is_control(token)])


def _read(model: Model, ids: np.ndarray, length: int) -> _Read:
    """Mean over the second half, by layer [h]: behind the copy, on the copy, on the previous token."""
    bos = [] if model.tokenizer.bos is None else [model.tokenizer.bos]
    marks = ("induction", Behind(length - 1)), ("duplicate", Behind(length))
    wish = AttentionWish(top=1, marks=marks)
    trace = model.engine.run([*bos, *map(int, ids)], statistics=wish, tail=1)
    second = slice(len(bos) + length, None)
    layers: Sequence[AttentionRows] = trace.attention
    induction, duplicate = ([rows.marked[:, second, i].mean(axis=1) for rows in layers] for i in range(2))
    return induction, duplicate, [rows.previous[:, second].mean(axis=1) for rows in layers]


def _mean(draws: Sequence[Sequence[np.ndarray]]) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(np.mean(layer, axis=0, dtype=np.float64)) for layer in zip(*draws, strict=True))
