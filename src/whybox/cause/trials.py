"""A trial: one change that may undo a wrong answer, with its shams and with the variants on which it was repeated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from whybox.cause.answers import STEPS, Answered, Asked, Outcome, answer, outcome, read, try_edges, try_prompt
from whybox.cause.asking import Experiment, Write, together
from whybox.cause.bench import Bench
from whybox.cause.decision import decision_after, mention
from whybox.cause.effects import Base
from whybox.cause.parts import Roles, alone, closed_book
from whybox.cause.rivals import rivals_in
from whybox.cause.spans import Edge, keys_of, other_spans
from whybox.engine.sampling import GREEDY
from whybox.errors import PromptError, SiteError, UnsupportedError
from whybox.items.instance import CaseInstance
from whybox.model import Model
from whybox.text.prompt import extend

CHOICE = "choice between the two answers at the start"
PARSE = "parse"  # what a lenient reading touches
MOST_VARIANTS = 40
ENOUGH_VARIANTS = 10
WRITTEN_ON = 4  # how many times its limit an answer that was cut is written on


@dataclass(frozen=True)
class Shams:
    """The same edit on places that the claim does not name: how many flip, and LD after each.

    rivals: how many of them boost text that states another value; None where the edit is no boost. copied: how many of
    those make a value the answer that was neither the right nor the wrong one. cut: how many gave no whole value in
    WRITTEN_ON times the limit either, which is no flip.
    """

    flipped: int
    after: tuple[float, ...]
    rivals: int | None = None
    copied: int = 0
    cut: int = 0


@dataclass(frozen=True)
class Repeats:
    """The same trial on variants that fail like the case: whether each flips (the case first), and LD effects; those
    whose answer its limit cut before it gave a whole value are left out, and counted.
    """

    flips: tuple[bool, ...]
    effects: tuple[float, ...]
    cut: int = 0


@dataclass(frozen=True)
class Trial:
    """what: the change in words. about: the parts it names. touches: what it changes, for comparing trials.

    effect: LD on the base's path against the base, None where that path does not exist any more. unread: whether it
    flips with the evidence hidden as well, None where that was not run.
    """

    what: str
    about: tuple[str, ...]
    touches: frozenset[str]
    outcome: Outcome
    effect: float | None
    shams: Shams | None = None
    repeats: Repeats | None = None
    unread: bool | None = None

    @property
    def flips(self) -> bool:
        return self.outcome.flips


@dataclass(frozen=True)
class Setting:
    """What every trial needs: the base, the roles of its parts, and the noise floor δ."""

    base: Base
    roles: Roles
    delta: float
    layers: int

    @property
    def asked(self) -> Asked:
        return self.base.asked


@dataclass(frozen=True)
class Failing:
    """Variants of the case that fail as it does, ready for trials; drawn: how many were run, the case included."""

    settings: tuple[Setting, ...]
    drawn: int


Maker = Callable[[Model, Setting], Experiment[Trial]]


@dataclass(frozen=True)
class Sham:
    """The same edit elsewhere. rivals: other values that the text there states; None where that makes no difference."""

    make: Maker
    rivals: tuple[str, ...] | None = None


ShamMakers = Callable[[Setting], list[Sham]]
RoleReader = Callable[[CaseInstance], Roles]


async def boost_evidence(model: Model, setting: Setting) -> Trial:
    """The decision rows are made to look at the evidence as much as at their strongest key."""
    return await _edge_to(setting, "boost", setting.roles.evidence)(model, setting)


def cut_part(name: str) -> Maker:
    """The decision rows no longer see a part."""
    return lambda model, setting: _edge_to(setting, "cut", (name,))(model, setting)


def _edge_to(setting: Setting, action: str, names: tuple[str, ...]) -> Maker:
    return edge(action, keys_of(setting.asked.prompt, names), f"{action} decision → {' + '.join(names)}", names)


def moved(order: Sequence[str]) -> Maker:
    """Evidence and the parts beside it in another order."""
    what = f"order {' '.join(order)}"
    return lambda model, setting: prompt_trial(
        model, setting, what, setting.asked.case.reordered(order), frozenset({"order"})
    )


def prompted(what: str, case: CaseInstance, touches: frozenset[str]) -> Maker:
    """Another prompt, given as it is."""
    return lambda model, setting: prompt_trial(model, setting, what, case, touches)


async def evidence_alone(model: Model, setting: Setting) -> Trial:
    return await prompt_trial(
        model, setting, "evidence alone", alone(setting.asked.case, setting.roles), frozenset(setting.roles.others)
    )


async def without_context(model: Model, setting: Setting) -> Trial:
    """Closed book: neither evidence nor what stands beside it."""
    left = closed_book(setting.asked.case, setting.roles)
    taken = frozenset({*setting.roles.evidence, *setting.roles.others})
    return await prompt_trial(model, setting, "closed book", left, taken)


async def prompt_trial(
    model: Model, setting: Setting, what: str, case: CaseInstance, touches: frozenset[str], about: tuple[str, ...] = ()
) -> Trial:
    """Another prompt in place of the case's."""
    found = await try_prompt(model, setting.asked, setting.base.decision, case, setting.delta)
    return Trial(what, about, touches, found, effect_of(found, setting))


