"""A block writes twice into the residual stream; its layout says where the norms stand.

x + f(x) keeps a highway: the derivative is I + J, so a deep stack neither loses x nor its gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from jaxtyping import Float

from whybox.spec import Layout

RowMap = Callable[[np.ndarray], np.ndarray]


def unchanged(x: np.ndarray) -> np.ndarray:
    """The norm that a layout does not have."""
    return x


@dataclass(frozen=True)
class Sublayer:
    """Attention or MLP, with the norms that stand before and after it."""

    apply: RowMap
    before: RowMap = unchanged
    after: RowMap = unchanged


@dataclass(frozen=True, eq=False)
class Written:
    """What a block did: the two writes, exactly as added, and the stream after each.

    In the post layout the stream is what the norm made of the sum. Parallel blocks have no stream between.
    """

    attn_out: Float[np.ndarray, "q c"]
    resid_mid: Float[np.ndarray, "q c"] | None
    mlp_out: Float[np.ndarray, "q c"]
    resid_post: Float[np.ndarray, "q c"]


def block(x: Float[np.ndarray, "q c"], attention: Sublayer, mlp: Sublayer, layout: Layout) -> Written:
    """One block on the stream, attention first, or both at once where the layout is parallel."""
    if layout is Layout.PARALLEL:
        attn_out, mlp_out = (part.apply(part.before(x)) for part in (attention, mlp))
        return Written(attn_out, None, mlp_out, x + attn_out + mlp_out)
    attn_out, resid_mid = write(x, attention, layout)
    mlp_out, resid_post = write(resid_mid, mlp, layout)
    return Written(attn_out, resid_mid, mlp_out, resid_post)


def write(
    x: Float[np.ndarray, "q c"], part: Sublayer, layout: Layout
) -> tuple[Float[np.ndarray, "q c"], Float[np.ndarray, "q c"]]:
    """What the sublayer adds, and the stream after it."""
    match layout:
        case Layout.PRE | Layout.PARALLEL:
            added = part.apply(part.before(x))
        case Layout.SANDWICH:
            added = part.after(part.apply(part.before(x)))
        case Layout.INNER_POST:
            added = part.after(part.apply(x))
        case Layout.POST:
            added = part.apply(x)
            return added, part.after(x + added)
        case _:
            assert_never(layout)
    return added, x + added
