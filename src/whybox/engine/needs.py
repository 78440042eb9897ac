"""What each kind of run holds at its fullest: all that stays until its end, and the largest of what comes and goes.

Nothing here asks which engine runs: an engine says what its arithmetic holds at once (`Run`).
Axes: b batch · q query · k key · h query head · g kv head · d head width · c model width · f MLP width · v vocabulary.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from whybox.engine.edit import site_axes
from whybox.engine.memory import Item, Need, Run, Term
from whybox.engine.trace import Key, wanted
from whybox.spec import Moe, Spec

LOWER = "use a lower precision, or weights that are decoded as they are used"
SHORTER = "shorten the prompt, or take fewer sequences at a time"
SMALLER = "shorten the prompt, compute in smaller chunks, or use a kernel that keeps no scores"
FEWER_ROWS = "ask for the logits of fewer rows (tail=1 is the last one alone)"
FEWER_SITES = "keep fewer sites, or in fewer layers, or shorten the prompt"


def need(spec: Spec, run: Run) -> Need:
    """One text. Stays: weights, cache, kept sites, statistics. One after another: attention and MLP of a layer, the
    logits; in chunks, what is kept of each beside the whole.
    """
    stays = (*_weights(run), _cache(spec, run), *_kept(spec, run), *_statistics(spec, run, run.tokens))
    logits = _logits(spec, run)
    attention, mlp = _attention(spec, run), _mlp(spec, run)
    if run.shown and (run.see or run.statistics):  # what is kept lies between what comes and goes
        attention, mlp = _layers(spec, run, 1)
    if run.in_pieces:  # the logits of earlier chunks are there while a later one is computed
        pieces = _statistics(spec, run, run.flying, "attention statistics of a chunk")
        joined = (_checked(spec, run), *_kept(spec, run))
        return Need((*stays, logits), ((*attention, *pieces), (*mlp, *pieces), joined))
    return Need(stays, (attention, mlp, (logits, _checked(spec, run), _freed(attention, mlp, times=0.5))))


def need_beside(spec: Spec, run: Run) -> Need:
    """One text among `batch` rows that stand behind its cache: all are computed, and it alone is kept."""
    alone, own = need(spec, replace(run, batch=1)), _widest(_slots(spec, run.tokens, run.batch, run.bytes_each))
    keys = Item("keys and values of a layer", "b · k · 2 · g · d · bytes", own, SHORTER)
    fewer = (tuple(replace(item, way_out=SHORTER) for item in (*phase, keys)) for phase in _layers(spec, run, 1))
    return Need(alone.stays, (*alone.phases, *fewer))


def need_of_gradient(spec: Spec, run: Run) -> Need:
    """Beside the base run, which is there already: the stream at the entry of each layer, the gradients asked for.

    One after another: the logits, those that are read and their gradient, with the head's matrix where the way back
    takes another form of it; then layer by layer from the last, each with what autograd keeps of it and the gradients
    on their way, twice what a run holds. A stream goes when its layer is done, while the gradients asked for grow.
    """
    whole = replace(run, chunk=None, bench=0)
    layer = (*_attention(spec, whole), _hidden(spec, whole))
    back = (*(replace(item, terms=item.terms * 2) for item in layer), _freed(layer, times=4))
    head = (_streams(spec, whole, len(spec.layers)), *_graded(spec, whole), back[-1])
    stages = range(len(spec.layers))
    held = ((_streams(spec, whole, stage), *_kept(spec, _from(stage, spec, whole))) for stage in stages)
    return Need(_weights(whole), (head, *((*each, *back) for each in held)))


def _streams(spec: Spec, run: Run, stage: int) -> Item:
    terms = ((run.flying, stage + 1, spec.width, run.bytes_each),)
    return Item("a stream for each layer", "b·q · (l + 1) · c · bytes", terms, SHORTER)


def _from(stage: int, spec: Spec, run: Run) -> Run:
    """The same, with the sites that are asked for in this layer and above."""
    asked = wanted(run.see, spec)
    above = ((name, layer) for name, layer in asked if layer is not None and layer >= stage)
    return replace(run, see=(*above, *(name for name, layer in asked if layer is None)))


def _graded(spec: Spec, run: Run) -> tuple[Item, ...]:
    """Logits as they are read, their gradient, and its size."""
    logits = Item("logits", "b · q · v · 3 · bytes", ((run.batch, run.rows, spec.vocab, 3 * run.shown),), FEWER_ROWS)
    head = Item("the head, as the way back takes it", "bytes", ((run.turned,),), LOWER)
    return logits, _checked(spec, run), head


def need_of_batch(spec: Spec, run: Run) -> Need:
    """Many texts to be gone on with behind `past` tokens that all share; `tokens`: slots that each has for itself.

    Stays: the shared keys and values, the texts' own (windows let nothing go), the logits behind each text. One after
    another: attention and MLP of a layer.
    """
    slots = _slots(spec, run.tokens, run.batch, run.bytes_each)
    return Need((*_of_texts(spec, run, slots), _shown(spec, run)), _layers(spec, run, 1))


def need_of_ends(spec: Spec, run: Run) -> Need:
    """The same where nothing is written behind the texts: of their own keys and values, one layer's at a time.

    The logits are a phase of their own, behind the layers.
    """
    slots, layers = _widest(_slots(spec, run.tokens, run.batch, run.bytes_each)), _layers(spec, run, 1)
    return Need(_of_texts(spec, run, slots), (*layers, (_shown(spec, run), layers[0][-1])))


def need_of_sweep(spec: Spec, run: Run) -> Need:
    """A batch of counterfactuals: `tokens` rows of each, behind `past` that are as in the base run. None in chunks.

    Stays: of the base run its keys and values (its own, and made once more), a stream for each layer, and its kept
    sites, once more where rows are put together; of each counterfactual one layer's keys and values, its kept sites,
    its logits. One after another: attention and MLP of a layer.
    """
    run, each = replace(run, chunk=None), run.bytes_each
    base = replace(run, tokens=run.past + run.tokens, past=0, batch=2)
    stream = ((base.tokens, len(spec.layers) + 1, spec.width, each),)
    own = _widest(_slots(spec, run.tokens, run.batch, each))
    stays = (
        *_weights(run),
        _of_base(spec, base),
        Item("a stream for each layer", "q · (l + 1) · c · bytes", stream, SHORTER),
        *(replace(item, name=f"{item.name} of the base run") for item in _kept(spec, base)),
        Item("keys and values of a layer", "b · k · 2 · g · d · bytes", own, SHORTER),
        Item("the stream where members join", "b·q · 4 · c · bytes", ((run.flying, 4, spec.width, each),), SHORTER),
        *_kept(spec, run),
        _shown(spec, run),
    )
    return Need(stays, _layers(spec, run, 2))  # members join layer by layer: no batch is as large as the one before


def _of_texts(spec: Spec, run: Run, slots: tuple[Term, ...]) -> tuple[Item, ...]:
    shared = _slots(spec, run.past, 1, run.bytes_each)
    return (
        *_weights(run),
        Item("keys and values that texts share", "b · k · 2 · g · d · bytes", shared, SHORTER),
        Item("keys and values of each text", "b · k · 2 · g · d · bytes", slots, SHORTER),
    )


def site_bytes(spec: Spec, key: Key, run: Run) -> int:
    """Bytes of one kept site: b · the product of its axes · bytes."""
    return math.prod((run.batch, *_shape(spec, key, run), run.shown or run.bytes_each))


# What stays


def _weights(run: Run) -> tuple[Item, ...]:
    return (Item("weights", "bytes", ((run.weights,),), LOWER),) if run.weights else ()


def _cache(spec: Spec, run: Run) -> Item:
    """Of past and new tokens; of those in the window alone, where it lets go what it has passed."""
    whole = run.past + run.tokens
    attentions = [layer.attention for layer in spec.layers]
    terms = tuple(
        (run.batch, min(whole, (run.lets_go and a.window) or whole), 2, a.kv_heads, a.head_width, run.bytes_each)
        for a in attentions
    )
    return Item("keys and values", "b · k · 2 · g · d · bytes", terms, SHORTER)


def _slots(spec: Spec, tokens: int, batch: int, bytes_each: int) -> tuple[Term, ...]:
    """Of every layer, windows or not."""
    attentions = [layer.attention for layer in spec.layers]
    return tuple((batch, tokens, 2, a.kv_heads, a.head_width, bytes_each) for a in attentions)


def _of_base(spec: Spec, run: Run) -> Item:
    slots = _slots(spec, run.past + run.tokens, run.batch, run.bytes_each)
    return Item("keys and values of the base run", "n · k · 2 · g · d · bytes", slots, SHORTER)


def _kept(spec: Spec, run: Run) -> tuple[Item, ...]:
    """Each site once: where it is no copy, a block's input is the output of the block before it."""
    asked = wanted(run.see, spec) - {("logits", None)}
    keys = asked if run.shown else {_owner(key) for key in asked}
    terms: dict[str, list[Term]] = {}
    for name, layer in sorted(keys, key=lambda key: (key[0], -1 if key[1] is None else key[1])):
        shape = _shape(spec, (name, layer), run)
        terms.setdefault(name, []).append((run.batch, *shape, run.shown or run.bytes_each))
    return tuple(Item(f"kept {name}", _letters(spec, name), tuple(each), FEWER_SITES) for name, each in terms.items())


