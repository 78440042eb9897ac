"""FLOPs: 2 for each multiply-add of a matrix product, scores and mixes included, and nothing else.

Left out, as usual: norms, RoPE, softmax, activations, biases, the embedding (a look-up). A query sees the keys up to
its own, in a window at most W of them. Reading a prompt needs the logits of its last token alone.
"""

import math

from whybox.engine.memory import Term
from whybox.size.figure import Figure, divided, summed
from whybox.size.load import Load
from whybox.size.outline import Block, Outline, pair_widths


def matrices(of: Outline) -> Figure:
    """One token through every matrix that it passes, the head included."""
    terms = [(2, m.used, m.out, m.into) for block in of.blocks for m in block.matrices]
    return summed("flops.matrices", "FLOP", "2 · (Σ used · out · in + v · c)", [*terms, (2, of.vocab, of.width)])


def head(of: Outline) -> Figure:
    return summed("flops.head", "FLOP", "2 · v · c", [(2, of.vocab, of.width)])


def attention(of: Outline, load: Load) -> Figure:
    """Scores and mix of the token at the end of the context."""
    terms = [(2, *pair_widths(block.attention, True), block.kept(load.context)) for block in of.blocks]
    return summed("flops.attention", "FLOP", "Σ layers 2 · h · (score + mix) · min(n, W)", terms)


def decode(of: Outline, load: Load) -> Figure:
    """One token of one request, n keys in its cache, its own among them."""
    terms: list[Term] = [(int(matrices(of).value),), (int(attention(of, load).value),)]
    return summed("flops.decode", "FLOP", "matrices + attention(n)", terms)


def prefill(of: Outline, load: Load) -> Figure:
    """A prompt of n tokens of one request."""
    terms = [*_body(of, load.context), (int(head(of).value),)]
    formula = "n · (matrices − head) + Σ layers 2 · h · (score + mix) · pairs + head"
    return summed("flops.prefill", "FLOP", formula, terms)


def prefill_per_token(of: Outline, load: Load) -> Figure:
    return divided("flops.prefill_per_token", "FLOP", "prefill / n", prefill(of, load).value, load.context)


def prefill_all_logits(of: Outline, load: Load) -> Figure:
    """The same where the logits of every token are computed, as scoring a text needs them."""
    terms: list[Term] = [(int(prefill(of, load).value),), (load.context - 1, int(head(of).value))]
    return summed("flops.prefill_all_logits", "FLOP", "prefill + (n − 1) · head", terms)


def without_cache(of: Outline, load: Load) -> Figure:
    """Writing n tokens: every prefix read anew, over every token computed once; the head left out of both."""
    n, each = load.context, _of_a_token(of)
    anew = each * (n * (n + 1) // 2)
    for block, count in of.kinds.items():
        anew += count * 2 * math.prod(pair_widths(block.attention, False)) * prefixes_of(block, n)
    formula = "Σ t = 1 … n prefill(t) / prefill(n), head left out"
    return divided("flops.without_cache", "×", formula, anew, without_head(of, n))


def without_head(of: Outline, tokens: int) -> int:
    """Reading so many tokens, no logits."""
    return sum(map(math.prod, _body(of, tokens)))


def pairs_of(block: Block, n: int) -> int:
    """Query and key together: n (n + 1) / 2; with a window W (W + 1) / 2 + (n − W) · W."""
    w = block.kept(n)
    return w * (w + 1) // 2 + (n - w) * w


def prefixes_of(block: Block, n: int) -> int:
    """Σ t = 1 … n of the pairs of the first t tokens."""
    w = block.kept(n)
    rest = n - w
    return w * (w + 1) * (w + 2) // 6 + rest * (w * (w + 1) // 2) + w * (rest * (rest + 1) // 2)


def _of_a_token(of: Outline) -> int:
    """Every matrix but the head."""
    return int(matrices(of).value) - int(head(of).value)


def _body(of: Outline, n: int) -> list[Term]:
    pairs = [(2, *pair_widths(block.attention, False), pairs_of(block, n)) for block in of.blocks]
    return [(n, _of_a_token(of)), *pairs]
