"""How finished calls are scored: by the item, or by what their arm asks of it; what is no answer is not scored."""

from dataclasses import replace
from pathlib import Path

import pytest

from whybox.items.generate import Item, generate
from whybox.probes.design import AnyOutcome, Call, Plan, Record
from whybox.statistics.unknown import Unknown
from whybox.suite.scores import NOTE, ScoredCall, kept, scores_of, written
from whybox.suite.store import Store
from whybox.targets.target import AnswerScore, Failure, Reply, request_of

ITEM, OTHER = generate("fact", "en", 2, seed=0, count_tokens=len, size=3)
RIGHT = ITEM.instance.right


def scored(outcome: AnyOutcome, item: str = ITEM.id, arm: str = "plain", asked: Item | None = None) -> ScoredCall:
    call = Call("t", "p", item, arm, 0, request_of(ITEM.instance))
    plan = Plan((call,), (ITEM, OTHER), Unknown(""), {} if asked is None else {(ITEM.id, "changed"): asked})
    (found,) = scores_of(plan, [Record(call, outcome)])
    assert found.cell == call.cell
    return found


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Reply(f"It is {RIGHT}."), ("right", RIGHT, RIGHT)),
        (Reply(f"It is {ITEM.others[0]}."), ("wrong", ITEM.others[0], RIGHT)),
        (Reply(f"{RIGHT} or {ITEM.others[0]}"), ("hedged", None, RIGHT)),
        (Reply("The documents do not say."), ("abstain", None, RIGHT)),
        (Reply("Good morning."), ("invalid", None, RIGHT)),
        (Reply("Let me think about", "length"), ("error", None, RIGHT)),
        (Failure("timeout", "no answer within 1 s"), ("error", None, RIGHT)),
        (AnswerScore(-3.0, ()), (None, None, "")),
    ],
)
def test_every_outcome_has_its_score(outcome: AnyOutcome, expected: tuple[str | None, str | None, str]) -> None:
    found = scored(outcome)
    assert (found.outcome, found.candidate, found.right) == expected


def test_an_arm_with_another_right_answer_is_scored_by_that_one() -> None:
    """The value in the passage was replaced: what was right is wrong there, and nowhere else."""
    answer = Reply(ITEM.others[0])
    changed = replace(ITEM, instance=replace(ITEM.instance, right=ITEM.others[0]))
    changed = replace(changed, scorer=changed.instance.scorer())
    assert scored(answer, arm="changed", asked=changed).outcome == "right"
    assert scored(answer, asked=changed).outcome == "wrong"


def test_a_call_of_no_item_is_not_scored() -> None:
    """Canaries and prints of a prompt ask nothing that a scorer reads; what failed there has failed all the same."""
    assert scored(Reply("A2B-34"), item="canary").outcome is None
    assert scored(Failure("http", "no"), item="canary").outcome == "error"


def test_scores_come_back_from_the_run_as_they_were(tmp_path: Path) -> None:
    call = Call("t", "p", ITEM.id, "plain", 0, request_of(ITEM.instance))
    scores = [
        scored(Reply(f"It is {RIGHT}.")),
        scored(Failure("http", "no"), arm="b"),
        scored(AnswerScore(-1.0, ()), arm="c"),
    ]
    with Store(tmp_path / "run.sqlite") as store:
        store.begin([call])
        assert kept(store) == {}
        store.write_notes({NOTE: written(scores)})
        assert kept(store) == {each.cell: each for each in scores}
