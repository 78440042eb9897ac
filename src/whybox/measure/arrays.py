"""Attention weights of another library, checked: what is no attention is refused with what it looks like."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from whybox.errors import UsageError

ROW_BOUND = 1e-2  # a row of half-precision weights may miss 1 by this much
_PADDING = re.compile(r"\[PAD\]|<\|?pad(ding)?\|?>", re.IGNORECASE)
_EAGER = 'load it with attn_implementation="eager" and ask for output_attentions=True'


def patterns_of(
    arrays: Iterable[object], tokens: Sequence[str], keys: Sequence[str], batch: int | None
) -> tuple[Float[np.ndarray, "_ _ _"], ...]:
    """One pattern [h q k] per layer, read-only. A row may sum to less than 1: that is a finding, and no refusal."""
    if isinstance(arrays, Mapping):
        raise UsageError(
            "expected a tuple of attentions, found the whole output of a model",
            "give one of its tuples: out.attentions, out.encoder_attentions, out.decoder_attentions, …",
        )
    given = tuple(arrays)
    if not given:
        raise UsageError("the tuple of attentions is empty: the model ran with a kernel that keeps no weights", _EAGER)
    for labels in (tokens, keys):
        require_labels(labels)
    if len(tokens) < 2:
        raise UsageError("there is one query only", "run the model once on the whole text, not token by token")
    shape = (len(tokens), len(keys))
    return tuple(_pattern(array, layer, shape, batch) for layer, array in enumerate(given))


def require_labels(labels: Sequence[object]) -> None:
    """UsageError for what is no list of strings, and for padding."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise UsageError(
            "expected a label for each token", "for instance: tokenizer.convert_ids_to_tokens(ids), a list of strings"
        )
    if not labels:
        raise UsageError("there is no token", "give a label for each token of one sequence")
    padded = [_PADDING.fullmatch(str(label)) is not None for label in labels]
    if not (padded[0] or padded[-1]):
        return
    if all(padded):
        raise UsageError("every label is padding", "choose another sequence of the batch: batch=…")
    first, last = padded.index(False), len(padded) - padded[::-1].index(False)
    raise UsageError(
        f"{len(labels) - (last - first)} of {len(labels)} tokens are padding ({labels[0 if padded[0] else -1]})",
        f"cut it off: tokens[{first}:{last}], and every array[..., {first}:{last}, {first}:{last}]",
    )


def _pattern(array: object, layer: int, shape: tuple[int, int], batch: int | None) -> Float[np.ndarray, "h q k"]:
    pattern = _of_batch(_numbers(array, layer), layer, batch)
    _require_shape(pattern, layer, shape)
    _require_weights(pattern, layer)
    pattern.flags.writeable = False
    return pattern


def _numbers(array: object, layer: int) -> np.ndarray:
    if array is None:
        raise UsageError(f"layer {layer} is None: the model ran with a kernel that keeps no weights", _EAGER)
    try:
        return np.array(np.asarray(array), dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"layer {layer}: not an array of numbers ({error})",
            "give NumPy arrays, or torch tensors as .detach().float().cpu()",
        ) from None


def _of_batch(pattern: np.ndarray, layer: int, batch: int | None) -> np.ndarray:
    """One sequence [h q k] of (batch, heads, q, k)."""
    if pattern.ndim != 4:
        return pattern
    count = len(pattern)
    if batch is None and count != 1:
        raise UsageError(f"layer {layer}: the batch holds {count} sequences", f"choose one: batch=0 … {count - 1}")
    if not 0 <= (batch or 0) < count:
        raise UsageError(f"layer {layer}: no sequence {batch}, the batch holds {count}", f"batch=0 … {count - 1}")
    return np.ascontiguousarray(pattern[batch or 0])


def _require_shape(pattern: np.ndarray, layer: int, shape: tuple[int, int]) -> None:
    if pattern.ndim == 3 and pattern.shape[1:] == shape and len(pattern):
        return
    wanted = f"(batch, heads, {shape[0]}, {shape[1]}) or (heads, {shape[0]}, {shape[1]})"
    turned = pattern.ndim == 3 and pattern.shape[:0:-1] == shape
    raise UsageError(
        f"layer {layer}: expected {wanted}, found {pattern.shape}",
        "queries and keys seem swapped: array.swapaxes(-1, -2)"
        if turned
        else "give a label for each token of one sequence, without its padding: array[:, :, :n, :n]",
    )


def _require_weights(pattern: Float[np.ndarray, "h q k"], layer: int) -> None:
    """Non-negative rows that sum to 1 at most."""
    if not np.isfinite(pattern).all():
        raise UsageError(
            f"layer {layer} holds NaN or infinity",
            "find where it comes from: a row without any visible key, or float16 scores",
        )
    sums, columns = pattern.sum(axis=-1), pattern.sum(axis=-2)
    if not pattern.any():
        raise UsageError(f"layer {layer} holds nothing but zeros", "give attention weights, whose rows sum to 1")
    if pattern.min() < 0:
        raise UsageError(
            f"layer {layer}: values lie in {pattern.min():.4g} … {pattern.max():.4g}: these look like scores",
            "give weights after the softmax",
        )
    if not _ones(sums) and _ones(columns):
        raise UsageError(
            f"layer {layer}: the columns sum to 1, the rows do not: queries and keys are swapped",
            "axes are (…, queries, keys): array.swapaxes(-1, -2)",
        )
    if sums.max() > 1 + ROW_BOUND:
        raise UsageError(
            f"layer {layer}: rows must sum to 1, and not to more; sums lie in {sums.min():.4g} … {sums.max():.4g}",
            "give weights after the softmax, of a model in eval mode: dropout changes them",
        )


def _ones(sums: np.ndarray) -> bool:
    return bool(np.abs(sums - 1).max() <= ROW_BOUND)
