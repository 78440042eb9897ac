"""What a short examination showed of a target, before anything was planned on it; kept in the file of the run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from whybox.probes.design import Ground
from whybox.suite import records
from whybox.suite.store import Store
from whybox.targets.target import Abilities, Ability, Target

NOTE = "examined"


@dataclass(frozen=True)
class Examined:
    """abilities: as they were found. cut: tokens from which on prompts silently lose an end; None where none was lost.

    calls: that it took. checks: what was looked at, as reports hold it.
    """

    abilities: Abilities
    cut: int | None = None
    calls: int = 0
    checks: tuple[Mapping[str, Any], ...] = ()

    def on(self, ground: Ground) -> Ground:
        """What plans are made on, with what was found in place of what the target says of itself."""
        return replace(ground, abilities=self.abilities, cut=self.cut)


def kept(store: Store, target: Target) -> Examined | None:
    """What the file holds of this target; None where nobody has looked yet."""
    text = store.note(_name(target))
    if text is None:
        return None
    data = records.parsed(text)
    found = {name: _ability(value) for name, value in data["abilities"].items()}
    return Examined(Abilities(**found), data["cut"], data["calls"], tuple(data["checks"]))


def keep(store: Store, target: Target, found: Examined) -> None:
    """For all later goes at this run: one plan, whatever the target would show the next time."""
    store.write_notes({_name(target): records.text(asdict(found))})


def _name(target: Target) -> str:
    return f"{NOTE} {target.identity.digest}"


def _ability(value: Any) -> Any:
    return Ability(**value) if isinstance(value, dict) else value