def _owner(key: Key) -> Key:
    name, layer = key
    if name != "resid_pre" or layer is None:
        return key
    return ("resid_post", layer - 1) if layer else ("embed", None)


def _shape(spec: Spec, key: Key, run: Run) -> Term:
    name, index = key
    rows = run.rows if name in ("final", "logits") else run.tokens
    sizes = {"q": rows, "k": rows, "c": spec.width, "v": spec.vocab}
    if index is None:
        return tuple(sizes[letter] for letter in site_axes(name))
    layer = spec.layers[index]
    a, mlp = layer.attention, layer.mlp
    sizes |= {"h": a.heads, "g": a.kv_heads, "d": a.head_width, "f": mlp.width}
    sizes |= {"e": mlp.experts} if isinstance(mlp, Moe) else {}
    axes = site_axes(name, mlp)
    if "q" in axes:
        sizes["k"] = run.keys(layer)
    return tuple(sizes[letter] for letter in axes)


def _letters(spec: Spec, name: str) -> str:
    return " · ".join(("b", *site_axes(name, spec.layers[0].mlp if spec.layers else None), "bytes"))


def _statistics(spec: Spec, run: Run, rows: int, name: str = "attention statistics") -> tuple[Item, ...]:
    if not run.statistics:
        return ()
    terms = tuple((layer.attention.heads, run.batch, rows, run.statistics, 4) for layer in spec.layers)
    return (Item(name, "h · b · q · numbers · bytes", terms, SHORTER),)


