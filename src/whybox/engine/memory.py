"""What a run will need, known before it starts: bytes, from the Spec and a few numbers of the engine.

Here: what a need is, who refuses it, and what weights and cache take at the least. `needs.py` adds up what each kind of
run holds; `whybox.size` counts what a model is, for any machine.
Axes: b batch · q query · k key · h query head · g kv head · d head width · c model width · f MLP width · v vocabulary.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from whybox.engine.trace import Wish
from whybox.errors import CapacityError
from whybox.spec import Layer, Spec
from whybox.weights import parameters

# The model alone


def weights_bytes(spec: Spec, bits: float) -> int:
    """parameters · bits / 8. Bits of one weight: 32, 16, 8, or with a block's scales 4.5 (Q4_0), 8.5 (Q8_0)."""
    return math.ceil(sum(map(math.prod, parameters(spec).values())) * bits / 8)


def cache_bytes_per_token(spec: Spec, bytes_each: int = 2) -> int:
    """Σ over layers of 2 · g · d · bytes: one key and one value for every kv head."""
    return sum(2 * layer.attention.kv_heads * layer.attention.head_width for layer in spec.layers) * bytes_each


# A run


@dataclass(frozen=True)
class Run:
    """The numbers that a run's memory follows from.

    tokens: fed to each sequence in this run. past: already in its cache. batch: sequences at a time.
    chunk: tokens of each that are computed at a time (None: all). tail: rows of logits of each (None: all).
    see: sites to keep. bytes_each: of an activation, a key, a value, a logit.
    shown: bytes of a number that is given away, where that is a copy; 0 where it is the run's own array.
    weights: bytes of them that the run itself brings in, such as those decoded as they are used.
    scores: arrays of scores [h q k] that the attention of a layer holds at once; 0 for a kernel that holds none.
    bench: bytes in which such a kernel works. statistics: numbers kept for every head and query.
    lets_go: whether what leaves a window leaves memory too. turned: bytes of the head as the way back of a gradient
    takes it; 0 where it takes it as it lies.
    """

    tokens: int
    past: int = 0
    batch: int = 1
    chunk: int | None = None
    tail: int | None = None
    see: tuple[Wish, ...] = ()
    bytes_each: int = 4
    shown: int = 0
    weights: int = 0
    scores: int = 1
    bench: int = 0
    statistics: int = 0
    lets_go: bool = True
    turned: int = 0

    @property
    def flying(self) -> int:
        """b · chunk: rows that are computed at a time."""
        return self.batch * min(self.tokens, self.chunk or self.tokens)

    @property
    def rows(self) -> int:
        """Rows of logits of each sequence."""
        return min(self.tokens, self.tail or self.tokens)

    @property
    def in_pieces(self) -> bool:
        """Whether a sequence goes through the layers in several chunks."""
        return self.flying < self.batch * self.tokens

    @property
    def wide(self) -> int:
        """Bytes of a number while norms and rotations reckon with it: float32 at least."""
        return max(self.bytes_each, 4)

    def keys(self, layer: Layer) -> int:
        """Keys that the last query of a layer is compared with; a window lets the past go, not what is in flight."""
        window = layer.attention.window
        return self.tokens + (self.past if window is None else min(self.past, window))


Term = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One line of a need: a sum of products of whole numbers, in bytes. way_out: what makes it smaller.

    own: whether the run asks for it; else it follows from the others.
    """

    name: str
    formula: str
    terms: tuple[Term, ...]
    way_out: str
    own: bool = True

    @property
    def nbytes(self) -> int:
        return sum(map(math.prod, self.terms))

    def __str__(self) -> str:
        return f"{self.name}: {self.formula} = {products(self.terms)} = {spoken(self.nbytes)}"


def products(terms: Iterable[Term]) -> str:
    """A sum of products as it is read, equal ones once: 15 × (512 · 2 · 256) + 3 × (2,000 · 2 · 256)."""
    return " + ".join(_counted(term, count) for term, count in Counter(map(tuple, terms)).items())


def _counted(term: Term, count: int) -> str:
    shown = " · ".join(f"{factor:,}" for factor in term)
    if count == 1:
        return shown
    return f"{count} × {shown}" if len(term) == 1 else f"{count} × ({shown})"


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
        return max(self.items, key=lambda item: (item.own, item.nbytes))

    def __str__(self) -> str:
        return "\n".join([*map(str, self.items), f"in all: {spoken(self.total)}"])


def _bytes_of(items: Iterable[Item]) -> int:
    return sum(item.nbytes for item in items)


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
