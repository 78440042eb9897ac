"""What a run will need, known before it starts: bytes, from the Spec and a few numbers of the engine.

Nothing here asks which engine runs. An engine says what its arithmetic holds at once (`Run`), and `need` adds it up:
what stays until the run ends, and the largest of what comes and goes.
Axes: b batch · q query · k key · h query head · g kv head · d head width · c model width · f MLP width · v vocabulary.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from whybox.engine.edit import site_axes
from whybox.engine.trace import Key, Wish, wanted
from whybox.errors import CapacityError
from whybox.spec import Layer, Moe, Spec
from whybox.weights import parameters

# The model alone


@dataclass(frozen=True)
class Parameters:
    """Numbers of parameters. embedding: token and position tables and an untied head. active: used for one token."""

    total: int
    embedding: int
    active: int


def count_parameters(spec: Spec) -> Parameters:
    """total = Σ of all shapes; active = total − Σ over mixture layers of (experts − active) · 3 · f · c."""
    sizes = {role: math.prod(shape) for role, shape in parameters(spec).items()}
    total = sum(sizes.values())
    embedding = sum(sizes.get(role, 0) for role in ("embed", "positions", "head"))
    mixtures = [layer.mlp for layer in spec.layers if isinstance(layer.mlp, Moe)]
    asleep = sum((moe.experts - moe.active) * 3 * moe.width * spec.width for moe in mixtures)
    return Parameters(total, embedding, total - asleep)


def weights_bytes(spec: Spec, bits: float) -> int:
    """parameters · bits / 8. Bits of one weight: 32, 16, 8, or with a block's scales 4.5 (Q4_0), 8.5 (Q8_0)."""
    return math.ceil(count_parameters(spec).total * bits / 8)


def cache_bytes_per_token(spec: Spec, bytes_each: int = 2) -> int:
    """Σ over layers of 2 · g · d · bytes: one key and one value for every kv head."""
    return sum(2 * layer.attention.kv_heads * layer.attention.head_width for layer in spec.layers) * bytes_each


def cache_bytes(spec: Spec, tokens: int, batch: int = 1, bytes_each: int = 2) -> int:
    """Σ over layers of b · min(tokens, window) · 2 · g · d · bytes."""
    return sum(math.prod(_cached(layer, tokens, batch, bytes_each)) for layer in spec.layers)


def _cached(layer: Layer, tokens: int, batch: int, bytes_each: int) -> tuple[int, ...]:
    a = layer.attention
    return batch, min(tokens, a.window or tokens), 2, a.kv_heads, a.head_width, bytes_each


# A run


@dataclass(frozen=True)
class Run:
    """The numbers that a run's memory follows from.

    tokens: fed to each sequence in this run. past: already in its cache. batch: sequences at a time.
    chunk: tokens of each that are computed at a time (None: all). tail: rows of logits of each (None: all).
    see: sites to keep. bytes_each: of an activation, a key, a value, a logit.
    weights: bytes of them that the run itself brings in, such as those decoded as they are used.
    scores: arrays of scores [h q k] that the attention of a layer holds at once; 0 for a kernel that holds none.
    statistics: numbers kept for every head and query.
    """

    tokens: int
    past: int = 0
    batch: int = 1
    chunk: int | None = None
    tail: int | None = None
    see: tuple[Wish, ...] = ()
    bytes_each: int = 4
    weights: int = 0
    scores: int = 1
    statistics: int = 0

    @property
    def flying(self) -> int:
        """b · chunk: rows that are computed at a time."""
        return self.batch * min(self.tokens, self.chunk or self.tokens)

    @property
    def rows(self) -> int:
        """Rows of logits of each sequence."""
        return min(self.tokens, self.tail or self.tokens)

    def keys(self, layer: Layer) -> int:
        """Keys that the last query of a layer is compared with; a window lets the past go, not what is in flight."""
        window = layer.attention.window
        return self.tokens + (self.past if window is None else min(self.past, window))


