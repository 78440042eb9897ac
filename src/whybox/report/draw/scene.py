"""A picture as data: a few kinds of mark on a ground, in CSS pixels, y downwards."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import UInt8

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A filled rectangle; with `line` an outline of that colour instead."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    line: bool = False


@dataclass(frozen=True)
class Shape:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    fill: str


@dataclass(frozen=True)
class Words:
    """A line of text around y; `upright` text reads from bottom to top."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Anchor = "start"
    bold: bool = False
    upright: bool = False


@dataclass(frozen=True, eq=False)
class Cells:
    """A grid of colours over a rectangle, each a flat cell."""

    x: float
    y: float
    width: float
    height: float
    colours: UInt8[np.ndarray, "rows columns 4"]


@dataclass(frozen=True)
class Hatch:
    """Diagonal lines over a rectangle: masked, or not computed."""

    x: float
    y: float
    width: float
    height: float
    fill: str


Mark = Box | Shape | Words | Cells | Hatch


@dataclass(frozen=True, eq=False)
class Scene:
    """Marks on a ground, the later over the earlier. title: said by screen readers."""

    width: float
    height: float
    ground: str
    marks: tuple[Mark, ...]
    title: str
