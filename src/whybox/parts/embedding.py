"""Text's first step: an id picks a row of a table."""

import numpy as np
from jaxtyping import Float, Int

from whybox.errors import PromptError


def lookup(ids: Int[np.ndarray, "q"], table: Float[np.ndarray, "v c"]) -> Float[np.ndarray, "q c"]:
    """The rows of the table that the ids name: e_id · W, without building the one-hot e_id.

    Raises PromptError for an id outside 0 … v − 1 (a negative one would silently read from the end).
    """
    require_known(ids, table.shape[0])
    return table[ids]


def require_known(ids: Int[np.ndarray, "q"], vocab: int) -> None:
    """PromptError for an id outside 0 … v − 1."""
    outside = (ids < 0) | (ids >= vocab)
    if outside.any():
        place = int(outside.argmax())
        raise PromptError(
            f"expected ids 0 … {vocab - 1} (vocabulary of {vocab}), found {int(ids[place])} at place {place}",
            "use the tokenizer that belongs to this model",
        )


def one_hot(ids: Int[np.ndarray, "q"], vocab: int) -> Float[np.ndarray, "q v"]:
    """The matrix whose product with the table is the lookup. For study: it holds q · v numbers to read q rows."""
    return np.eye(vocab)[ids]