Term = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One line of a need: a sum of products of whole numbers, in bytes. way_out: what makes it smaller."""

    name: str
    formula: str
    terms: tuple[Term, ...]
    way_out: str

    @property
    def nbytes(self) -> int:
        return sum(map(math.prod, self.terms))

    def __str__(self) -> str:
        products = Counter(" · ".join(f"{factor:,}" for factor in term) for term in self.terms)
        numbers = " + ".join(f"{count} × ({shown})" if count > 1 else shown for shown, count in products.items())
        return f"{self.name}: {self.formula} = {numbers} = {spoken(self.nbytes)}"


@dataclass(frozen=True)
class Need:
    """What a run holds at its fullest. stays: until the run ends. phases: one after another, the largest counts."""

    stays: tuple[Item, ...]
    phases: tuple[tuple[Item, ...], ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """What counts: all that stays, and the largest phase."""
        return self.stays + max(self.phases, key=_bytes_of, default=())

    @property
    def total(self) -> int:
        """Bytes."""
        return _bytes_of(self.items)

    @property
    def largest(self) -> Item:
        return max(self.items, key=lambda item: item.nbytes)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.items), f"in all: {spoken(self.total)}"])


def _bytes_of(items: Iterable[Item]) -> int:
    return sum(item.nbytes for item in items)


def need(spec: Spec, run: Run) -> Need:
    """Stays: weights, cache, kept sites, statistics. One after another: attention and MLP of a layer, the logits."""
    stays = (*_weights(run), _cache(spec, run), *_kept(spec, run), *_statistics(spec, run))
    logits, stream = _logits(spec, run), _stream(spec, run)
    attention = (stream, _projections(spec, run), _scores(spec, run))
    mlp = (stream, _hidden(spec, run))
    if run.flying < run.batch * run.tokens:  # the logits of earlier chunks are there while a later one is computed
        return Need((*stays, logits), (attention, mlp, (_checked(spec, run),)))
    return Need(stays, (attention, mlp, (logits, _checked(spec, run), _freed(attention, mlp))))


def need_of_gradient(spec: Spec, run: Run) -> Need:
    """Stays: the stream at the entry of each layer, the gradients that are asked for (`see`).

    One after another: a layer with what autograd keeps of it and the gradients on their way, three times what a run
    holds; the logits, those that are read, and their gradient.
    """
    whole = replace(run, chunk=None)
    streams = (whole.flying, len(spec.layers) + 1, spec.width, whole.bytes_each)
    stream = Item("a stream for each layer", "b·q · (l + 1) · c · bytes", (streams,), SHORTER)
    layer = (_stream(spec, whole), _projections(spec, whole), _scores(spec, whole), _hidden(spec, whole))
    logits = (_thrice(_logits(spec, whole)), _checked(spec, whole))
    return Need((*_weights(whole), stream, *_kept(spec, whole)), (tuple(map(_thrice, layer)), logits))


def need_of_batch(spec: Spec, run: Run) -> Need:
    """Many texts to be gone on with behind `past` tokens that all share; `tokens`: slots that each has for itself.

    Stays: the shared keys and values, the texts' own (windows let nothing go), the logits behind each text. One after
    another: attention and MLP of a layer.
    """
    return _of_texts(spec, run, _slots(spec, run.tokens, run.batch, run.bytes_each))


def need_of_ends(spec: Spec, run: Run) -> Need:
    """The same where nothing is written behind the texts: of their own keys and values, one layer's at a time."""
    return _of_texts(spec, run, _widest(_slots(spec, run.tokens, run.batch, run.bytes_each)))


