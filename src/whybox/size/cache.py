"""The KV cache: of a token, a request, a batch; in blocks; with a shared beginning."""

from collections.abc import Iterator

from whybox.engine.memory import Term
from whybox.size.figure import Figure, summed
from whybox.size.load import Load
from whybox.size.outline import Attention, Block, Grouped, Latent, Outline, cached_numbers

PER_LAYER = {"heads": "2 · g · d", "latent": "(r + d_rope)"}


def letters(of: Outline) -> str:
    """What a layer keeps for a token, in letters."""
    kinds = dict.fromkeys("latent" if isinstance(block.attention, Latent) else "heads" for block in of.kinds)
    return " or ".join(PER_LAYER[kind] for kind in kinds)


def kind(of: Outline) -> str:
    """MHA, GQA, MQA, MLA; of layers that differ each once, and whether some see a window alone."""
    names = dict.fromkeys(block.attention.kind for block in of.kinds)
    windows = sorted({block.window for block in of.kinds if block.window})
    return " + ".join(names) + "".join(f", window {window:,}" for window in windows)


def per_token(of: Outline, load: Load) -> Figure:
    """While every layer still keeps the token."""
    terms = [_kept(block.attention, 1, load) for block in of.blocks]
    return _bytes("kv_cache.bytes_per_token", f"Σ layers {letters(of)} · bytes", terms, load)


def per_request(of: Outline, load: Load) -> Figure:
    """Layers with a window keep the last W tokens."""
    terms = [_kept(block.attention, block.kept(load.context), load) for block in of.blocks]
    return _bytes("kv_cache.bytes_per_request", f"Σ layers min(n, W) · {letters(of)} · bytes", terms, load)


def reserved(of: Outline, load: Load) -> Figure:
    """Where an engine keeps all tokens in every layer, windows or not."""
    terms = [_kept(block.attention, load.context, load) for block in of.blocks]
    return _bytes("kv_cache.bytes_reserved", f"Σ layers n · {letters(of)} · bytes", terms, load)


def of_batch(of: Outline, load: Load) -> Figure:
    """The shared beginning once, the rest for each request."""
    formula = f"Σ layers (b · (kept − shared) + shared) · {letters(of)} · bytes"
    return _bytes("kv_cache.bytes", formula, list(_batch(of, load, 1)), load)


def saved(of: Outline, load: Load) -> Figure:
    """By keeping the shared beginning once."""
    formula = f"Σ layers (b − 1) · shared · {letters(of)} · bytes"
    terms = [(load.batch - 1, *_kept(block.attention, own_and_shared(block, load)[1], load)) for block in of.blocks]
    return _bytes("kv_cache.bytes_saved", formula, terms, load)


def paged(of: Outline, load: Load) -> Figure:
    """In whole blocks; only whole blocks can be shared."""
    formula = f"Σ layers (b · own + shared) in blocks of {load.block:,} · {letters(of)} · bytes"
    return _bytes("kv_cache.paged.bytes", formula, list(_batch(of, load, load.block)), load)


def waste(of: Outline, load: Load) -> Figure:
    """Slots of blocks that are not filled, and what of the shared beginning fills no block."""
    held, needed = int(paged(of, load).value), int(of_batch(of, load).value)
    return summed("kv_cache.paged.waste", "bytes", "paged − needed", [(held,)], [(needed,)])


def most_waste(of: Outline, load: Load) -> Figure:
    """Of one request, whatever its length: all slots of a block but one."""
    terms = [_kept(block.attention, load.block - 1, load) for block in of.blocks]
    return _bytes("kv_cache.paged.most_waste", f"Σ layers (block − 1) · {letters(of)} · bytes", terms, load)


def blocks(of: Outline, load: Load) -> Figure:
    """Of one request in the layer that keeps most."""
    most = max((block.kept(load.context) for block in of.kinds), default=0)
    return summed("kv_cache.paged.blocks", "×", "⌈kept / block⌉", [(most,)], over=load.block)


def rows_copied(load: Load) -> Figure:
    """Rows of each key and value array that are copied where a cache grows by concatenation, token by token."""
    n = load.context
    return summed("kv_cache.rows_copied", "rows", "n · (n + 1) / 2", [(n, n + 1)], over=2)


def as_mha(of: Outline, load: Load) -> Figure:
    """Per token, if every query head had a key and a value of its own."""
    terms: list[Term] = []
    for block in of.blocks:
        a = block.attention
        each = (2, a.heads, a.width) if isinstance(a, Grouped) else (a.heads, a.plain + a.turned + a.value)
        terms.append((*each, load.cache.size))
    return _bytes("kv_cache.bytes_per_token_as_mha", "Σ layers h · (key + value) · bytes", terms, load)


def own_and_shared(block: Block, load: Load, unit: int = 1) -> tuple[int, int]:
    """Of the tokens that a layer keeps of a request: its own, and those that all share, in whole units."""
    kept = block.kept(load.context)
    shared = max(0, min(load.shared, load.context) - (load.context - kept))
    shared = shared // unit * unit if load.batch > 1 else 0
    return kept - shared, shared


def _batch(of: Outline, load: Load, unit: int) -> Iterator[Term]:
    for block in of.blocks:
        own, shared = own_and_shared(block, load, unit)
        slots = load.batch * (-(-own // unit) * unit) + shared
        yield _kept(block.attention, slots, load)


def _kept(attention: Attention, tokens: int, load: Load) -> Term:
    return (tokens, *cached_numbers(attention), load.cache.size)


def _bytes(path: str, formula: str, terms: list[Term], load: Load) -> Figure:
    return summed(path, "bytes", formula, terms, over=load.cache.values)
