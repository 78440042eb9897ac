"""How far an edit moves the path of an answer: the text of the unedited prompt, read behind every prompt of the item.

Both sides read the same words, so one early flip changes nothing that follows it (no cascade). Known are only the most
probable tokens of each place; all others are one bin, and divergences are lower bounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from whybox.items.generate import Item
from whybox.probes.design import Call, Curve, Estimate, Ground, Record
from whybox.probes.estimates import of_mean
from whybox.statistics.behaviour.trajectory import Place, Trajectory, trajectory
from whybox.statistics.intervals import Rate
from whybox.targets.target import AnswerRequest, AnswerScore, Reply, prompt_of

READ = "read:"
TOP = 20


def calls(name: str, arms: Mapping[str, Item], base: Record, ground: Ground) -> Iterator[Call]:
    """The base's text behind the prompt of every arm; nothing for a target that is not known to score given answers."""
    able = ground.abilities.scores_behind(base.call.request.prompt)
    if not able or not isinstance(base.outcome, Reply) or not base.outcome.text:
        return
    for arm, item in arms.items():
        request = AnswerRequest(prompt_of(item.instance), base.outcome.text, TOP)
        yield replace(base.call, arm=f"{READ}{arm}", request=request, facts=(), fresh=False)


def parted(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The records of these calls, and the others."""
    ours = [record for record in records if record.call.arm.startswith(READ)]
    return ours, [record for record in records if not record.call.arm.startswith(READ)]


def of_arms(records: Sequence[Record], base: str) -> dict[str, list[Trajectory]]:
    """By arm, one trajectory an item of which both sides were read in the same tokens."""
    found: dict[tuple[str, str], AnswerScore] = {
        (r.call.item, r.call.arm.removeprefix(READ)): r.outcome for r in records if isinstance(r.outcome, AnswerScore)
    }
    arms: dict[str, list[Trajectory]] = {}
    for (item, arm), score in found.items():
        plain = found.get((item, base))
        if arm != base and plain is not None and _texts(plain) == _texts(score):
            arms.setdefault(arm, []).append(trajectory(_places(plain), _places(score)))
    return arms


def estimates(arms: Mapping[str, Sequence[Trajectory]]) -> Iterator[Estimate]:
    """For every edit: places with another first choice, divergence a place, and how late it is largest."""
    for arm, each in arms.items():
        yield of_mean(f"another first choice · {arm}", [one.other_choice for one in each], "share")
        yield of_mean(f"KL a token, at least · {arm}", [float(one.kl.mean()) for one in each], "nats")
        yield of_mean(f"JSD a token, at least · {arm}", [float(one.jsd.mean()) for one in each], "nats")
        late = [one.late_decision for one in each if one.late_decision is not None]
        yield of_mean(f"place of the largest KL · {arm}", late, "share")


def curves(arms: Mapping[str, Sequence[Trajectory]]) -> Iterator[Curve]:
    """Token by token: of how many items the edited prompt would choose another one there."""
    for arm, each in arms.items():
        longest = max(len(one.other) for one in each)
        at = [[bool(one.other[t]) for one in each if t < len(one.other)] for t in range(longest)]
        points = tuple((str(t), Rate(sum(others), len(others))) for t, others in enumerate(at))
        yield Curve(f"another first choice · {arm}", "token", points)


def _texts(score: AnswerScore) -> list[str]:
    return [token.text for token in score.tokens]


def _places(score: AnswerScore) -> list[Place]:
    """Probabilities by token; pieces that look alike are one."""
    places: list[Place] = []
    for token in score.tokens:
        place: dict[str, float] = {}
        for text, logprob in token.top:
            place[text] = place.get(text, 0.0) + float(np.exp(logprob))
        places.append(place)
    return places
