"""A trial: one change that may undo a wrong answer, with its shams and with the variants on which it was repeated."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from whybox.cause.answers import STEPS, Answered, Asked, Outcome, answer, outcome, read, try_edges, try_prompt
from whybox.cause.bench import Bench
from whybox.cause.effects import Base
from whybox.cause.parts import Roles, alone, closed_book
from whybox.cause.spans import Edge, keys_of, other_spans
from whybox.engine.edit import Edit, zero
from whybox.errors import PromptError, SiteError, UnsupportedError
from whybox.items.instance import CaseInstance
from whybox.statistics.ranks import share_p
from whybox.text.prompt import extend

MOST_VARIANTS = 40
ENOUGH_VARIANTS = 10


@dataclass(frozen=True)
class Shams:
    """The same edit on places that the claim does not name: how many flipped, and LD after each."""

    flipped: int
    after: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.after)

    @property
    def p(self) -> float:
        return share_p(self.flipped, self.n)


@dataclass(frozen=True)
class Repeats:
    """The same trial on variants that fail like the case (the case included): flips, and LD effects."""

    hits: int
    n: int
    effects: tuple[float, ...]


@dataclass(frozen=True)
class Trial:
    """what: the change in words. about: the parts it names. touches: what it changes, for comparing trials.

    effect: LD on the base's path against the base, None where that path does not exist any more.
    """

    what: str
    about: tuple[str, ...]
    touches: frozenset[str]
    outcome: Outcome
    effect: float | None
    shams: Shams | None = None
    repeats: Repeats | None = None

    @property
    def flips(self) -> bool:
        return self.outcome.flips


@dataclass(frozen=True)
class Setting:
    """What every trial needs: the base, the roles of its parts, and the noise floor δ."""

    base: Base
    roles: Roles
    delta: float

    @property
    def asked(self) -> Asked:
        return self.base.asked


Maker = Callable[[Bench, Setting], Trial]
RoleReader = Callable[[CaseInstance], Roles]


def boost_evidence(bench: Bench, setting: Setting) -> Trial:
    """The decision rows are made to look at the evidence as much as at their strongest key."""
    return _edge_trial(bench, setting, "boost", setting.roles.evidence)


def cut_part(name: str) -> Maker:
    """The decision rows no longer see a part."""
    return lambda bench, setting: _edge_trial(bench, setting, "cut", (name,))


def moved(order: Sequence[str]) -> Maker:
    """Evidence and the parts beside it in another order."""
    what = f"order {' '.join(order)}"
    return lambda bench, setting: prompt_trial(
        bench, setting, what, setting.asked.case.reordered(order), frozenset({"order"})
    )


def prompted(what: str, case: CaseInstance, touches: frozenset[str]) -> Maker:
    """Another prompt, given as it is."""
    return lambda bench, setting: prompt_trial(bench, setting, what, case, touches)


def evidence_alone(bench: Bench, setting: Setting) -> Trial:
    return prompt_trial(
        bench, setting, "evidence alone", alone(setting.asked.case, setting.roles), frozenset(setting.roles.others)
    )


def without_context(bench: Bench, setting: Setting) -> Trial:
    """Closed book: neither evidence nor what stands beside it."""
    left = closed_book(setting.asked.case, setting.roles)
    taken = frozenset({*setting.roles.evidence, *setting.roles.others})
    return prompt_trial(bench, setting, "closed book", left, taken)


def prompt_trial(
    bench: Bench, setting: Setting, what: str, case: CaseInstance, touches: frozenset[str], about: tuple[str, ...] = ()
) -> Trial:
    """Another prompt in place of the case's."""
    found = try_prompt(bench, setting.asked, setting.base.decision, case, setting.delta)
    return Trial(what, about, touches, found, _effect(found, setting))


def silenced(layer: int) -> Maker:
    """What the MLP of a layer adds at the rows that write the answer is set to zero."""

    def trial(bench: Bench, setting: Setting) -> Trial:
        decision = setting.base.decision
        old = read(bench, setting.asked, decision, _silence(layer, decision.answer_row))
        anew = answer(bench, setting.asked, _silence(layer, decision.answer_row))
        found = outcome(anew, old, setting.delta)
        return Trial(f"MLP {layer} set to zero", (), frozenset({f"mlp {layer}"}), found, _effect(found, setting))

    return trial


