"""A wrong answer computed once more: on the reference engine, and, where its limit cut it, written on."""

import math
from dataclasses import dataclass, replace

from whybox.cause.parts import roles_of
from whybox.cause.study import Study
from whybox.cause.trials import ENOUGH_VARIANTS, MOST_VARIANTS, WRITTEN_ON, failing_variants
from whybox.compare.switches import (
    MOST_SWITCHES,
    REFERENCE,
    Compared,
    Switch,
    compared,
    reference_of,
    repeated,
    switched,
    switches,
)
from whybox.engine.choice import REFERENCE_BYTES, has_reference
from whybox.model import Model
from whybox.verdict.facts import Try
from whybox.verdict.reading import as_switch

_PASSES = 3  # beside the answer: LD at two decisions, and the noise of this way of computing


@dataclass(frozen=True)
class Otherwise:
    """compared: on the reference, None where it was not asked. repeats: of the switch that flips, on the variants that
    fail alike. longer: the answer written on, None where nothing had cut it.
    """

    compared: Compared | None = None
    repeats: tuple[bool, ...] | None = None
    longer: Try | None = None


@dataclass(frozen=True)
class Ways:
    """reference: given, or None for the NumPy engine in fp32. any_size: whether a large model is asked as well."""

    reference: Model | None
    any_size: bool

    @property
    def most_bytes(self) -> float:
        return math.inf if self.any_size else REFERENCE_BYTES

    def runs(self, study: Study) -> int:
        """At most so many: a longer answer, every switch here, variants until ten fail, and one switch on those."""
        model = study.bench.model
        if self.reference is None and not has_reference(model.spec, model.way, self.most_bytes):
            return 1 + _PASSES
        variants = len(study.variants)
        drawn = 2 * min(variants, MOST_VARIANTS)
        return (1 + _PASSES) * (1 + MOST_SWITCHES + min(variants, ENOUGH_VARIANTS)) + drawn


def otherwise(study: Study, ways: Ways) -> Otherwise:
    """Nothing for a right answer."""
    if not study.wrong_here:
        return Otherwise()
    longer = _longer(study)
    sound = ways.reference or reference_of(study.bench.model, ways.most_bytes)
    if sound is None:
        return Otherwise(longer=longer)
    setting = study.decided
    found = compared(study.bench.model, sound, study.asked, setting.base.decision)
    _enter(study, found.answers, "computed otherwise")
    return Otherwise(found, _repeats(study, found, sound) if found.flipping else None, longer)


def _repeats(study: Study, found: Compared, sound: Model) -> tuple[bool, ...]:
    """The switch that flips, on the variants that fail like the case."""
    if study.failing is None:
        study.failing = failing_variants(study.bench, study.decided, study.answered, study.variants, roles_of)
    known = {switch.name: switch for switch in switches(study.bench.model, sound)}
    switch = known.get(found.flipping[0].name, Switch(REFERENCE, sound))
    failing = [(one.asked, one.base.decision) for one in study.failing.settings]
    _enter(study, len(failing), f"{switch.name}, on a variant that fails alike")
    return repeated(switch, failing)


def _longer(study: Study) -> Try | None:
    """An answer that was cut before it asserted anything, written on four times as far."""
    settings, model = study.asked.settings, study.bench.model
    if study.answered.score.outcome != "error":
        return None
    limit = min(WRITTEN_ON * settings.limit, model.room(len(study.asked.prompt)))
    asked = replace(study.asked, settings=replace(settings, limit=limit))
    _enter(study, 1, f"limit of {limit} tokens")
    found = switched(Switch(f"limit of {limit} tokens", model), asked, study.decided.base.decision)
    longer = as_switch(found, study.decided.base.reading.ld)
    return replace(longer, effect=None, after=None)  # the answer that was cut has no place at which it is decided


def _enter(study: Study, answers: int, what: str) -> None:
    """Answers and the passes beside each of them: LD at two decisions, and the noise of this way of computing."""
    for _ in range(answers):
        study.bench.enter(study.asked.prompt.ids, what, kind="write")
        for _ in range(_PASSES):
            study.bench.enter(study.decided.base.decision.ids, what)
