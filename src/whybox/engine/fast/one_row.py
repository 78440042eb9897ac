"""Attention of one row for each of several sequences, in bfloat16 on a CPU: what writing many texts at once asks for.

The scores of all parts stand side by side under one softmax; torch's fused product prepares keys for many rows, and
has to be asked for each part by itself.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float

from whybox.engine.fast.grouped import mixed, products
from whybox.engine.fast.keys import Part
from whybox.spec import Attention


def attend_one_row(
    query: Float[torch.Tensor, "b h 1 d"],
    parts: Sequence[Part],
    lowered: Float[torch.Tensor, "n 1 k"] | None,
    blind: Bool[torch.Tensor, "n 1"] | None,
    spec: Attention,
) -> Float[torch.Tensor, "b h 1 dv"]:
    """Σ_k pattern · value; scores and pattern rounded as in `plain`.

    lowered: what is added to scores, 0 or −∞; None where all keys are visible. blind: rows that see nothing, which are
    0; None where all see something.
    """
    scaled = query * spec.scale
    each = [products(scaled, part.key) for part in parts]
    s = each[0] if len(each) == 1 else torch.cat(each, dim=-1)
    pattern = torch.softmax(s if lowered is None else s + lowered[:, None], dim=-1)
    if blind is not None:
        pattern = pattern.masked_fill(blind[:, None, :, None], 0)
    own = pattern.split([part.key.shape[2] for part in parts], dim=-1)
    first, *others = [mixed(weights, part.value) for weights, part in zip(own, parts, strict=True)]
    for other in others:
        first = first + other
    return first
