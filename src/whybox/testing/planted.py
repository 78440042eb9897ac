"""Models whose failure is known by construction, with the case that shows it and the verdict that it must get.

Every row takes a seed (entities, values, places and fillers are drawn anew) and decoys. Log-odds LD are z[right] −
z[wrong] behind the prompt, in nats; a value written with weight 1 has a logit of 20.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whybox.items import Case, CaseInstance
from whybox.items.seeds import item_generator
from whybox.model import Model
from whybox.testing.assembly import model_of
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import Decoys, with_decoys
from whybox.text.prompt import Part


@dataclass(frozen=True)
class Expected:
    """The verdict (code, detail) and the numbers by name; LD in nats, masses as shares."""

    code: str
    detail: str | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Planted:
    """A model, a case and what must be found.

    heads, mlps: where the mechanism sits. sound: the same file on a sound engine, where the fault is the engine's.
    fact: the part that supplies what is missing.
    """

    name: str
    model: Model
    case: Case
    expected: Expected
    heads: Mapping[str, Place] = field(default_factory=dict)
    mlps: Mapping[str, int] = field(default_factory=dict)
    sound: Model | None = None
    fact: Part | None = None

    @property
    def instance(self) -> CaseInstance:
        """The case itself, its slots filled."""
        return self.case.filled()


def build(name: str, seed: int, circuit: Circuit, decoys: Decoys) -> Model:
    """The circuit among its decoys."""
    return model_of(name, with_decoys(circuit, decoys, item_generator(seed, "decoys", name)))