def behind_prefix(prefix: str) -> Maker:
    """The answer is written behind a prefix that the model was given."""

    def trial(bench: Bench, setting: Setting) -> Trial:
        asked, model = setting.asked, bench.model
        ids = model.join(asked.prompt, prefix)[0]
        forced = replace(asked, prompt=extend(model.tokenizer, asked.prompt, ids[len(asked.prompt) :], "forced prefix"))
        found = outcome(answer(bench, forced), None, setting.delta)
        return Trial(f"prefix {prefix!r} forced", (), frozenset({"prefix"}), found, None)

    return trial


def decoded(asked: Asked) -> Maker:
    """The same prompt decoded greedily in place of the stated settings."""

    def trial(bench: Bench, setting: Setting) -> Trial:
        found = outcome(answer(bench, asked), setting.base.reading, setting.delta)
        return Trial("greedy decoding", (), frozenset({"decoding"}), replace(found, earlier_fork=False), 0.0)

    return trial


def _silence(layer: int, row: int) -> tuple[Edit, ...]:
    return (zero("mlp_out", layer, q=slice(row, None)),)


def with_shams(bench: Bench, setting: Setting, trial: Trial, action: str, names: Sequence[str]) -> Trial:
    """The same edge edit on all other spans of that length (up to 39, the nearest)."""
    keys = keys_of(setting.asked.prompt, names)
    spans = other_spans(len(keys), keys, len(setting.asked.prompt.ids))
    return with_outcomes(trial, (_try_span(bench, setting, action, span) for span in spans))


def with_outcomes(trial: Trial, outcomes: Iterable[Outcome | None]) -> Trial:
    """The trial with these counterfactuals as its shams; one that could not be made counts for nothing."""
    found = [one for one in outcomes if one is not None]
    after = tuple(one.old.ld if one.old is not None else one.own.ld for one in found)
    return replace(trial, shams=Shams(sum(one.flips for one in found), after))


def _try_span(bench: Bench, setting: Setting, action: str, span: range) -> Outcome | None:
    edge = Edge(action, tuple(span))
    try:
        return try_edges(bench, setting.asked, setting.base.decision, [edge], setting.delta)
    except SiteError:
        return None


def _edge_trial(bench: Bench, setting: Setting, action: str, names: tuple[str, ...]) -> Trial:
    keys = keys_of(setting.asked.prompt, names)
    found = try_edges(bench, setting.asked, setting.base.decision, [Edge(action, keys)], setting.delta)
    what = f"{action} decision → {' + '.join(names)}"
    return Trial(what, names, frozenset(f"edge {name}" for name in names), found, _effect(found, setting))


def _effect(found: Outcome, setting: Setting) -> float | None:
    return None if found.old is None else found.old.ld - setting.base.reading.ld


@dataclass(frozen=True)
class Failing:
    """Variants of the case that fail as it does, ready for trials; drawn: how many were run, the case included."""

    settings: tuple[Setting, ...]
    drawn: int


def failing_variants(
    bench: Bench, setting: Setting, own: Answered, variants: Sequence[CaseInstance], roles: RoleReader
) -> Failing:
    """Variants are drawn until ten fail like the case, 40 were run, or none is left. A variant fails like the case when
    its answer is scored as the case's was.
    """
    failing: list[Setting] = []
    drawn = 1
    for case in variants[: MOST_VARIANTS - 1]:
        if len(failing) + 1 >= ENOUGH_VARIANTS:
            break
        found = _as_setting(bench, setting, own, case, roles)
        drawn += 1
        if found is not None:
            failing.append(found)
    return Failing(tuple(failing), drawn)


def _as_setting(bench: Bench, setting: Setting, own: Answered, case: CaseInstance, roles: RoleReader) -> Setting | None:
    asked = replace(setting.asked, case=case, prompt=bench.model.prompt(case), wrong=case.wrong or setting.asked.wrong)
    found = answer(bench, asked)
    alike = found.score.outcome == own.score.outcome and found.reading.ld < STEPS * setting.delta
    return Setting(Base(asked, found.decision, found.reading), roles(case), setting.delta) if alike else None


def repeated(bench: Bench, trial: Trial, make: Maker, failing: Failing) -> Trial:
    """The trial with its repeats on the failing variants."""
    found = [_attempt(bench, make, setting) for setting in failing.settings]
    hits = sum(one is not None and one.flips for one in found)
    effects = [one.effect for one in (trial, *found) if one is not None and one.effect is not None]
    return replace(trial, repeats=Repeats(trial.flips + hits, 1 + len(found), tuple(effects)))


def _attempt(bench: Bench, make: Maker, setting: Setting) -> Trial | None:
    try:
        return make(bench, setting)
    except (SiteError, PromptError, UnsupportedError):
        return None
