"""The two products of attention, by group: the r heads of a kv head are rows of one product.

Keys and values have a batch axis of their own, or are shared by all sequences (1): then these are rows of it too.
"""

from jaxtyping import Float
from torch import Tensor


def products(query: Float[Tensor, "b h q d"], key: Float[Tensor, "n g k d"]) -> Float[Tensor, "b h q k"]:
    """q · k of every head."""
    batch, heads, rows, width = query.shape
    own, groups, keys, _ = key.shape
    if own == batch:
        grouped = query.reshape(batch, groups, heads // groups * rows, width)
        return (grouped @ key.transpose(-1, -2)).reshape(batch, heads, rows, keys)
    grouped = query.unflatten(1, (groups, -1)).transpose(0, 1).reshape(groups, -1, width)
    product = grouped @ key[0].transpose(-1, -2)
    return product.reshape(groups, batch, heads // groups, rows, keys).transpose(0, 1).reshape(batch, heads, rows, keys)


def mixed(pattern: Float[Tensor, "b h q k"], value: Float[Tensor, "n g k dv"]) -> Float[Tensor, "b h q dv"]:
    """Σ_k pattern · value of every head, in the precision of the values."""
    batch, heads, rows, keys = pattern.shape
    own, groups, _, width = value.shape
    pattern = pattern.to(value.dtype)
    if own == batch:
        grouped = pattern.reshape(batch, groups, heads // groups * rows, keys)
        return (grouped @ value).reshape(batch, heads, rows, width)
    grouped = pattern.unflatten(1, (groups, -1)).transpose(0, 1).reshape(groups, -1, keys)
    product = (grouped @ value[0]).reshape(groups, batch, heads // groups, rows, width)
    return product.transpose(0, 1).reshape(batch, heads, rows, width)