def behind_prefix(prefix: str) -> Maker:
    """The answer is written behind a prefix that the model was given."""

    async def trial(model: Model, setting: Setting) -> Trial:
        asked = setting.asked
        ids = model.join(asked.prompt, prefix)[0]
        forced = replace(asked, prompt=extend(model.tokenizer, asked.prompt, ids[len(asked.prompt) :], "forced prefix"))
        found = outcome(await answer(model, forced), None, setting.delta)
        return Trial(f"prefix {prefix!r} forced", (), frozenset({"prefix"}), found, None)

    return trial


async def greedily(model: Model, setting: Setting) -> Trial:
    """The same prompt decoded greedily in place of the stated settings."""
    settings = replace(setting.asked.settings, decoding=GREEDY)
    written = await answer(model, replace(setting.asked, settings=settings))
    found = outcome(written, setting.base.reading, setting.delta)
    return Trial("greedy decoding", (), frozenset({"decoding"}), replace(found, earlier_fork=False), 0.0)


async def leniently(model: Model, setting: Setting) -> Trial:
    """The same answer, read without the form that it should have: its value alone. Nothing is changed in the run."""
    asked = setting.asked
    found = await answer(model, asked)
    score = asked.case.form_scorer().score(found.text, "stop" if found.written.stopped else "length")
    read_so = Outcome(found.text, score, found.reading, None, score.right, earlier_fork=False)
    return Trial("lenient parse", (), frozenset({PARSE}), read_so, None)


async def chosen(model: Model, setting: Setting) -> Trial:
    """Where the answer begins, only the two answers may be chosen; then the model goes on by itself."""
    asked, begun = setting.asked, len(setting.asked.prompt.ids)
    start = decision_after(model, asked.prompt, "", asked.right, asked.wrong, "start")
    led = await read(asked, start)
    forced = (*start.ids, (start.right if led.ld > 0 else start.wrong)[0])
    written = await Write(forced, asked.settings, lambda written, _: written)
    text = model.tokenizer.text((*forced[min(begun, start.row + 1) :], *written.ids))
    score = asked.score(text, written.stopped)
    found = Outcome(text, score, led, None, score.right and led.ld > STEPS * setting.delta, earlier_fork=False)
    return Trial(CHOICE, (), frozenset({"choice"}), found, None)


def with_shams(bench: Bench, setting: Setting, trial: Trial, shams_of: ShamMakers) -> Trial:
    """The trial with its shams; one that cannot be made counts for nothing."""
    shams = shams_of(setting)
    made = controls(bench, setting, [sham.make for sham in shams])
    found = [(sham, one.outcome) for sham, one in zip(shams, made, strict=True) if one is not None]
    after = tuple(one.old.ld if one.old is not None else one.own.ld for _, one in found)
    flipped, cut = sum(one.flips for _, one in found), sum(one.cut for _, one in found)
    return replace(trial, shams=Shams(flipped, after, *_beside_rivals(setting, found), cut))


def controls(bench: Bench, setting: Setting, makers: Sequence[Maker]) -> list[Trial | None]:
    """What each gives. Where the limit cut an answer, more is written: a control that says nothing proves nothing."""
    made = bench.results([attempt(bench.model, make, setting) for make in makers])
    cut = [place for place, one in enumerate(made) if one is not None and one.outcome.cut]
    settings = replace(setting.asked.settings, limit=WRITTEN_ON * setting.asked.settings.limit)
    longer = replace(setting, base=replace(setting.base, asked=replace(setting.asked, settings=settings)))
    again = bench.results([attempt(bench.model, makers[place], longer) for place in cut])
    for place, one in zip(cut, again, strict=True):
        made[place] = one
    return made


def _beside_rivals(setting: Setting, found: Sequence[tuple[Sham, Outcome]]) -> tuple[int | None, int]:
    """How many shams boost text with another value in it, and how many of those give that value."""
    told = [(sham.rivals, one.answer) for sham, one in found if sham.rivals is not None]
    if not told:
        return None, 0
    copied = sum(any(mention(answer, text) is not None for text in _third(setting, rivals)) for rivals, answer in told)
    return sum(bool(rivals) for rivals, _ in told), copied


