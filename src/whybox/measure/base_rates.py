"""How often each code fires on ordinary prompts with right answers: measured once, shipped as data.

`python -m bench.rates` measures it anew (`whybox.measure.ordinary` says on which prompts).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

STANDARD = "smollm2"  # whose rates stand in for a model that was not measured


@dataclass(frozen=True)
class Rate:
    """hits of n prompts. model: where it was measured; own: whether that is the very file that is looked at."""

    model: str
    hits: int
    n: int
    own: bool

    @property
    def share(self) -> float:
        return self.hits / self.n


@dataclass(frozen=True)
class Measured:
    """The rates of one model file. fired: code → how often, of `n` prompts."""

    model: str
    digest: str
    n: int
    fired: Mapping[str, int]


def rate(code: str, digest: str) -> Rate | None:
    """The rate of a code for the file with this digest, else that of the standard model; None for one not measured."""
    known = measured()
    own = next((each for each in known if each.digest == digest), None)
    found = own or next((each for each in known if each.model == STANDARD), None)
    if found is None or code not in found.fired:
        return None
    return Rate(found.model, found.fired[code], found.n, own is not None)


@cache
def measured() -> tuple[Measured, ...]:
    """What is shipped."""
    text = (files("whybox.measure") / "data" / "base_rates.json").read_text(encoding="utf-8")
    models = json.loads(text)["models"]
    return tuple(Measured(m["model"], m["digest"], m["n"], m["fired"]) for m in models)