def need_of_sweep(spec: Spec, run: Run) -> Need:
    """A batch of counterfactuals: `tokens` rows of each, behind `past` that are as in the base run. None in chunks.

    Stays: of the base run its keys and values, a stream for each layer and its kept sites, once more where rows are
    put together; of each counterfactual one layer's keys and values, its kept sites, its logits. One after another:
    attention and MLP of a layer.
    """
    run, each = replace(run, chunk=None), run.bytes_each
    base = replace(run, tokens=run.past + run.tokens, past=0, batch=2)
    stream = ((base.tokens, len(spec.layers) + 1, spec.width, each),)
    stays = (
        *_weights(run),
        Item("keys and values of the base run", "k · 2 · g · d · bytes", _slots(spec, base.tokens, 1, each), SHORTER),
        Item("a stream for each layer", "q · (l + 1) · c · bytes", stream, SHORTER),
        *(replace(item, name=f"{item.name} of the base run") for item in _kept(spec, base)),
        Item(
            "keys and values of a layer",
            "b · k · 2 · g · d · bytes",
            _widest(_slots(spec, run.tokens, run.batch, each)),
            SHORTER,
        ),
        *_kept(spec, run),
        Item("logits", "b · q · v · (2 · bytes + 4)", ((run.batch, run.rows, spec.vocab, 2 * each + 4),), SHORTER),
    )
    attention = (_stream(spec, run), _projections(spec, run), _scores(spec, run))
    return Need(stays, (attention, (_stream(spec, run), _hidden(spec, run))))


def _of_texts(spec: Spec, run: Run, slots: tuple[Term, ...]) -> Need:
    """Logits are there as computed, as put together, and in float32."""
    rows = ((run.batch, run.rows, spec.vocab, 2 * run.bytes_each + 4),)
    shared = _slots(spec, run.past, 1, run.bytes_each)
    stays = (
        *_weights(run),
        Item("keys and values that texts share", "b · k · 2 · g · d · bytes", shared, SHORTER),
        Item("keys and values of each text", "b · k · 2 · g · d · bytes", slots, SHORTER),
        Item("logits", "b · q · v · (2 · bytes + 4)", rows, SHORTER),
    )
    stream = _stream(spec, run)
    attention, mlp = (stream, _projections(spec, run), _scores(spec, run)), (stream, _hidden(spec, run))
    freed = _freed(attention, mlp)
    return Need(stays, ((*attention, freed), (*mlp, freed)))


def _slots(spec: Spec, tokens: int, batch: int, bytes_each: int) -> tuple[Term, ...]:
    """Of every layer, windows or not."""
    attentions = [layer.attention for layer in spec.layers]
    return tuple((batch, tokens, 2, a.kv_heads, a.head_width, bytes_each) for a in attentions)


def _thrice(item: Item) -> Item:
    return replace(item, terms=item.terms * 3)


def held(name: str, nbytes: int, way_out: str) -> Need:
    """A need of one number, for what is no run: weights to be loaded."""
    return Need((Item(name, "bytes", ((nbytes,),), way_out),))


def require_room(need: Need, available: int | None, what: str = "this run") -> None:
    """CapacityError, before anything is allocated, when the need is larger than what is available (None: unknown).

    It names both numbers, the largest item with its formula, and the way out that makes this item smaller.
    """
    if available is None or need.total <= available:
        return
    raise CapacityError(
        f"{what} needs {spoken(need.total)} of memory, {spoken(available)} are available; most of it is {need.largest}",
        need.largest.way_out,
    )


def spoken(nbytes: int) -> str:
    """Bytes as people say them: 23,040 bytes, 98.4 MB, 1.34 GB (powers of ten)."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if nbytes >= size:
            return f"{nbytes / size:,.3g} {unit}" if nbytes < 1000 * size else f"{nbytes / size:,.0f} {unit}"
    return f"{nbytes:,} bytes"


# Its items

LOWER = "use a lower precision, or weights that are decoded as they are used"
SHORTER = "shorten the prompt, or take fewer sequences at a time"
SMALLER = "shorten the prompt, compute in smaller chunks, or use a kernel that keeps no scores"
FEWER_ROWS = "ask for the logits of fewer rows (tail=1 is the last one alone)"
FEWER_SITES = "keep fewer sites, or in fewer layers, or shorten the prompt"


def _weights(run: Run) -> tuple[Item, ...]:
    return (Item("weights", "bytes", ((run.weights,),), LOWER),) if run.weights else ()


def _cache(spec: Spec, run: Run) -> Item:
    """`cache_bytes` of past and new tokens."""
    terms = (_cached(layer, run.past + run.tokens, run.batch, run.bytes_each) for layer in spec.layers)
    return Item("keys and values", "b · k · 2 · g · d · bytes", tuple(terms), SHORTER)


def _logits(spec: Spec, run: Run) -> Item:
    return Item("logits", "b · q · v · bytes", ((run.batch, run.rows, spec.vocab, run.bytes_each),), FEWER_ROWS)


def _kept(spec: Spec, run: Run) -> tuple[Item, ...]:
    """Each site once: a block's input is the output of the block before it."""
    keys = {_owner(key) for key in wanted(run.see, spec)} - {("logits", None)}
    terms: dict[str, list[Term]] = {}
    for name, layer in sorted(keys, key=lambda key: (key[0], -1 if key[1] is None else key[1])):
        terms.setdefault(name, []).append((run.batch, *_shape(spec, (name, layer), run), run.bytes_each))
    return tuple(Item(f"kept {name}", _letters(spec, name), tuple(each), FEWER_SITES) for name, each in terms.items())


