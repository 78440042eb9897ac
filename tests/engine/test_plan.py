"""Batches of counterfactuals: every change once, within the room, and no cheaper way to cut the row of them."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_models import IDS, spec
from whybox.engine.edit import Edit, cut, zero
from whybox.engine.felt import Felt, first_felt
from whybox.engine.plan import Task, batches, groups
from whybox.engine.trace import Change
from whybox.errors import UsageError
from whybox.spec import Spec

DEPTH = 31  # thirty layers and the head


@dataclass(frozen=True)
class Text:
    """What a plan asks of a base run, without a run."""

    ids: tuple[int, ...]
    spec: Spec = field(default_factory=lambda: spec(layers=DEPTH - 1))
    edits: tuple[Edit, ...] = ()

    @property
    def rope_length(self) -> int:
        return len(self.ids)


def cost(tasks: list[Task], depth: int, launch: int) -> int:
    """As the module's head states it."""
    rows = max(t.end for t in tasks) - min(t.start for t in tasks)
    return launch * (depth - min(t.layer for t in tasks)) + rows * sum(depth - t.layer for t in tasks)


def rows(tasks: list[Task]) -> int:
    return len(tasks) * (max(t.end for t in tasks) - min(t.start for t in tasks))


def test_a_thousand_edits_at_the_last_position_are_one_batch_that_grows_from_layer_to_layer() -> None:
    base, last = Text((1,) * 1000), slice(999, None)
    heads = [Change((zero("head_out", layer, h=h, q=last),)) for layer in range(30) for h in range(6)]
    edges = [Change((cut(layer, q=last, k=range(k, k + 10)),)) for layer in range(0, 30, 2) for k in range(0, 800, 15)]
    (found,) = groups(heads + edges, base, room=2048)
    assert (found.start, found.end, found.layer, found.rows) == (999, 1000, 0, len(heads + edges))
    assert list(found.layers) == sorted(found.layers)
    halves = groups(heads + edges, base, room=500)
    assert [group.rows for group in halves] == [500, len(heads + edges) - 500]
    assert halves[0].layers[-1] <= halves[1].layer


def test_all_heads_at_all_positions_run_layer_by_layer() -> None:
    base = Text((1,) * 128, spec(layers=30, heads=9, kv_heads=3))
    heads = [Change((zero("head_out", layer, h=h),)) for layer in range(30) for h in range(9)]
    found = groups(heads[::-1], base, room=9 * 128)
    assert [group.layers for group in found] == [(layer,) * 9 for layer in range(30)]
    assert all(group.rows == 9 * 128 for group in found)
    assert found[2].members == tuple(range(243, 252))


def test_one_position_removed_at_a_time_is_batched_with_its_neighbours() -> None:
    """Rows × layers by hand: a launch costs 32 rows; g neighbours in one batch waste 0 + 1 + … + (g − 1) of them."""
    base = Text((1,) * 128, spec(layers=30))
    found = groups([Change((cut(k=k),)) for k in range(128)], base, room=2048)
    sizes = [len(group.members) for group in found]
    assert sum(sizes) == 128
    assert set(sizes[:-1]) <= {7, 8, 9}  # the sum of 32/g + (g − 1)/2 over g is least at 8


def test_other_words_of_about_the_same_length_run_together() -> None:
    ids = tuple(range(400))
    tails = [tuple(range(900, 900 + length)) for length in (12, 14, 13, 60)]
    changes = [Change(ids=ids[:380] + tail) for tail in tails]
    found = groups(changes, Text(ids), room=2048)
    assert [(group.start, group.end, group.members) for group in found] == [(380, 394, (0, 1, 2)), (380, 440, (3,))]


def test_what_changes_nothing_computes_no_row_and_costs_nobody_one() -> None:
    changes = [Change((zero("mlp_out", 3, q=5),)), Change(), Change(ids=IDS[:7]), Change(ids=IDS)]
    found = groups(changes, Text(IDS), room=100)
    assert [(group.start, group.end, group.members) for group in found] == [
        (5, 12, (0,)),
        (7, 7, (2,)),
        (12, 12, (1, 3)),
    ]
    assert first_felt(Change(), Text(IDS)) == Felt(DEPTH, 12)


def test_a_change_larger_than_the_room_runs_alone_and_no_room_is_refused() -> None:
    assert batches([Task(0, 0, 50), Task(0, 0, 50)], DEPTH, room=20) == [(0,), (1,)]
    assert groups([], Text(IDS), room=1) == []
    with pytest.raises(UsageError, match="at least 1 row, found 0"):
        groups([], Text(IDS), room=0)


spans = st.tuples(st.integers(0, 40), st.integers(1, 20)).map(lambda span: (span[0], sum(span)))
tasks_of = st.builds(lambda layer, span: Task(layer, *span), st.integers(0, 6), spans)


@given(st.lists(tasks_of, max_size=40), st.integers(1, 100))
def test_every_change_runs_once_within_the_room(tasks: list[Task], room: int) -> None:
    found = batches(tasks, 7, room)
    assert Counter(member for batch in found for member in batch) == Counter(range(len(tasks)))
    for batch in found:
        chosen = [tasks[member] for member in batch]
        assert len(batch) == 1 or rows(chosen) <= room
        assert [task.layer for task in chosen] == sorted(task.layer for task in chosen)
    assert found == batches(tasks, 7, room)


@given(st.dictionaries(spans, st.integers(0, 6), min_size=1, max_size=7), st.integers(40, 90), st.integers(1, 40))
def test_no_other_cut_of_the_row_is_cheaper(layers: dict[tuple[int, int], int], room: int, launch: int) -> None:
    tasks = [Task(layer, *span) for span, layer in layers.items()]
    ordered = sorted(tasks, key=lambda task: (task.start, task.end))
    every = [_cut(ordered, places) for n in range(len(tasks)) for places in combinations(range(1, len(tasks)), n)]
    fitting = [parts for parts in every if all(len(part) == 1 or rows(part) <= room for part in parts)]
    cheapest = min(sum(cost(part, 7, launch) for part in parts) for parts in fitting)
    found = [[tasks[member] for member in batch] for batch in batches(tasks, 7, room, launch)]
    assert sum(cost(batch, 7, launch) for batch in found) == cheapest


def _cut(tasks: list[Task], places: tuple[int, ...]) -> list[list[Task]]:
    ends = (0, *places, len(tasks))
    return [tasks[start:end] for start, end in pairwise(ends)]
