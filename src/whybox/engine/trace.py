"""What a run leaves behind, and the protocol that every engine follows.

An engine calls `Tap` at every site, in the order of `whybox.sites.SITES`; the tap applies the edits, keeps what was
asked for, and lets the rest pass. Engines do not know who watches.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from whybox.engine.between import Pausing
from whybox.engine.edit import Edit, apply, check, edits_of, first_bad_row, row_axis, site_axes
from whybox.engine.read import Reading
from whybox.engine.wishes import site_and_layers, whole, whole_numbers
from whybox.errors import NonFiniteError, PromptError, SiteError, UsageError
from whybox.parts.mask import visible
from whybox.sites import exists_in, require_has, require_layer, require_site
from whybox.spec import Spec
from whybox.statistics.head_table import HeadTable
from whybox.statistics.rows import AttentionRows, AttentionWish
from whybox.text.prompt import Prompt
from whybox.weights import Origin

if TYPE_CHECKING:
    from whybox.engine.gradient import Gradient

Array = np.ndarray
Wish = str | tuple[str, int | Iterable[int]]
Key = tuple[str, int | None]
Places = Mapping[str, Array]


@runtime_checkable
class LayerSlots(Protocol):
    """One layer's keys and values: an immutable value of the engine that made it."""

    @property
    def positions(self) -> Array: ...

    def __len__(self) -> int: ...

    def crop(self, length: int, window: int | None = None) -> "LayerSlots": ...

    def evict(self, positions: Array) -> "LayerSlots": ...


@dataclass(frozen=True)
class Cache:
    """Keys (rotated) and values of all layers. `seen` tokens were fed so far; the next one has position `seen`.

    rope_length: the length for which length-dependent RoPE was chosen, fixed for the whole run. ids: the tokens.
    """

    layers: tuple[LayerSlots, ...]
    seen: int
    rope_length: int
    ids: tuple[int, ...] = ()

    def crop(self, length: int, spec: Spec) -> "Cache":
        """As it was when `length` tokens had been seen: the later ones are taken back.

        Raises UsageError where a window has rolled over positions that the next token would see.
        """
        windows = (layer.attention.window for layer in spec.layers)
        kept = tuple(slots.crop(length, window) for slots, window in zip(self.layers, windows, strict=True))
        return Cache(kept, length, self.rope_length, self.ids[:length])


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """A finished run. `trace["pattern", 5]` is a site of a layer, `trace["final"]` one outside layers.

    ids: tokens fed in this run. start: absolute position of the first of them. rows: positions for which `logits`
    [q v] were computed. changed: for each edit, whether it changed any element. statistics: of each layer's attention,
    None unless asked for. origin: of the weights that it was computed with. All arrays are read-only.
    """

    spec: Spec
    ids: tuple[int, ...]
    start: int
    sites: Mapping[Key, Array]
    logits: Array
    rows: range
    edits: tuple[Edit, ...]
    changed: tuple[bool, ...]
    cache: Cache
    engine: str
    precision: str
    kernel: str
    prompt: Prompt | None = None
    label: Callable[[int], str] = "#{}".format
    statistics: tuple[AttentionRows, ...] | None = None
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        for array in (self.logits, *self.sites.values()):
            array.flags.writeable = False

    def __repr__(self) -> str:
        kept = ", ".join(dict.fromkeys(name for name, _ in self.sites)) or "no sites"
        return f"<Trace of {len(self.ids)} tokens: {kept}>"

    def _repr_html_(self) -> str:
        """In a notebook: what was run and kept, the most probable next tokens, and the heads where they are known."""
        told = [f"<p><code>{escape(repr(self))}</code> {escape(self.engine)} · {escape(self.precision)}</p>"]
        told += [f"<div><code>{escape(label)}</code> {probability:.3g}</div>" for label, probability in self.next(5)]
        known = self.statistics is not None or any(name == "pattern" for name, _ in self.sites)
        return "".join(told) + (self.heads()._repr_html_() if known else "")

    def __getitem__(self, key: str | Key) -> Array:
        name, layer = located(key, self.spec)
        if (name, layer) not in self.sites:
            raise SiteError(f"{name} was not kept in this run", f'run again with see=["{name}"]')
        return self.sites[name, layer]

    @property
    def end(self) -> int:
        """Position after the last token."""
        return self.start + len(self.ids)

    @property
    def rope_length(self) -> int:
        """Tokens of the whole run for which length-dependent RoPE was chosen."""
        return self.cache.rope_length

    @property
    def finite(self) -> bool:
        """Whether the logits, and the statistics where they are kept, are free of NaN and Inf."""
        records = self.statistics or ()
        return bool(np.isfinite(self.logits).all()) and all(np.isfinite(rows.entropy).all() for rows in records)

    def log_probs(self, row: int = -1) -> Array:
        """Log-probabilities [v] of the next token at one of the computed rows (default: the last), float64."""
        count = len(self.rows)
        if not -count <= whole("row", row) < count:
            raise SiteError(f"row {row}: this run has {count} rows of logits, 0 … {count - 1}", "-1 is the last")
        return log_softmax(self.logits[row])

    def constant(self, values: Array) -> Array:
        """Given numbers in the kind of this run's own arrays, so that a read can reckon with both."""
        return values

    def next(self, count: int = 10) -> list[tuple[str, float]]:
        """The `count` most probable next tokens as (label, probability)."""
        return [(self.label(i), probability) for i, probability in self.next_ids(count)]

    def next_ids(self, count: int = 10) -> list[tuple[int, float]]:
        """The `count` most probable next tokens (id, probability), best first; ties by lower id."""
        log_probs = self.log_probs()
        best = np.argsort(-log_probs, kind="stable")[: whole("count", count, 0)]
        return [(int(i), float(np.exp(log_probs[i]))) for i in best]

    def visible(self, layer: int) -> Array:
        """Which keys each query of this run could see in a layer [q k]; for runs that began at position 0."""
        if self.start:
            raise SiteError(f"this run began at position {self.start}", "run the whole prompt without a cache")
        places = np.arange(len(self.ids))
        return visible(places, places, self.spec.layers[layer].attention.window)

    @property
    def attention(self) -> tuple[AttentionRows, ...]:
        """Statistics of each layer's attention, for every head and query."""
        if self.statistics is None:
            raise SiteError("attention statistics were not kept in this run", "run again with statistics=True")
        return self.statistics

    def heads(self) -> HeadTable:
        """One row per head, layer by layer: the columns of `whybox.statistics.head_table`.

        Needs a run with statistics=True, or with see=["pattern"]: then layers that were not kept are left out.
        """
        layers = [layer for layer in range(len(self.spec.layers)) if ("pattern", layer) in self.sites]
        if not layers and self.statistics is not None:
            return HeadTable.of(enumerate(self.statistics))
        if not layers:
            self["pattern", 0]
        return HeadTable.of_patterns((layer, self["pattern", layer], self.visible(layer)) for layer in layers)