def _owner(key: Key) -> Key:
    name, layer = key
    if name != "resid_pre" or layer is None:
        return key
    return ("resid_post", layer - 1) if layer else ("embed", None)


def site_bytes(spec: Spec, key: Key, run: Run) -> int:
    """Bytes of one kept site: b · the product of its axes · bytes."""
    return math.prod((run.batch, *_shape(spec, key, run), run.bytes_each))


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


def _statistics(spec: Spec, run: Run) -> tuple[Item, ...]:
    if not run.statistics:
        return ()
    each = (run.batch, run.tokens, run.statistics, 4)
    terms = tuple((layer.attention.heads, *each) for layer in spec.layers)
    return (Item("attention statistics", "h · b · q · numbers · bytes", terms, SHORTER),)


def _stream(spec: Spec, run: Run) -> Item:
    """The residual stream, its normed copy, what a sublayer writes, and their sum."""
    return Item("residual stream", "b·q · 4 · c · bytes", ((run.flying, 4, spec.width, run.bytes_each),), SMALLER)


def _projections(spec: Spec, run: Run) -> Item:
    """Queries, keys and values before and after position: the widest layer's."""
    attentions = [layer.attention for layer in spec.layers]
    terms = [(run.flying, 2, a.heads + 2 * a.kv_heads, a.head_width, run.bytes_each) for a in attentions]
    return Item("query, key, value", "b·q · 2 · (h + 2g) · d · bytes", _widest(terms), SMALLER)


def _scores(spec: Spec, run: Run) -> Item:
    """The scores of the layer that has most of them, as often as the kernel holds them; a mask of one byte beside."""
    if not run.scores:
        return Item("scores", "none are held", (), SMALLER)
    terms = [
        (run.flying, run.keys(layer), run.scores * layer.attention.heads * run.bytes_each + 1) for layer in spec.layers
    ]
    formula = f"b·q · k · ({run.scores} · h · bytes + 1)"
    return Item("scores of one layer", formula, _widest(terms), SMALLER)


def _hidden(spec: Spec, run: Run) -> Item:
    """Gate and up of the widest layer; in a mixture one row for every expert beside them."""
    terms = [
        (run.flying, 2 + (layer.mlp.experts if isinstance(layer.mlp, Moe) else 0), layer.mlp.width, run.bytes_each)
        for layer in spec.layers
    ]
    return Item("MLP of one layer", "b·q · (2 + e) · f · bytes", _widest(terms), SMALLER)


def _checked(spec: Spec, run: Run) -> Item:
    """The look for NaN and Inf, one byte a logit, and a second copy where they are capped."""
    second = run.bytes_each if spec.logit_cap is not None else 0
    terms = ((run.batch, run.rows, spec.vocab, 1 + second),)
    return Item("check of the logits", "b · q · v · bytes", terms, FEWER_ROWS)


def _freed(*phases: tuple[Item, ...]) -> Item:
    """What the C library has not given back of an earlier phase: about half, at most 64 MB."""
    kept = min(max(map(_bytes_of, phases)) // 2, 1 << 26)
    return Item("freed, not given back", "half a phase, at most 64 MB", ((kept,),), SMALLER)


def _widest(terms: Sequence[Term]) -> tuple[Term, ...]:
    return (max(terms, key=math.prod),) if terms else ()
