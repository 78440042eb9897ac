"""What was measured on one answer, as plain data: all that a verdict may rest on."""

from dataclasses import dataclass
from typing import Literal

from whybox.statistics.intervals import Rate
from whybox.statistics.ranks import share_p


@dataclass(frozen=True)
class ShamRun:
    """Shams of an edit: how many flipped of how many, and the metric after each.

    cut: how many its limit ended before they gave a whole value. rivals: of a boost, how many of them boost text that
    holds another value (the wrong answer, or one in the unit of the right one); copied: how many of those make a third
    value the answer, neither the right nor the wrong one.
    """

    flipped: int
    n: int
    after: tuple[float, ...] = ()
    rivals: int | None = None
    copied: int = 0
    cut: int = 0

    @property
    def p(self) -> float:
        """(1 + flipped)/(n + 1)."""
        return share_p(self.flipped, self.n)


@dataclass(frozen=True)
class Try:
    """One change and what it did to the failing prompt.

    flips: the answer written anew is right and its own LD exceeds 5δ. effect: LD on the base's path against the base.
    answer: the one written anew; asserts: whether it asserts one of the known ones. None where that was not kept.
    after, own: LD on the base's path and on the path of the answer written anew.
    shams, repeats: None where they were not run; on the failing variants the case itself counts.
    touches: the edges, parts and writers that the change needs, for comparing changes.
    unread: whether it flips with the evidence hidden as well, so that the answer does not rest on it; None where that
    was not run. several: the answer asserts the right one among others. cut: its limit ended it
    before it gave a whole value, so that it is neither right nor wrong; undecided: on how many variants that was so,
    which `repeats` leaves out.
    """

    what: str
    flips: bool
    about: tuple[str, ...] = ()
    touches: frozenset[str] = frozenset()
    effect: float | None = None
    after: float | None = None
    own: float | None = None
    earlier_fork: bool = False
    shams: ShamRun | None = None
    repeats: Rate | None = None
    effects: tuple[float, ...] = ()
    asserts: bool | None = None
    unread: bool | None = None
    answer: str | None = None
    several: bool = False
    cut: bool = False
    undecided: int = 0


@dataclass(frozen=True)
class Pair:
    """Two changes together, with the codes that either would have named."""

    codes: tuple[str, str]
    change: Try


@dataclass(frozen=True)
class Parting:
    """Where two runs of the same ids part. error: over the rms of the site."""

    site: str
    layer: int | None
    position: int
    error: float


Doubt = Literal["none", "few", "other-way"]


@dataclass(frozen=True)
class Unsettled:
    """A part whose cut lowers the metric, and why its null cannot settle it: no other span of its length exists, too
    few for any p ≤ .05, or p is above .05 only for spans that raise the metric as much.
    """

    name: str
    why: Doubt


@dataclass(frozen=True)
class Demand:
    """A part that orders the wrong answer, and the prompt without it; None where that could not be made."""

    part: str
    without: Try | None


Several = Literal["right-first", "right-later"]


