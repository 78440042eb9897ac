"""Is the output head tied to the embedding? The setting says, the file's tensors decide (never random)."""

from dataclasses import replace

import numpy as np

from whybox.formats import WeightFile
from whybox.spec import Spec
from whybox.weights import Rule


def settle_head(spec: Spec, file: WeightFile, rules: tuple[Rule, ...]) -> tuple[Spec, tuple[Rule, ...]]:
    """Tied and no head stored: shared. A stored copy is left unused. A stored head that differs is kept, and said.

    Untied without a head stays untied: the ledger then refuses the file.
    """
    embed, head = (_tensor(rules, role) for role in ("embed", "head"))
    if not spec.tied or head not in file.tensors:
        return spec, rules
    if embed in file.tensors and _equal(file, embed, head):
        unused = replace(_rule(rules, "head"), roles=(), unused="a copy of the tied embedding")
        settled = tuple(unused if rule.roles == ("head",) else rule for rule in rules)
        return _noted(spec, f"{head} is stored although tied; it equals {embed}"), settled
    line = f"the head is tied by the configuration, but {head} differs from {embed}: the file's head is kept"
    return _noted(replace(spec, tied=False), line), rules


def _equal(file: WeightFile, embed: str, head: str) -> bool:
    same_shape = file.tensors[head].shape == file.tensors[embed].shape
    return same_shape and bool(np.array_equal(file.read(head), file.read(embed)))


def _rule(rules: tuple[Rule, ...], role: str) -> Rule:
    return next(rule for rule in rules if rule.roles == (role,))


def _tensor(rules: tuple[Rule, ...], role: str) -> str:
    return _rule(rules, role).tensor


def _noted(spec: Spec, line: str) -> Spec:
    return replace(spec, notes=(*spec.notes, line))
