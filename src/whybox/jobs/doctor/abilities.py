"""Which abilities are real: seeds, log-probabilities, scores of given answers, counts of tokens."""

from itertools import pairwise

from whybox.jobs.doctor.examiner import Examiner, check
from whybox.report.document import DoctorCheck
from whybox.statistics.intervals import Rate, wilson
from whybox.targets.target import AnswerRequest, AnswerScore, Failure, Raw, Reply, Request, Sampling, chat

WRITTEN = 24
SAMPLED = 1.0
_TOPICS = {
    "en": ("a river", "an old bridge", "the evening rain", "a quiet market", "a wooden boat", "the first snow"),
    "zh": ("一条河", "一座旧桥", "傍晚的雨", "安静的集市", "一只木船", "第一场雪"),
}
_SENTENCE = {"en": "Write one sentence about {topic}.", "zh": "写一句关于{topic}的话。"}
_LIKELY = {
    "en": (
        "red green blue white red green blue white red green blue white red green",
        (" blue white", " parliament seventeen"),
    ),
    "zh": ("red green blue white red green blue white red green blue white red green", (" blue white", " 议会 十七")),
}
SEEDS = (11, 12)
DRAWS = 3
MOST_TOPICS = 6


async def seeds(examiner: Examiner, topics: int = MOST_TOPICS) -> DoctorCheck:
    """Sampled at temperature 1: equal seeds must write equal texts, and other seeds other ones.

    Each call is made three times in a row, alone; the first, which finds the target cold, counts only against others.
    """
    chosen = _TOPICS[examiner.language][:topics]
    drawn = {(topic, seed): await _drawn(examiner, topic, seed) for topic in chosen for seed in SEEDS}
    same = [_differ(replies[1], replies[2]) for replies in drawn.values()]
    other = [_differ(drawn[topic, SEEDS[0]][1], drawn[topic, SEEDS[1]][1]) for topic in chosen]
    return _seed_finding([each for each in same if each is not None], [each for each in other if each is not None])


async def _drawn(examiner: Examiner, topic: str, seed: int) -> list[Reply | None]:
    prompt = chat(_SENTENCE[examiner.language].format(topic=topic))
    sampling = Sampling(SAMPLED, max_tokens=WRITTEN, seed=seed)
    return [await examiner.ask(Request(prompt, sampling, repeat=repeat)) for repeat in range(DRAWS)]


def _differ(one: Reply | None, other: Reply | None) -> bool | None:
    return None if one is None or other is None else one.text != other.text


def _seed_finding(same: list[bool], other: list[bool]) -> DoctorCheck:
    if not same or not other:
        return check("seed", "unknown", "errors")
    low, high = wilson(Rate(sum(same), len(same))) or (0.0, 1.0)
    numbers = {"differing": sum(same), "pairs": len(same), "low": low, "high": high}
    if any(same):
        return check("seed", "no", "ignored", numbers)
    if not any(other):
        return check("seed", "unknown", "no_draw", {"pairs": len(other)})
    return check("seed", "yes", "honoured", {"pairs": len(same), "others": sum(other), "of": len(other)})


async def logprobs(examiner: Examiner) -> DoctorCheck:
    """Log-probabilities of the written tokens: there, ≤ 0, more than one value, and the chosen token on top."""
    prompt = chat(_SENTENCE[examiner.language].format(topic=_TOPICS[examiner.language][0]))
    reply = await examiner.ask(Request(prompt, Sampling(max_tokens=WRITTEN), logprobs=5))
    if reply is None:
        return _not_given("logprobs", "refused", examiner.failures[-1])
    if reply.tokens is None:
        return check("logprobs", "no", "missing", quote=reply.tokens_reason)
    numbers = [token.logprob for token in reply.tokens]
    if not numbers:
        return check("logprobs", "unknown", "no_text")
    if len(numbers) > 1 and max(numbers) - min(numbers) < 1e-9:
        return check("logprobs", "fault", "constant", {"tokens": len(numbers), "value": numbers[0]})
    first = [token for token in reply.tokens if token.top and token.logprob < token.top[0][1] - 1e-6]
    measured = {"tokens": len(numbers), "top": max(len(token.top) for token in reply.tokens), "below": len(first)}
    if any(a < b for token in reply.tokens for (_, a), (_, b) in pairwise(token.top)):
        return check("logprobs", "fault", "unordered", measured)
    return check("logprobs", "yes", "real", measured)


async def scores(examiner: Examiner) -> DoctorCheck:
    """log P of a given answer: a list that repeats must make its next words likelier than absurd ones."""
    text, answers = _LIKELY[examiner.language]
    found = [await examiner.score(AnswerRequest(Raw(text), answer)) for answer in answers]
    for each in found:
        if isinstance(each, Failure):
            return _not_given("scores", "missing", each)
    likely, absurd = (each.logprob for each in found if isinstance(each, AnswerScore))
    numbers = {"likely": likely, "absurd": absurd}
    if likely > 0 or absurd > 0:
        return check("scores", "fault", "positive", numbers)
    if likely - absurd < 1.0:
        return check("scores", "fault", "alike", numbers)
    return check("scores", "yes", "apart", numbers)


def _not_given(name: str, finding: str, failure: Failure) -> DoctorCheck:
    """What is refused is not there; a call that failed by chance tells nothing."""
    if failure.again:
        return check(name, "unknown", "errors", quote=failure.cause)
    return check(name, "no", finding, quote=failure.cause)


def usage(replies: list[Reply]) -> DoctorCheck:
    """Whether calls say how many tokens they took."""
    told = sum(reply.usage is not None for reply in replies)
    if told < len(replies) or not replies:
        return check("usage", "no", "missing", {"told": told, "calls": len(replies)})
    return check("usage", "yes", "told", {"calls": len(replies)})
