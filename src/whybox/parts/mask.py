"""Who may see whom, as predicates on positions: never on indices, shapes or ids.

True = visible. Predicates combine with `&`. They act on scores, before the softmax: afterwards the hidden keys
would still sit in the denominator.
"""

import numpy as np
from jaxtyping import Bool, Int

from whybox.errors import UsageError


def visible(
    query_pos: Int[np.ndarray, "q"],
    key_pos: Int[np.ndarray, "k"],
    window: int | None = None,
    query_valid: Bool[np.ndarray, "q"] | None = None,
    key_valid: Bool[np.ndarray, "k"] | None = None,
) -> Bool[np.ndarray, "q k"]:
    """The decoder's predicate: key position ≤ query position; with a window W also > query position − W.

    W counts the token itself: query i sees max(0, i − W + 1) … i. Padding sees nothing and is not seen.
    """
    seen = key_pos[None, :] <= query_pos[:, None]
    if window is not None:
        seen &= near(query_pos, key_pos, window)
    if query_valid is not None:
        seen &= query_valid[:, None]
    if key_valid is not None:
        seen &= key_valid[None, :]
    return seen


def near(query_pos: Int[np.ndarray, "q"], key_pos: Int[np.ndarray, "k"], window: int) -> Bool[np.ndarray, "q k"]:
    """The window's far edge: key position > query position − W. Raises UsageError for a window below 1."""
    if window < 1:
        raise UsageError(f"expected a window of at least 1 (the token itself), found {window}")
    return key_pos[None, :] > query_pos[:, None] - window


def bidirectional(query_valid: Bool[np.ndarray, "q"], key_valid: Bool[np.ndarray, "k"]) -> Bool[np.ndarray, "q k"]:
    """An encoder's predicate: every real token sees every real token."""
    return query_valid[:, None] & key_valid[None, :]


def prefix(query_pos: Int[np.ndarray, "q"], key_pos: Int[np.ndarray, "k"], length: int) -> Bool[np.ndarray, "q k"]:
    """A prefix LM's predicate: the first `length` positions are seen by all, the rest causally."""
    return (key_pos[None, :] < length) | visible(query_pos, key_pos)


def same_row(query_row: Int[np.ndarray, "q"], key_row: Int[np.ndarray, "k"]) -> Bool[np.ndarray, "q k"]:
    """Tokens of several sequences packed into one line see their own sequence only."""
    return query_row[:, None] == key_row[None, :]


def strided(query_pos: Int[np.ndarray, "q"], key_pos: Int[np.ndarray, "k"], stride: int) -> Bool[np.ndarray, "q k"]:
    """A sparse attention's far view (arXiv 1904.10509): every stride-th key, counted back from the query."""
    if stride < 1:
        raise UsageError(f"expected a stride of at least 1, found {stride}")
    distance = query_pos[:, None] - key_pos[None, :]
    return (distance >= 0) & (distance % stride == 0)
