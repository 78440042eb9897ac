"""Which combinations of slot values a case stands for, in which order."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from whybox.items.scoring.folding import fold_text
from whybox.items.seeds import item_generator

# Up to here all combinations are shuffled; beyond, distinct ones are drawn.
_MOST_LISTED = 1 << 16


def choose_variants(
    case_id: str, vary: Mapping[str, Sequence[str]], limit: int, seed: int
) -> tuple[dict[str, str], ...]:
    """The first value of every slot, then other admissible combinations in seeded order, at most `limit` in all."""
    sizes = [len(values) for values in vary.values()]
    chosen = [_combination(vary, sizes, 0)]
    for index in _order(math.prod(sizes), item_generator(seed, "vary", case_id)):
        if len(chosen) >= limit:
            break
        candidate = _combination(vary, sizes, index)
        if are_distinct(candidate.values()):
            chosen.append(candidate)
    return tuple(chosen)


def are_distinct(values: Iterable[str]) -> bool:
    """Whether no value is, once folded, equal to or a substring of another."""
    folded = [fold_text(value).strip() for value in values]
    return not any(a in b or b in a for a, b in combinations(folded, 2))


def _combination(vary: Mapping[str, Sequence[str]], sizes: Sequence[int], index: int) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for (slot, values), size in zip(vary.items(), sizes, strict=True):
        index, digit = divmod(index, size)
        chosen[slot] = values[digit]
    return chosen


def _order(total: int, generator: np.random.Generator) -> Iterator[int]:
    """Indices 1 … total − 1 in random order; index 0 is the case itself."""
    if total <= _MOST_LISTED:
        yield from (1 + int(i) for i in generator.permutation(total - 1))
        return
    seen = {0}
    for _ in range(_MOST_LISTED):
        index = sum(int(generator.integers(1 << 30)) << (30 * i) for i in range(5)) % total
        if index not in seen:
            seen.add(index)
            yield index
