"""Attention that another library computed: the same statistics, whatever model it came from.

out = model(**inputs, output_attentions=True)
whybox.attention(out.attentions, tokens).heads()
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from whybox.errors import SiteError, UsageError
from whybox.statistics.head_table import HeadTable

ROW_BOUND = 1e-2  # a row of half-precision weights may miss 1 by this much


@dataclass(frozen=True, eq=False)
class Brought:
    """One pattern [h q k] per layer; `tokens` name the queries, `keys` the keys (the same but for cross-attention).

    causal: no query has weight on a later key, in any layer; then later keys count as invisible.
    """

    patterns: tuple[Float[np.ndarray, "h q k"], ...]
    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    causal: bool

    def __getitem__(self, layer: int) -> Float[np.ndarray, "h q k"]:
        if not 0 <= layer < len(self.patterns):
            raise SiteError(f"no layer {layer}: these arrays have layers 0 … {len(self.patterns) - 1}")
        return self.patterns[layer]

    @property
    def visible(self) -> Bool[np.ndarray, "q k"]:
        """Which keys each query could see."""
        whole = np.ones((len(self.tokens), len(self.keys)), bool)
        return np.tril(whole) if self.causal else whole

    def _repr_html_(self) -> str:
        """In a notebook: the table of heads."""
        return self.heads()._repr_html_()

    def heads(self) -> HeadTable:
        """One row per head, layer by layer: the columns of `Trace.heads`."""
        return HeadTable.of_patterns((layer, pattern, self.visible) for layer, pattern in enumerate(self.patterns))


def attention(arrays: Sequence[object], tokens: Sequence[str], keys: Sequence[str] | None = None) -> Brought:
    """Attention weights as models return them: a tuple over layers of (1, heads, q, k) or (heads, q, k).

    tokens: labels of the queries. keys: labels of the keys, for cross-attention. Raises UsageError for an empty tuple
    (a kernel that keeps no weights), a batch of several, another length, and rows that are no distribution.
    """
    if not len(arrays):
        raise UsageError(
            "the tuple of attentions is empty: the model ran with a kernel that keeps no weights",
            'load it with attn_implementation="eager" and ask for output_attentions=True',
        )
    labels = tuple(tokens if keys is None else keys)
    patterns = tuple(_pattern(array, layer, len(tokens), len(labels)) for layer, array in enumerate(arrays))
    causal = len(tokens) == len(labels) and all(not np.triu(pattern, 1).any() for pattern in patterns)
    return Brought(patterns, tuple(tokens), labels, causal)


def _pattern(array: object, layer: int, queries: int, keys: int) -> Float[np.ndarray, "h q k"]:
    try:
        pattern = np.asarray(array, dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"layer {layer}: not an array of numbers ({error})", "give NumPy arrays, detached") from None
    if pattern.ndim == 4 and pattern.shape[0] == 1:
        pattern = pattern[0]
    if pattern.ndim != 3 or pattern.shape[1:] != (queries, keys):
        wanted = f"(1, heads, {queries}, {keys}) or (heads, {queries}, {keys})"
        raise UsageError(
            f"layer {layer}: expected {wanted}, found {pattern.shape}",
            "give one sequence, and a label for each of its tokens",
        )
    sums = pattern.sum(axis=-1)
    if not np.isfinite(pattern).all() or pattern.min() < 0 or np.abs(sums - 1).max() > ROW_BOUND:
        raise UsageError(
            f"layer {layer}: rows must be non-negative and sum to 1; sums lie in {sums.min():.4g} … {sums.max():.4g}",
            "give weights after the softmax; weights masked behind it are a fault of the model's code",
        )
    pattern.flags.writeable = False
    return pattern
