"""A study: one case on one model, and everything that was found about it so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whybox.cause import trials
from whybox.cause.answers import Answered, Asked, settings_of
from whybox.cause.bench import Bench
from whybox.cause.claims import Changed, Claim, Kind, Screened
from whybox.cause.decision import Reading
from whybox.cause.demands import demanding_parts
from whybox.cause.effects import SegmentEffects, Unknown
from whybox.cause.full import Full
from whybox.cause.ground import Ground
from whybox.cause.hidden import Hidden
from whybox.cause.parts import Roles, roles_of, with_presumed_evidence
from whybox.cause.screen import Screen
from whybox.cause.spans import Stretch, stretches
from whybox.cause.supplied import Place
from whybox.cause.trials import Failing, Maker, Setting, Trial
from whybox.items.instance import CaseInstance
from whybox.text.prompt import Prompt, extend

GENERATED = "answer so far"


@dataclass
class Study:
    """One case on one model: the answer, the decision, and every trial."""

    bench: Bench
    asked: Asked
    variants: tuple[CaseInstance, ...]
    roles: Roles
    seed: int = 0
    fact: str = ""
    own: Answered | None = None
    setting: Setting | None = None
    log_probs: tuple[float, float] | None = None
    trials: dict[str, Trial] = field(default_factory=dict)
    orders: list[str] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    claims: dict[Kind, list[Claim]] = field(default_factory=dict)
    screens: list[Screened] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    hidden: Hidden | None = None
    forced: tuple[str, Reading] | None = None
    start: Reading | None = None
    failing: Failing | None = None
    supplied_by: tuple[Place, ...] = ()
    segments: list[SegmentEffects] = field(default_factory=list)
    keys: list[float] | None = None
    heads: dict[tuple[int, int], float] | None = None
    screen: Screen | Unknown | None = None
    full: Full | None = None
    ground: Ground | None = None
    done: list[str] = field(default_factory=list)

    @property
    def decided(self) -> Setting:
        assert self.setting is not None, "the answer comes first"
        return self.setting

    @property
    def answered(self) -> Answered:
        assert self.own is not None, "the answer comes first"
        return self.own

    @property
    def wrong_here(self) -> bool:
        return not self.answered.score.right

    @property
    def demanding(self) -> tuple[str, ...]:
        """Parts beside the evidence that order the wrong answer, where the case names one."""
        return () if self.asked.stand_in else demanding_parts(self.asked.case, self.roles, self.asked.wrong)

    @property
    def alone_right(self) -> bool | None:
        """Whether the evidence alone gives the right answer. Where nothing stands beside it that is the prompt itself,
        and no run of its own. None where it was not run, or its limit cut the answer before it gave a whole value.
        """
        if self.roles.evidence and not self.roles.others:
            return not self.wrong_here
        alone = self.trials.get("alone")
        return None if alone is None or alone.outcome.cut else alone.flips

    @property
    def path(self) -> Prompt:
        """The prompt with the part of the answer that stands before the decision."""
        ids, prompt = self.decided.base.decision.ids, self.asked.prompt
        if len(ids) <= len(prompt) or ids[: len(prompt)] != prompt.ids:
            return prompt
        return extend(self.bench.model.tokenizer, prompt, ids[len(prompt) :], GENERATED)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Segments up to the decision row."""
        return stretches(self.path.segments, len(self.decided.base.decision.ids))

    def run(self, makers: Mapping[str, Maker]) -> list[str]:
        """Trials, run together and kept under their names: the names of those that could be made."""
        model, setting = self.bench.model, self.decided
        found = self.bench.results([trials.attempt(model, make, setting) for make in makers.values()])
        made = {name: trial for name, trial in zip(makers, found, strict=True) if trial is not None}
        self.trials |= made
        return list(made)


def open_study(bench: Bench, cases: tuple[CaseInstance, ...], limit: int = 32, seed: int = 0, fact: str = "") -> Study:
    """A study of the first case; the others are its variants. The wrong answer may be missing: it is then the one that
    the model gives, which the first stage reads.
    """
    case, presumed = with_presumed_evidence(cases[0])
    variants = tuple(with_presumed_evidence(one)[0] for one in cases[1:]) if presumed else cases[1:]
    roles = replace(roles_of(case), presumed=presumed)
    prompt = bench.model.prompt(case)
    bench.model.require_fits(len(prompt))
    settings = settings_of(bench.model, case, limit)
    settings = replace(settings, limit=min(settings.limit, bench.model.room(len(prompt))))
    asked = Asked(case, prompt, case.wrong or "", settings)
    return Study(bench, asked, variants, roles, seed, fact)


def closed_same_wrong(study: Study) -> bool:
    """Whether the closed-book answer is the same wrong candidate."""
    closed = study.trials.get("closed")
    if closed is None or study.alone_right is None:
        return False
    return closed.outcome.score.outcome == "wrong" and closed.outcome.score.candidate == study.answered.score.candidate
