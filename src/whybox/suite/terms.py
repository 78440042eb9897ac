"""What a plan follows from, in words: seed, targets, sizes, data. Plans that differ differ in one of these."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b

from whybox.items.generate import Item
from whybox.probes.design import Ground
from whybox.suite.behaviour import Behaviour
from whybox.targets.target import Target
from whybox.version import __version__

TERMS = "terms"
MOST_TOLD = 5

Terms = Mapping[str, Mapping[str, str]]
"""By section (`probes.order`, `targets.smollm2`), each field as it is written."""


def terms_of(
    suite: Behaviour, grounds: Mapping[str, Ground], targets: Mapping[str, Target]
) -> dict[str, dict[str, str]]:
    """Of a suite on its targets. Comments, gates and reports are none of it: they change no call."""
    file = suite.file
    run = {"temperature": file.run.temperature, "top_p": file.run.top_p, "stop": file.run.stop}
    run |= {} if file.run.seed is None else {"seed": file.run.seed}
    floor = {"items": file.run.floor.items, "times": file.run.floor.times}
    found: dict[str, Mapping[str, object]] = {"": {"seed": file.seed, "whybox": __version__}}
    found |= {f"targets.{name}": _target(target) for name, target in targets.items()}
    data = next((ground.data for ground in grounds.values()), {})
    found |= {f"data.{name}": {"items": len(items), "content": _digest(items)} for name, items in data.items()}
    found |= {f"probes.{name}": {"probe": design.NAME, **dict(design)} for name, design in suite.probes.items()}
    found |= {"run": run, "run.floor": floor}
    return {section: {field: _written(value) for field, value in each.items()} for section, each in found.items()}


def differences(there: Terms, here: Terms) -> list[str]:
    """`seed: 0 there, 1 here`; of many the first few, and how many more. Nothing where one side was never written."""
    if not there or not here:
        return []
    told = list(_differences(there, here))
    more = len(told) - MOST_TOLD
    return told if more <= 0 else [*told[:MOST_TOLD], f"and {more} more"]


def _differences(there: Terms, here: Terms) -> Iterator[str]:
    for section in dict.fromkeys([*there, *here]):
        if section not in here:
            yield f"{section} only there"
        elif section not in there:
            yield f"{section} only here"
        else:
            a, b = there[section], here[section]
            for field in dict.fromkeys([*a, *b]):
                if a.get(field) != b.get(field):
                    name = f"{section}.{field}" if section else field
                    yield f"{name}: {a.get(field, 'nothing')} there, {b.get(field, 'nothing')} here"


def _target(target: Target) -> dict[str, object]:
    identity = target.identity
    return {"kind": identity.kind, "model": identity.model, **dict(identity.details)}


def _digest(items: tuple[Item, ...]) -> str:
    """A short name of what the items hold."""
    return blake2b(repr([item.instance for item in items]).encode(), digest_size=6).hexdigest()


def _written(value: object) -> str:
    return "none" if value is None else str(value)
