"""How much of a long prompt is read: a code word at its start and one at its end, asked back at growing lengths."""

from dataclasses import dataclass

import numpy as np

from whybox.items.generate import Canary, canary_pair
from whybox.items.generate.fillers import draw_fillers, joiner, most_fillers
from whybox.jobs.doctor.examiner import Examiner, check
from whybox.report.document import DoctorCheck
from whybox.targets.target import Failure, Outcome, Reply, Request, Sampling, chat

SHORTEST = 256
TOKENS_PER_SENTENCE = 11  # a first guess; counts of the target replace it
NEAR = 1.1  # the length is narrowed down until its bounds are this close
PLATEAU = 0.75  # a prompt twice as long that counts less than this share of twice as many tokens was cut
ANSWER = 32


@dataclass(frozen=True)
class Tried:
    """One length. sentences: of filler. counted: tokens as the target says. lost: the ends that did not come back."""

    sentences: int
    counted: int | None
    lost: tuple[str, ...]
    refused: Failure | None = None

    @property
    def tokens(self) -> int:
        """As counted, else as guessed."""
        return self.counted or self.sentences * TOKENS_PER_SENTENCE

    @property
    def whole(self) -> bool:
        return self.refused is None and not self.lost


async def context(examiner: Examiner, most: int) -> DoctorCheck:
    """Doubles the prompt up to `most` tokens; where an end is lost, the length is narrowed down."""
    first = await _at(examiner, SHORTEST // TOKENS_PER_SENTENCE)
    if first.refused is not None:
        return check("context", "unknown", "errors", quote=first.refused.cause)
    per_sentence = first.tokens / first.sentences
    good, tried = first, [first]
    while 2 * good.sentences * per_sentence <= most:
        found = await _at(examiner, 2 * good.sentences)
        tried.append(found)
        if not found.whole and not _same_loss(found, first):
            return _lost(*await _narrowed(examiner, good, found), per_sentence)
        good = found
    if first.lost:
        return _by_count(tried, per_sentence)
    return check("context", "yes", "whole", {"tokens": good.tokens})


async def _narrowed(examiner: Examiner, good: Tried, bad: Tried) -> tuple[Tried, Tried]:
    """The longest prompt that came through and the shortest that did not, close to each other."""
    while bad.sentences > NEAR * good.sentences + 1:
        found = await _at(examiner, (good.sentences + bad.sentences) // 2)
        good, bad = (found, bad) if found.whole else (good, found)
    return good, bad


def _lost(good: Tried, bad: Tried, per_sentence: float) -> DoctorCheck:
    about = round((good.sentences + bad.sentences) / 2 * per_sentence)
    if bad.refused is not None:
        return check("context", "yes", "refused", {"tokens": about}, bad.refused.cause)
    side = "end" if "end" in bad.lost else "start"
    return check("context", "fault", f"cut_{side}", {"tokens": about})


def _same_loss(found: Tried, first: Tried) -> bool:
    """A model that repeats no code even in a short prompt tells nothing by not repeating it in a long one."""
    return found.refused is None and bool(first.lost)


def _by_count(tried: list[Tried], per_sentence: float) -> DoctorCheck:
    """Where no code comes back, the counts may still show a cut: they stop growing with the prompt."""
    counts = [each.counted for each in tried]
    if len(tried) < 2 or None in counts:
        return check("context", "unknown", "unread")
    last = tried[-1]
    if last.tokens < PLATEAU * last.sentences * per_sentence:
        return check("context", "fault", "counts_stop", {"tokens": last.tokens})
    return check("context", "unknown", "only_counted", {"tokens": last.tokens})


async def _at(examiner: Examiner, sentences: int) -> Tried:
    canary = canary_pair(examiner.language, examiner.seed)
    request = Request(chat(_prompt(examiner, canary, sentences)), Sampling(max_tokens=ANSWER))
    outcome: Outcome = await examiner.outcome(request)
    if isinstance(outcome, Failure):
        return Tried(sentences, None, (), outcome)
    return Tried(sentences, _count(outcome), canary.lost(outcome.text))


def _count(reply: Reply) -> int | None:
    return None if reply.usage is None else reply.usage.prompt


def _prompt(examiner: Examiner, canary: Canary, sentences: int) -> str:
    """Fillers in rounds, each round in another order, where a context is longer than there are different ones."""
    drawn: list[str] = []
    rounds = -(-sentences // most_fillers(examiner.language))
    for number in range(rounds):
        drawn += draw_fillers(np.random.default_rng([examiner.seed, number]), examiner.language)
    glue = joiner(examiner.language)
    return f"{canary.head}{glue}{glue.join(drawn[:sentences])}{glue}{canary.tail}\n{canary.question}"