def _third(setting: Setting, rivals: Sequence[str]) -> list[str]:
    """Of a choice the wrong answer stands by what its option says."""
    wrong = dict(setting.asked.case.options).get(setting.asked.wrong, setting.asked.wrong)
    return [text for text in rivals if text != wrong]


def with_control(bench: Bench, setting: Setting, trial: Trial, control: Maker) -> Trial:
    """The trial with what it does where the evidence is hidden."""
    (found,) = controls(bench, setting, [control])
    return trial if found is None else replace(trial, unread=found.flips)


def other_cuts(names: Sequence[str]) -> ShamMakers:
    """The same cut on all other spans of that length (up to 39, the nearest)."""

    def shams(setting: Setting) -> list[Sham]:
        keys = keys_of(setting.asked.prompt, names)
        return [Sham(_edge_at("cut", span)) for span in other_spans(len(keys), keys, len(setting.asked.prompt.ids))]

    return shams


def other_boosts(names: Sequence[str]) -> ShamMakers:
    """The same boost on other spans of that length, up to 39: those that state another value first (up to 20), since
    only they could give one; then the nearest.
    """

    def shams(setting: Setting) -> list[Sham]:
        asked = setting.asked
        keys = keys_of(asked.prompt, names)
        rivals = rivals_in(asked.prompt, asked.case, asked.wrong, keys)

        def held(span: range) -> tuple[str, ...]:
            return tuple(dict.fromkeys(rival.text for rival in rivals if rival.lies_in(span)))

        spans = other_spans(len(keys), keys, len(asked.prompt.ids), first=lambda span: bool(held(span)))
        return [Sham(_edge_at("boost", span), held(span)) for span in spans]

    return shams


def _edge_at(action: str, span: range) -> Maker:
    return edge(action, tuple(span), f"{action} decision → tokens {span.start} … {span.stop - 1}")


def edge(action: str, keys: tuple[int, ...], what: str, about: tuple[str, ...] = ()) -> Maker:
    """An edit of the attention from the rows that decide."""

    async def trial(model: Model, setting: Setting) -> Trial:
        found = await try_edges(model, setting.asked, setting.base.decision, [Edge(action, keys)], setting.delta)
        return Trial(what, about, frozenset(f"edge {name}" for name in about), found, effect_of(found, setting))

    return trial


def effect_of(found: Outcome, setting: Setting) -> float | None:
    return None if found.old is None else found.old.ld - setting.base.reading.ld


def failing_variants(
    bench: Bench, setting: Setting, own: Answered, variants: Sequence[CaseInstance], roles: RoleReader
) -> Failing:
    """Variants are drawn until ten fail like the case, 40 were run, or none is left. A variant fails like the case when
    its answer is scored as the case's was. As many as are missing are run together.
    """
    failing: list[Setting] = []
    left = list(variants[: MOST_VARIANTS - 1])
    drawn = 1
    while left and len(failing) + 1 < ENOUGH_VARIANTS:
        missing = ENOUGH_VARIANTS - 1 - len(failing)
        some, left = left[:missing], left[missing:]
        found = bench.results([_as_setting(bench.model, setting, own, case, roles) for case in some])
        failing += [one for one in found if one is not None]
        drawn += len(some)
    return Failing(tuple(failing), drawn)


async def _as_setting(
    model: Model, setting: Setting, own: Answered, case: CaseInstance, roles: RoleReader
) -> Setting | None:
    asked = replace(setting.asked, case=case, prompt=model.prompt(case), wrong=case.wrong or setting.asked.wrong)
    found = await answer(model, asked)
    alike = found.score.outcome == own.score.outcome
    return replace(setting, base=Base(asked, found.decision, found.reading), roles=roles(case)) if alike else None


def repeated(bench: Bench, trials: Sequence[tuple[Trial, Maker]], failing: Failing) -> list[Trial]:
    """The trials with their repeats on the failing variants; one that cannot be made there does not flip."""
    found = bench.results(
        [together([attempt(bench.model, make, setting) for setting in failing.settings]) for _, make in trials]
    )
    return [_with_repeats(trial, repeats) for (trial, _), repeats in zip(trials, found, strict=True)]


def _with_repeats(trial: Trial, found: Sequence[Trial | None]) -> Trial:
    told = [one for one in found if one is None or not one.outcome.cut]
    flips = (trial.flips, *(one is not None and one.flips for one in told))
    effects = [one.effect for one in (trial, *told) if one is not None and one.effect is not None]
    return replace(trial, repeats=Repeats(flips, tuple(effects), len(found) - len(told)))


async def attempt(model: Model, make: Maker, setting: Setting) -> Trial | None:
    """None where the change cannot be made: a template that refuses, a row left with nothing to see."""
    try:
        return await make(model, setting)
    except (SiteError, PromptError, UnsupportedError):
        return None
