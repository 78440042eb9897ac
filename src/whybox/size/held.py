"""What reading a prompt holds beside weights and cache: scores where they are stored, activations of one layer."""

from whybox.size.figure import Figure, summed
from whybox.size.load import Load
from whybox.size.outline import Block, Outline

FLOAT32 = 4


def scores_of_head(load: Load) -> Figure:
    """One head of one layer: a number for every query and key."""
    n = load.context
    return summed("attention.scores_per_head", "bytes", "n · n · bytes", [(n, n, load.activations)])


def scores(of: Outline, load: Load) -> Figure:
    """One layer, all heads: what attention holds that stores its scores."""
    heads, n = max((block.attention.heads for block in of.kinds), default=0), load.context
    return summed("attention.scores", "bytes", "b · h · n · n · bytes", [(load.batch, heads, n, n, load.activations)])


def patterns(of: Outline, load: Load) -> Figure:
    """Every head's pattern of every layer, as tools keep them that show all of them."""
    n = load.context
    terms = [(load.batch, block.attention.heads, n, n, load.activations) for block in of.blocks]
    return summed("attention.patterns", "bytes", "Σ layers b · h · n · n · bytes", terms)


def flash(of: Outline, load: Load) -> Figure:
    """Tiled attention (arXiv 2205.14135): a running maximum and a running sum for every query and head, in float32."""
    heads = max((block.attention.heads for block in of.kinds), default=0)
    return summed("attention.flash", "bytes", "b · h · n · 2 · 4", [(load.batch, heads, load.context, 2, FLOAT32)])


def activations(of: Outline, load: Load) -> Figure:
    """The whole prompt through the widest layer: the stream and what the matrices of one sublayer give."""
    width = of.width + max((_widest(block) for block in of.kinds), default=0)
    formula = "b · n · (c + Σ outputs of a sublayer) · bytes"
    return summed("activations.bytes", "bytes", formula, [(load.batch, load.context, width, load.activations)])


def _widest(block: Block) -> int:
    """Numbers per token that attention or MLP give, whichever gives more; in a mixture the experts that are used."""
    given = {"attention": 0, "mlp": 0}
    for matrix in block.matrices:
        given[matrix.sublayer] += matrix.used * matrix.out
    return max(given.values())
