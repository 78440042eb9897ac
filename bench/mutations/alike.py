"""Identical pairs: one model run in another way, in every precision. Whatever is found there would be an accusation."""

from collections.abc import Iterator
from functools import partial

from bench.mutations.ours import ids_of
from bench.mutations.row import Planted, Row
from bench.mutations.subjects import DRAWN, model_of
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.prompts import Text
from whybox.compare.sides import Live, side_of

TINY_WAYS = (
    "torch",
    "torch,tiled",
    "torch,sdpa",
    "torch,batch=4",
    "torch,chunk=7",
    "cache",
    "torch,bf16",
    "torch,int8",
)
WAYS = ("torch", "torch,tiled", "torch,sdpa", "cache", "torch,bf16", "torch,int8", "torch,int4")
GEMMA_WAYS = ("torch", "torch,sdpa", "cache", "torch,bf16", "torch,int8")


def rows() -> Iterator[Row]:
    """All of them."""
    yield from (_row(named, way) for name in DRAWN for named in (name, f"{name}#1") for way in TINY_WAYS)
    yield from (_row("smollm2", way) for way in WAYS)
    yield from (_row("gemma3-270m", way) for way in GEMMA_WAYS)


def _row(name: str, way: str) -> Row:
    planted = Planted(f"none: {way}", (), "The same weights; what differs is rounding.", by="nothing")
    return Row(name, "self", planted, "a side that runs", partial(_compared, name, way))


def _compared(name: str, way: str) -> Comparison:
    ours = Live(name, model_of(name))
    theirs = side_of(f"@{way}", model_of, ours)
    assert isinstance(theirs, Live)
    family = name.partition("#")[0]
    return compare(ours, theirs, Asked((Text("ids", ids_of(family), None),), 4))