# What comes and goes


def _attention(spec: Spec, run: Run) -> tuple[Item, ...]:
    return (_stream(spec, run), _projections(spec, run), _scores(spec, run))


def _mlp(spec: Spec, run: Run) -> tuple[Item, ...]:
    return (_stream(spec, run), _hidden(spec, run))


def _stream(spec: Spec, run: Run) -> Item:
    """The residual stream, its normed copy (twice in float32), what a sublayer writes, and their sum."""
    terms = ((run.flying, 4 * run.bytes_each + 2 * run.wide, spec.width),)
    return Item("residual stream", "b·q · (4 · bytes + 2 · wide) · c", terms, SMALLER)


def _projections(spec: Spec, run: Run) -> Item:
    """Queries, keys and values, and while they are turned queries and keys four times: the widest layer's."""
    attentions = [layer.attention for layer in spec.layers]
    turning = run.bytes_each + 4 * run.wide
    terms = [
        (run.flying, (a.heads + a.kv_heads) * turning + a.kv_heads * run.bytes_each, a.head_width) for a in attentions
    ]
    return Item("query, key, value", "b·q · ((h + g) · (bytes + 4 · wide) + g · bytes) · d", _widest(terms), SMALLER)


def _scores(spec: Spec, run: Run) -> Item:
    """The scores of the layer that has most of them, as often as the kernel holds them; a mask of one byte beside.

    A kernel that holds none has its bench, no more than scores would take; among several sequences each row has a mask,
    in three forms.
    """
    if run.scores:
        terms = [
            (run.flying, run.keys(layer), run.scores * layer.attention.heads * run.bytes_each + 1)
            for layer in spec.layers
        ]
        return Item("scores of one layer", f"b·q · k · ({run.scores} · h · bytes + 1)", _widest(terms), SMALLER)
    mask = 1 + run.wide + run.bytes_each if run.batch > 1 else 0
    masks = _widest([(run.flying, run.keys(layer), mask) for layer in spec.layers])
    pairs = _widest([(run.flying, run.keys(layer), layer.attention.heads * run.wide) for layer in spec.layers])
    bench = min(run.bench, *map(math.prod, pairs))
    return Item("attention of one layer", "bytes + b·q · k · masks", ((bench,), *masks), SMALLER)


