"""Colours of pictures: the light theme of the pages, read from their style sheet, so that both are one."""

import re
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float, UInt8

STOPS = ("stop-0", "stop-1", "stop-2", "stop-3", "stop-4")


@cache
def light(name: str) -> str:
    """`#rrggbb` of a variable of the style sheet in the light theme."""
    found = re.search(rf"--{name}: light-dark\((#[0-9a-fA-F]{{6}})", _style())
    if found is None:
        raise KeyError(name)
    return found[1]


def segment_fill(colour: str) -> str:
    """The colour of a segment's class (`seg-0` … `seg-7`, grey for all others)."""
    return light(colour) if colour[4:].isdigit() else light("seg-none")


def shares(values: Float[np.ndarray, "rows columns"], most: float) -> UInt8[np.ndarray, "rows columns 4"]:
    """Colours of shares on the sequential scale, √(value ÷ most); NaN is transparent."""
    known = np.nan_to_num(np.sqrt(np.clip(values / (most or 1.0), 0, 1)))
    places = np.linspace(0, 1, len(STOPS))
    stops = np.array([rgb(light(name)) for name in STOPS])
    colour = np.stack([np.interp(known, places, stops[:, i]) for i in range(3)], axis=-1)
    seen = np.where(np.isnan(values), 0, 255)[..., None]
    return np.concatenate([colour.round(), seen], axis=-1).astype(np.uint8)


def rgb(colour: str) -> tuple[int, int, int]:
    """(red, green, blue) of `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def _style() -> str:
    return files("whybox.report.html").joinpath("assets", "base.css").read_text(encoding="utf-8")