@dataclass(frozen=True)
class Facts:
    """Everything read from the runs. None, or an empty tuple, stands for what was not run.

    own_ld: LD at the decision of the model's own path (`own` tells whether that path exists). legal: whether the answer
    asserts a known answer, or may give another. got_wrong: whether the output observed elsewhere was wrong. lenient:
    the answer is right once the contract's form is not insisted on.

    reference: the same ids on the reference engine; switches: ways of computing them in which the answer is right;
    divergence: where the two runs part. pinned: the ids that were meant, in place of those that were sent. readers:
    heads that read the evidence, patched from the run with the evidence alone. total_in_null: hiding the evidence from
    all later positions moves the metric no more than its null. longer: an answer that was cut by its limit (which the
    case states or not), written on. several: the right answer stands among several that are asserted, as the first
    of them or behind another. beside: something stands beside the evidence; where nothing does, the evidence alone is
    the prompt itself, `alone` is None, and no second fact. choice: the right answer led where the answer begins, and
    was chosen there. stated_in: parts of the prompt that state the right answer as the scorer reads it;
    evidence_states: a part of the evidence does; stated_beside: parts outside it that do. wrong_stated: parts that hold
    the wrong answer, of those that are kept when the evidence stands alone. form_writers: heads or MLPs that write the
    illegal form, taken out. orders_left: how many further orders exist that were not tried. across_roles: another order
    changes the roles of its parts, too. writers_sought: heads and MLPs that may write the wrong answer were taken out.
    follows_change: with another value in the evidence the answer moves to that value. asked_alone: the question without
    the rest of the prompt, asked where an added fact turns the answer right. supplied_by: parts or sentences of the
    prompt (counted from 1) without which the given answer is another one. demands: parts beside the evidence that order
    the wrong answer. presumed: the evidence
    was guessed, from the sentences that state the right answer; off_question: it shares no word with the question.
    nearer: parts that state the wrong answer and share more of the question's words than the evidence. alone_off_form:
    the evidence alone gives the right value in another form. unsettled: parts whose cut lowers the metric beyond the
    floor, where its null cannot settle it. kept: parts that stay in every prompt: no evidence, question or other.
    """

    right: bool
    delta: float
    own: bool
    own_ld: float
    legal: bool
    longer: Try | None = None
    limit_stated: bool = False
    several: Several | None = None
    beside: bool = True
    stated_in: tuple[str, ...] = ()
    evidence_states: bool | None = None
    stated_beside: tuple[str, ...] = ()
    wrong_stated: tuple[str, ...] = ()
    stated_decoding: bool = False
    got_wrong: bool | None = None
    reference: Try | None = None
    switches: tuple[Try, ...] = ()
    divergence: Parting | None = None
    pinned: Try | None = None
    lenient: Try | None = None
    contract: Try | None = None
    form_writers: tuple[Try, ...] = ()
    choice: Try | None = None
    greedy: Try | None = None
    forced: tuple[str, float] | None = None
    evidence: tuple[str, ...] = ()
    fact: Try | None = None
    asked_alone: Try | None = None
    supplied_by: tuple[tuple[str, int | None], ...] = ()
    demands: tuple[Demand, ...] = ()
    presumed: bool = False
    off_question: bool = False
    nearer: tuple[str, ...] = ()
    alone: Try | None = None
    alone_off_form: bool = False
    orders: tuple[Try, ...] = ()
    orders_left: int = 0
    across_roles: bool = False
    boost: Try | None = None
    cuts: tuple[Try, ...] = ()
    closed: Try | None = None
    closed_same_wrong: bool | None = None
    follows_change: bool | None = None
    suppressors: tuple[Try, ...] = ()
    readers: tuple[Try, ...] | None = None
    total_in_null: bool | None = None
    writers: tuple[Try, ...] = ()
    writers_sought: bool = False
    pairs: tuple[Pair, ...] = ()
    lift: float | None = None
    rests_on: tuple[str, ...] = ()
    unsettled: tuple[Unsettled, ...] = ()
    kept: tuple[str, ...] = ()
    ignores_evidence: bool | None = None
    not_run: tuple[str, ...] = ()

    @property
    def alone_right(self) -> bool | None:
        """Whether the evidence alone gives the right answer; None where it was not run, or its answer was cut."""
        if self.evidence and not self.beside:
            return self.right
        return None if self.alone is None or self.alone.cut else self.alone.flips

    @property
    def obeyed(self) -> tuple[str, ...]:
        """Parts that order the wrong answer and without which the answer is right."""
        return tuple(one.part for one in self.demands if one.without is not None and one.without.flips)

    @property
    def edges(self) -> tuple[Try, ...]:
        """Attention cut, and boosted."""
        return (*self.cuts, *(() if self.boost is None else (self.boost,)))

    @property
    def cut_short(self) -> bool:
        """Cut by its limit before it asserted anything, an answer is neither wrong nor illegal: there is none yet."""
        return self.longer is not None and self.longer.asserts is True

    @property
    def tried(self) -> tuple[Try, ...]:
        """Every change that was run, in the order of the tree. A reading of the same answer is none."""
        single = (
            self.reference,
            self.pinned,
            self.greedy,
            self.longer,
            self.contract,
            self.choice,
            self.fact,
            self.asked_alone,
        )
        known = {switch.what for switch in self.switches}
        changes = (
            *self.switches,
            *(one for one in single if one is not None and one.what not in known),
            *(() if self.alone is None else (self.alone,)),
            *(one.without for one in self.demands if one.without is not None and one.without is not self.alone),
            *self.orders,
            *(() if self.boost is None else (self.boost,)),
            *self.cuts,
            *self.suppressors,
            *(self.readers or ()),
            *self.writers,
            *self.form_writers,
            *(pair.change for pair in self.pairs),
        )
        return (*changes, *(() if self.closed is None else (self.closed,)))

    @property
    def floor(self) -> float:
        """Effects up to five times the noise are none."""
        return 5 * self.delta
