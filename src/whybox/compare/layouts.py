"""Quantised blocks read by another layout, as suspects: imposed on our file's bytes, whoever made the other side."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from whybox.compare.described import felt_by
from whybox.compare.suspects import Suspect
from whybox.formats import GgufFile
from whybox.model import Model
from whybox.testing.faults import Fault
from whybox.testing.faults.layouts import LAYOUTS, misread


def layouts(model: Model) -> Iterator[Suspect]:
    """Of every type of block that the file has: all its tensors misread, then those of one kind alone."""
    file = model.file
    if not isinstance(file, GgufFile):
        return
    for layout in LAYOUTS:
        for kind in layout.types:
            roles = roles_of(model, kind)
            inside = [role for role in roles if role.startswith("layers.")]
            groups = {f"all {kind} tensors of layers": inside, f"all {kind} tensors": roles}
            groups |= {f"{own}, {kind}": some for own, some in _by_kind(roles).items()}
            for of, some in groups.items():
                if some:
                    yield _suspect(misread(file, layout, some, of), some)


def roles_of(model: Model, which: str) -> list[str]:
    """What the tensors of a type, or the tensor of that name, fill."""
    table = model.file.tensors
    return [role for name, _, roles in model.weights.ledger if which in (name, table[name].type) for role in roles]


def _suspect(fault: Fault, roles: Iterable[str]) -> Suspect:
    return Suspect(fault, tuple(dict.fromkeys(site for role in roles for site in felt_by(role))))


def _by_kind(roles: Iterable[str]) -> dict[str, list[str]]:
    """By what they are, whatever the layer and the expert: `up`, `query`."""
    found: dict[str, list[str]] = defaultdict(list)
    for role in roles:
        found[role.rpartition(".")[2]].append(role)
    return found


def misread_tensor(model: Model, role: str, theirs: np.ndarray) -> Fault | None:
    """The layout by which the file's own bytes give the other side's tensor, number for number; None if none does."""
    file = model.file
    if not isinstance(file, GgufFile):
        return None
    for layout in LAYOUTS:
        fault = misread(file, layout, [role], role)
        _, read = fault.changed(model.spec, model.weights)
        if np.array_equal(read[role], theirs):
            return fault
    return None
