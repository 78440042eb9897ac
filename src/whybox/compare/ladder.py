"""What must be alike before numbers are compared: weights, text, ids, positions. In this order; the first that is not
alike says what kind of comparison it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whybox.compare.described import gaps, same_shape, unrelated
from whybox.compare.fed import ids_apart, templates_apart
from whybox.compare.layouts import misread_tensor
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text
from whybox.compare.recorded import Recorded
from whybox.compare.sides import Computed, Live
from whybox.errors import UsageError
from whybox.model import Model

State = Literal["same", "different", "unknown"]


@dataclass(frozen=True)
class Rung:
    """check: shape | weights | template | ids | positions | mask | sites, in that order. detail: what was found.

    sites: of a recording that was taken elsewhere than its names say.
    """

    check: str
    state: State
    detail: str = ""


def ladder(ours: Live, theirs: Computed, texts: Sequence[Text]) -> tuple[Rung, ...]:
    """UsageError for weights that have nothing to do with each other."""
    if isinstance(theirs, Recorded):
        return _recorded(ours, theirs)
    shape = same_shape(ours.model.spec, theirs.model.spec)
    if shape is not None:
        return (Rung("shape", "different", shape), _ids(ours.model, theirs.model, texts))
    return (
        Rung("shape", "same"),
        _weights(ours.model, theirs.model),
        _template(ours.model, theirs.model),
        _ids(ours.model, theirs.model, texts),
        Rung("positions", "same", "0, 1, 2 … on both sides"),
    )


def unlike(rungs: Sequence[Rung]) -> str | None:
    """Why these are not the same experiment, None where they are."""
    return next(
        (
            f"{r.check}: {r.detail}"
            for r in rungs
            if r.state == "different" and r.check in ("shape", "ids", "positions")
        ),
        None,
    )


def _weights(one: Model, other: Model) -> Rung:
    if one.engine.origin.is_of(other.engine.origin):
        return Rung("weights", "same", f"digest {one.file.digest()[:12]}")
    found = gaps(one.weights, other.weights)
    if unrelated(found, len(one.weights)):
        misread = misread_tensor(one, found[0].role, other.weights[found[0].role])
        if misread is not None:
            return Rung("weights", "different", misread.what)
        raise UsageError(
            f"{one.name} and {other.name} hold weights that have nothing to do with each other",
            "compare two runs of one model; for two models compare their answers: whybox run",
        )
    broken = ", ".join(each.role for each in found if not np.isfinite(each.gap))
    detail = f"{len(found)} of {len(one.weights)} tensors" + (f"; NaN or Inf in {broken}" if broken else "")
    return Rung("weights", "different" if found else "same", detail)


def _template(one: Model, other: Model) -> Rung:
    apart = templates_apart(one.tokenizer, other.tokenizer)
    if apart is None:
        return Rung("template", "unknown", "no chat template")
    return Rung("template", "different" if apart else "same", apart)


def _ids(one: Model, other: Model, texts: Sequence[Text]) -> Rung:
    for text in (text for text in texts if text.asked is not None):
        mine, theirs = text.ids, tuple(other.prompt(text.asked or "").ids)
        if mine != theirs:
            return Rung("ids", "different", ids_apart(mine, theirs, one.tokenizer))
    return Rung("ids", "same")


def _recorded(ours: Live, theirs: Recorded) -> tuple[Rung, ...]:
    model = ours.model
    rungs = []
    for prompt in theirs.prompts:
        if prompt.text is not None:
            mine = tuple(model.prompt(prompt.text).ids)
            if mine != prompt.seen.ids:
                rungs.append(Rung("ids", "different", ids_apart(mine, prompt.seen.ids, model.tokenizer)))
        if prompt.positions is not None and not np.array_equal(prompt.positions, np.arange(len(prompt.seen.ids))):
            rungs.append(Rung("positions", "different", _placed(prompt.positions, len(prompt.seen.ids))))
    known = any(prompt.text is not None for prompt in theirs.prompts)
    placed = any(prompt.positions is not None for prompt in theirs.prompts)
    alike = {
        "ids": Rung("ids", "same" if known else "unknown", "" if known else "no text was recorded"),
        "positions": Rung("positions", "same" if placed else "unknown", "" if placed else "none were recorded"),
    }
    found = {rung.check: rung for rung in reversed(rungs)}
    return (Rung("weights", "unknown", "a recording holds no weights"), *(alike | found).values())


def _placed(positions: np.ndarray, tokens: int) -> str:
    if positions.shape != (tokens,):
        return f"{positions.size} positions for {tokens} tokens"
    return f"{positions[:4].tolist()} … for 0, 1, 2, 3 …"


def mask(mine: Observation, seen: Observation) -> Rung:
    """Which keys a query gives weight to, where both sides show patterns: a key seen on one side alone."""
    shared = [key for key in mine.sites if key[0] == "pattern" and key in seen.sites]
    alike = [key for key in shared if mine.sites[key].shape == seen.sites[key].shape]
    if not alike:
        return Rung("mask", "unknown", "no patterns on both sides")
    for key in alike:
        one, other = (side.sites[key].max(axis=0) for side in (mine, seen))
        apart = ((one == 0) & (other > SEEN)) | ((one > SEEN) & (other == 0))
        if apart.any():
            query, at = map(int, np.argwhere(apart)[0])
            side = "first" if one[query, at] > 0 else "second"
            return Rung("mask", "different", f"layer {key[1]}: query {query} sees key {at} on the {side} side alone")
    return Rung("mask", "same")


SEEN = 1e-6
"""Weight of a key that no rounding makes of nothing."""
