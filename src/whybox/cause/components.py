"""The parts of a model that an experiment names: heads, MLPs, layers, positions, or any selection of any site."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from whybox.engine.edit import Index
from whybox.engine.trace import Wish
from whybox.sites import BY_NAME
from whybox.spec import Spec


@dataclass(frozen=True, order=True)
class Head:
    """What one head writes, before the output projection mixes all heads (`head_out`)."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"head {self.layer}.{self.head}"


@dataclass(frozen=True, order=True)
class Mlp:
    """What an MLP adds to the residual stream (`mlp_out`)."""

    layer: int

    def __str__(self) -> str:
        return f"MLP {self.layer}"


@dataclass(frozen=True, order=True)
class Layer:
    """Everything that a layer adds: `attn_out` and `mlp_out`."""

    layer: int

    def __str__(self) -> str:
        return f"layer {self.layer}"


@dataclass(frozen=True, order=True)
class Positions:
    """What enters layer 0 at some positions (`embed`)."""

    rows: tuple[int, ...]

    def __str__(self) -> str:
        return "positions " + " ".join(map(str, self.rows))


@dataclass(frozen=True)
class Selection:
    """Any selection of any site, by axis letters as in an edit: Selection("query", 3, (("h", 4),))."""

    site: str
    layer: int | None = None
    at: tuple[tuple[str, Index], ...] = ()

    def __str__(self) -> str:
        where = "".join(f" {letter}={index}" for letter, index in self.at)
        return f"{self.site}{'' if self.layer is None else f' {self.layer}'}{where}"

    @property
    def wish(self) -> Wish:
        return self.site if self.layer is None else (self.site, self.layer)

    def at_rows(self, rows: Index | None) -> "Selection":
        """The same at some positions, where it names none of its own."""
        letter = "q" if "q" in BY_NAME[self.site].axes else "k"
        if rows is None or letter in dict(self.at):
            return self
        return Selection(self.site, self.layer, tuple(sorted((*self.at, (letter, rows)), key=lambda pair: pair[0])))


Component = Head | Mlp | Layer | Positions | Selection
Group = tuple[Component, ...]
"""Components that one experiment changes together."""


def selections(component: Component, rows: Index | None = None) -> tuple[Selection, ...]:
    """Where a component's value stands, at all positions or at some."""
    match component:
        case Head(layer, head):
            return (Selection("head_out", layer, (("h", head),)).at_rows(rows),)
        case Mlp(layer):
            return (Selection("mlp_out", layer).at_rows(rows),)
        case Layer(layer):
            return tuple(Selection(site, layer).at_rows(rows) for site in ("attn_out", "mlp_out"))
        case Positions(named):
            return (Selection("embed", None, (("q", named),)),)
        case Selection():
            return (component.at_rows(rows),)
        case _:
            assert_never(component)


def first_layer(component: Component) -> int:
    """The first layer in which something is changed."""
    match component:
        case Positions():
            return 0
        case Selection(_, layer):
            return 0 if layer is None else layer
        case _:
            return component.layer


def wishes(group: Group) -> tuple[Wish, ...]:
    """The sites that hold the values of these components, and of those that could stand in for them in a null."""
    return tuple(dict.fromkeys(wish for component in group for wish in _wishes(component)))


def _wishes(component: Component) -> Iterator[Wish]:
    for found in selections(component):
        yield found.site if isinstance(component, Mlp | Layer) else found.wish


def named(group: Group) -> str:
    return " + ".join(map(str, group))


def all_heads(spec: Spec) -> Iterator[Head]:
    """Every head, layer by layer."""
    for layer, held in enumerate(spec.layers):
        yield from (Head(layer, head) for head in range(held.attention.heads))


def all_mlps(spec: Spec) -> Iterator[Mlp]:
    yield from map(Mlp, range(len(spec.layers)))


def all_queries(spec: Spec) -> Iterator[Selection]:
    """The query of every head."""
    for head in all_heads(spec):
        yield Selection("query", head.layer, (("h", head.head),))


def all_keys(spec: Spec) -> Iterator[Selection]:
    """Every key head; all query heads of its group read it."""
    for layer, held in enumerate(spec.layers):
        yield from (Selection("key", layer, (("g", group),)) for group in range(held.attention.kv_heads))
