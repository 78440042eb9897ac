"""How far equal calls differ, at temperature 0: the first against later ones, later ones, and beside others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whybox.items.generate import Item, generate
from whybox.jobs.doctor.examiner import Examiner
from whybox.report.document import FloorRow
from whybox.report.document.doctor import Condition
from whybox.statistics.intervals import Rate, clopper_pearson, flip_bound, wilson
from whybox.targets.target import Reply, Request, Sampling, request_of

WRITTEN = 16


@dataclass(frozen=True)
class Repeats:
    """items · times: each item is asked so often in a row, the first time cold, and so often again beside others."""

    items: int = 12
    times: int = 5

    @property
    def calls(self) -> int:
        return 2 * self.items * self.times


async def floor(examiner: Examiner, design: Repeats, logprobs: bool) -> list[FloorRow]:
    """Rows cold, warm, concurrent. Each prompt is new to the target: it opens with words that no other check uses."""
    items = generate("fact", examiner.language, design.items, examiner.seed + 1, len, size=2)
    wanted = 1 if logprobs else None
    requests = [request_of(item.instance, Sampling(max_tokens=WRITTEN), wanted) for item in items]
    alone = [await _in_a_row(examiner, request, design.times) for request in requests]
    again = [replace(request, repeat=design.times + time) for time in range(design.times) for request in requests]
    beside = await examiner.ask_all(again)
    later = [_commonest(replies[1:]) for replies in alone]
    cold = [(item, later[i], [alone[i][0]]) for i, item in enumerate(items)]
    warm = [(item, alone[i][1] if len(alone[i]) > 1 else None, alone[i][2:]) for i, item in enumerate(items)]
    together = [(item, later[i], beside[i :: len(items)]) for i, item in enumerate(items)]
    rows = [_row("cold", cold), _row("warm", warm), _row("concurrent", together)]
    return [row for row in rows if row is not None]


async def _in_a_row(examiner: Examiner, request: Request, times: int) -> list[Reply | None]:
    return [await examiner.ask(replace(request, repeat=time)) for time in range(times)]


def _commonest(replies: Sequence[Reply | None]) -> Reply | None:
    """The reply whose text is the most frequent; of equals the first."""
    there = [reply for reply in replies if reply is not None]
    counted = Counter(reply.text for reply in there)
    return max(there, key=lambda reply: counted[reply.text], default=None)


def _row(
    condition: Condition, compared: Sequence[tuple[Item, Reply | None, Sequence[Reply | None]]]
) -> FloorRow | None:
    """Every call against the one it is compared with; calls that failed are counted elsewhere. None for no call."""
    pairs = [
        (item, against, reply)
        for item, against, replies in compared
        for reply in replies
        if against is not None and reply is not None
    ]
    if not pairs:
        return None
    differing = sum(against.text != reply.text for _, against, reply in pairs)
    answers = sum(_answer(item, against) != _answer(item, reply) for item, against, reply in pairs)
    rate = Rate(differing, len(pairs))
    exact = clopper_pearson(rate)
    moved = [d for _, against, reply in pairs if (d := _moved(against, reply)) is not None]
    return FloorRow(
        condition=condition,
        items=len({item.id for item, _, _ in pairs}),
        calls=len(pairs),
        differing=differing,
        rate=differing / len(pairs),
        interval=_whole(wilson(rate) or (0.0, 1.0)),
        bound=flip_bound(len(pairs)) if differing == 0 else (exact[1] if exact else 1.0),
        answers_differing=answers,
        logprob_max=max(moved) if moved else None,
        logprob_max_reason=None if moved else "no log-probabilities",
    )


def _whole(bounds: tuple[float, float]) -> tuple[float, float]:
    """Bounds of a share: what rounding leaves beyond its ends is taken off."""
    low, high = bounds
    return (0.0 if low < 1e-12 else low, min(high, 1.0))


def _answer(item: Item, reply: Reply) -> tuple[str, str | None]:
    score = item.scorer.score(reply.text, reply.finish)
    return score.outcome, score.candidate


def _moved(one: Reply, other: Reply) -> float | None:
    """|Δ logprob| of the first token, where both wrote the same one."""
    if not one.tokens or not other.tokens or one.tokens[0].text != other.tokens[0].text:
        return None
    return abs(one.tokens[0].logprob - other.tokens[0].logprob)