def log_softmax(logits: Array) -> Array:
    """log softmax over the last axis, in float64: z − max − ln Σ exp(z − max)."""
    z = logits.astype(np.float64)
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


@runtime_checkable
class Engine(Pausing, Protocol):
    """Runs token ids and returns a Trace. `tail` limits `final` and `logits` to the last rows.

    statistics: what to keep of every layer's attention, without keeping its pattern.
    """

    @property
    def name(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def precision(self) -> str: ...

    @property
    def spec(self) -> Spec: ...

    @property
    def origin(self) -> Origin:
        """Of its weights."""

    def run(
        self,
        ids: Sequence[int],
        see: Iterable[Wish] = (),
        edits: Sequence[Edit] = (),
        cache: Cache | None = None,
        tail: int | None = None,
        statistics: AttentionWish | None = None,
    ) -> Trace: ...

    def fresh_cache(self, length: int) -> Cache: ...

    def unembed(self, residual: Array) -> Array: ...

    def onward(self, entry: Array, layers: range, sites: Sequence[str], length: int) -> Mapping[str, Array]:
        """Sites of the last of these layers, from the stream [q c] that entered the first; length: settles RoPE."""

    def counterfactuals(
        self, base: Trace, changes: Sequence["Change"], see: Iterable[Wish] = ()
    ) -> Iterator[tuple[int, Trace]]:
        """The run of each change, with its index, once each and in any order. The base run's edits hold in all."""

    def gradient(self, base: Trace, read: Reading, sites: Iterable[Wish]) -> "Gradient":
        """∂read/∂site in the run that `base` is. UsageError where the engine does not differentiate."""

    def write(self, drafts: Sequence["Draft"], choose: "Choose") -> Sequence[tuple[bool, ...]]:
        """Goes on with each draft, token by token, as `choose` says; in any order, several at a time.

        Gives back, for each draft and each of its edits, whether the edit changed any element.
        """

    def answer_rows(self, answers: Sequence["Answer"]) -> Iterator[tuple[int, Array]]:
        """(index, logits [n v] of the rows that choose its n ids) of each answer, once each and in any order."""


@dataclass
class Tap:
    """One run's watcher: every site passes through `at`, which edits, keeps and, when asked, checks it.

    records: of each layer's attention, where statistics are asked for.
    """

    spec: Spec
    see: Iterable[Wish] = ()
    edits: Sequence[Edit] = ()
    strict: bool = False
    statistics: AttentionWish | None = None
    records: list[AttentionRows] = field(default_factory=list)
    kept: dict[Key, Array] = field(default_factory=dict)
    changed: list[bool] = field(default_factory=list)
    largest: str = "nothing"

    def __post_init__(self) -> None:
        for edit in self.edits:
            check(edit, self.spec)
        self.changed = [False] * len(self.edits)
        self._wanted = wanted(self.see, self.spec)
        self._edited = {edit.site for edit in self.edits}

    def at(self, site: str, layer: int | None, value: Array, places: Places, visible: Array | None = None) -> Array:
        """The value that goes on from here; `places` are the absolute positions of the rows of its axes q and k."""
        if site in self._edited:
            value = self._edit(site, layer, value, places, visible)
        if self.strict:
            self._require_finite(site, layer, value, places)
        if (site, layer) in self._wanted:
            kept = value.view()
            kept.flags.writeable = False
            self.kept[site, layer] = kept
        return value

    def _edit(self, site: str, layer: int | None, value: Array, places: Places, visible: Array | None) -> Array:
        axes = site_axes(site, None if layer is None else self.spec.layers[layer].mlp)
        for i, edit in enumerate(self.edits):
            if edit.touches(site, layer):
                value, changed = apply(edit, value, axes, places, visible)
                self.changed[i] |= changed
        return value

    def _require_finite(self, site: str, layer: int | None, value: Array, places: Places) -> None:
        axes = site_axes(site, None if layer is None else self.spec.layers[layer].mlp)
        row = first_bad_row(site, value, axes)
        if row is not None:
            raise NonFiniteError(site, layer, int(places[axes[row_axis(axes)]][row]), self.largest, OVERFLOW)
        self.largest = f"largest |{site}| was {np.abs(value[np.isfinite(value)]).max(initial=0):.6g}"


OVERFLOW = "range overflow, or a file with such values: use fp32 (or bf16), and check the file's digest"


def located(key: str | Key, spec: Spec) -> Key:
    """A site as it is named on a trace, or a SiteError: "final", ("pattern", 5)."""
    match key:
        case str() as name:
            layer = None
        case (str() as name, layer):
            pass
        case _:
            raise SiteError(f"expected a site, or a site and its layer, found {key!r}", 'such as trace["pattern", 5]')
    per_layer = require_site(name, spec).per_layer
    if per_layer and layer is None:
        raise SiteError(f"{name} exists in every layer", f'ask for one: trace["{name}", 0]')
    if not per_layer and layer is not None:
        raise SiteError(f"{name} is not inside a layer", f'ask without one: trace["{name}"]')
    return name, None if layer is None else require_layer(whole("layer", layer), spec)


def wanted(see: Iterable[Wish], spec: Spec) -> set[Key]:
    """Wishes ("pattern", or ("pattern", 5), or ("pattern", (5, 6))) as the set of (site, layer)."""
    keys: set[Key] = set()
    for wish in see:
        name, layers = site_and_layers(wish)
        site = require_site(name, spec)
        if not site.per_layer:
            if layers is not None:
                raise SiteError(f"{name} is not inside a layer, so it takes no layer")
            keys.add((name, None))
            continue
        if layers is None:
            keys |= {(name, layer) for layer in range(len(spec.layers)) if exists_in(name, spec.layers[layer])}
            continue
        for layer in layers:
            require_has(name, layer, spec)
            keys.add((name, layer))
    return keys


@dataclass(frozen=True)
class Change:
    """A counterfactual: edits, other ids, another continuation, or any of these jointly; lists become tuples."""

    edits: tuple[Edit, ...] = ()
    ids: tuple[int, ...] | None = None
    continuation: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "edits", edits_of(self.edits))
        object.__setattr__(self, "ids", None if self.ids is None else whole_numbers("ids", self.ids))
        object.__setattr__(self, "continuation", whole_numbers("continuation", self.continuation))

    def text(self, base: tuple[int, ...]) -> tuple[int, ...]:
        """The ids that its run feeds, given those of the base run."""
        return (base if self.ids is None else self.ids) + self.continuation

    def require_known(self, vocab: int) -> None:
        """PromptError for ids that the vocabulary lacks."""
        for token in (*(self.ids or ()), *self.continuation):
            if not 0 <= token < vocab:
                raise PromptError(f"id {token} is outside the vocabulary of {vocab} ids")


def changes_of(given: object) -> tuple[Change, ...]:
    """Changes in a row. UsageError for what is none."""
    found: tuple[object, ...] = tuple(given) if isinstance(given, Iterable) else (None,)
    changes = tuple(each for each in found if isinstance(each, Change))
    if len(changes) < len(found):
        raise UsageError(f"changes: expected a list of changes, found {given!r}", "such as [Change(edits=[…])]")
    return changes


@dataclass(frozen=True)
class Answer:
    """Ids of which those from `start` on answer the ones before: one id at least on both sides."""

    ids: tuple[int, ...]
    start: int

    @property
    def rows(self) -> int:
        """Rows that choose an id of the answer: those of the ids before them."""
        return len(self.ids) - self.start


@dataclass(frozen=True)
class Draft:
    """Ids to go on with, by `count` tokens at most. Edits hold at every step."""

    ids: tuple[int, ...]
    count: int
    edits: tuple[Edit, ...] = ()


Read = Callable[[Trace], float | Array]
Choose = Callable[[Sequence[int], Array], Sequence[int | None]]
"""Indices of drafts, and the logits [b v] behind each → the ids that they go on with; None for one that is finished."""