def _hidden(spec: Spec, run: Run) -> Item:
    """Gate, up and what the activation makes of them, of the widest layer; in a mixture each expert's rows beside."""
    terms = [
        (run.flying, 3 + (layer.mlp.experts if isinstance(layer.mlp, Moe) else 0), layer.mlp.width, run.bytes_each)
        for layer in spec.layers
    ]
    return Item("MLP of one layer", "b·q · (3 + e) · f · bytes", _widest(terms), SMALLER)


def _logits(spec: Spec, run: Run) -> Item:
    """As they are computed, and as they are given away; in chunks, those of all chunks and the whole."""
    each = 2 * (run.shown or run.bytes_each) if run.in_pieces else run.bytes_each + run.shown
    return Item("logits", "b · q · v · bytes", ((run.batch, run.rows, spec.vocab, each),), FEWER_ROWS)


def _shown(spec: Spec, run: Run) -> Item:
    """Logits of many texts: as computed, as put together, as given away."""
    terms = ((run.batch, run.rows, spec.vocab, 2 * run.bytes_each + 4),)
    return Item("logits", "b · q · v · (2 · bytes + 4)", terms, SHORTER)


def _checked(spec: Spec, run: Run) -> Item:
    """The look for NaN and Inf, one byte a logit, and a second copy where they are capped."""
    second = run.bytes_each if spec.logit_cap is not None else 0
    terms = ((run.batch, run.rows, spec.vocab, 1 + second),)
    return Item("check of the logits", "b · q · v · bytes", terms, FEWER_ROWS)


def _layers(spec: Spec, run: Run, times: float) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Attention and MLP of a layer, each with what was freed before."""
    attention, mlp = _attention(spec, run), _mlp(spec, run)
    freed = _freed(attention, mlp, times=times)
    return (*attention, freed), (*mlp, freed)


def _freed(*phases: tuple[Item, ...], times: float) -> Item:
    """What the C library has not given back of earlier phases: so many times the largest, at most 64 MB."""
    kept = min(int(times * max(sum(item.nbytes for item in phase) for phase in phases)), 1 << 26)
    return Item("freed, not given back", f"{times:g} · a phase, at most 64 MB", ((kept,),), SMALLER, own=False)


def _widest(terms: Sequence[Term]) -> tuple[Term, ...]:
    return (max(terms, key=math.prod),) if terms else ()
