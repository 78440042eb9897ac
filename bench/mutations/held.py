"""Faults of files and ranges: blocks read by another layout, a corrupt tensor, numbers beyond float16."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from bench.mutations.ours import LOGITS, ROWS, SITES, against, ids_of, live
from bench.mutations.row import Planted, Row
from bench.mutations.subjects import model_of
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.layouts import roles_of
from whybox.compare.prompts import Text
from whybox.compare.sides import Live, emulated
from whybox.engine.reference import ReferenceEngine
from whybox.formats import GgufFile
from whybox.model import Model
from whybox.testing import faults
from whybox.testing.faults import Fault
from whybox.testing.faults.layouts import NIBBLE_ORDER, NIBBLES_EXCHANGED, SCALE_PLACE, Layout, misread

FILES = "both files"
CORRUPT = slice(16, 48)
OVERFLOW = "The first number beyond 65,504 in float16; the same site, layer and token where ours is that large."


def rows() -> Iterator[Row]:
    """All of them."""
    yield misread_row("smollm2", NIBBLE_ORDER, "Q4_1", SITES)
    yield misread_row("smollm2", NIBBLES_EXCHANGED, "Q4_1", LOGITS)
    yield misread_row("smollm2", SCALE_PLACE, "Q4_1", SITES)
    yield misread_row("smollm2", SCALE_PLACE, "Q4_1", FILES)
    yield misread_row("smollm2", NIBBLE_ORDER, "blk.3.ffn_up.weight", FILES)
    yield misread_row("smollm2", NIBBLE_ORDER, "blk.3.ffn_up.weight", SITES)
    yield misread_row("gemma3-270m", NIBBLE_ORDER, "Q5_0", SITES)
    yield misread_row("gemma3-270m", SCALE_PLACE, "Q4_K", SITES)
    for name, role in (("smollm2", "layers.12.down"), ("llama", "layers.1.value"), ("gemma2", "layers.2.up")):
        yield corrupt_row(name, role, FILES)
        yield corrupt_row(name, role, SITES)
    yield overflow_row("gemma3-270m", ("fp16-overflow",))
    yield overflow_row("smollm2", ())


def misread_row(name: str, layout: Layout, which: str, seen: str) -> Row:
    """which: a type of block, or one tensor."""
    what = f"{layout.what}: {which}"
    planted = Planted(what, (layout.name,), layout.why, by="file")
    return Row(name, "single", planted, seen, partial(_compared, name, partial(_misread, name, layout, which), seen))


def _misread(name: str, layout: Layout, which: str) -> Fault:
    model = model_of(name)
    assert isinstance(model.file, GgufFile)
    return misread(model.file, layout, roles_of(model, which), which)


def corrupt_row(name: str, role: str, seen: str) -> Row:
    """From both files it is named; from a recording it is placed alone: whose weights are other, nobody can say."""
    fault = faults.corrupt(role, slice(0, 1) if "value" in role else CORRUPT)
    planted = Planted(fault.what, (fault.name,), fault.why, by="file")
    return Row(name, "single", planted, seen, partial(_compared, name, lambda: fault, seen))


def _compared(name: str, fault: Callable[[], Fault], seen: str) -> Comparison:
    model = model_of(name)
    other = faulty(model, fault())
    if seen == FILES:
        return live(name, Live("theirs", other))
    shown = Live("theirs", other).observe(ids_of(name), ROWS)
    if seen == LOGITS:
        shown = replace(shown, sites={("logits", None): shown.sites["logits", None]})
    return against(name, shown)


def faulty(model: Model, fault: Fault) -> Model:
    """The model with the fault's weights, as if its file held them."""
    _, weights = fault.changed(model.spec, model.weights)
    return replace(model, engine=ReferenceEngine(model.spec, weights), weights=weights)


CAPITAL = "The capital of France is"


def overflow_row(name: str, names: tuple[str, ...]) -> Row:
    """The model in float16 against itself in float32."""
    what = "float16 for float32" if names else "none: float16, whose range suffices"
    planted = Planted(what, names, OVERFLOW if names else "No number comes near 65,504.", by="range")
    return Row(name, "single" if names else "self", planted, "a side that runs", partial(_in_fp16, name))


def _in_fp16(name: str) -> Comparison:
    model = model_of(name)
    text = Text("capital", tuple(model.prompt(CAPITAL).ids), CAPITAL)
    return compare(Live(name, model), Live(f"{name}@fp16", emulated(model)), Asked((text,), 0))
