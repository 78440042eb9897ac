"""How far a comparison is, and what is not made twice: no cause and no acquittal may hang on either."""

from dataclasses import replace

import numpy as np
import pytest

from whybox.cli import runs
from whybox.cli.runs import Steps
from whybox.compare import naming
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.effort import Effort, Standing
from whybox.compare.ground import Ground
from whybox.compare.naming import EXPLAINS, Walker, explains_little
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text
from whybox.compare.sides import Live
from whybox.jobs.diff_self import diff_self
from whybox.model import Model
from whybox.testing import faults
from whybox.testing.noise import noisy

IDS = (5, 9, 3, 7, 11, 4, 8, 6, 10, 2)
TEXTS = (Text("one", IDS, None), Text("other", IDS[3:], None))


@pytest.fixture(scope="module")
def model() -> Model:
    return noisy(0).model


@pytest.mark.parametrize("fault", [faults.NO_FAULT, faults.NO_SCORE_SCALE, faults.FINAL_NORM_MISSING])
def test_what_is_done_never_passes_the_plan_and_ends_with_it(model: Model, fault: faults.Fault) -> None:
    told: list[Standing] = []
    compare(Live("ours", model), Live("theirs", fault.of(model)), Asked(TEXTS, 2, Effort(told.append)))
    assert all(each.done <= each.planned for each in told)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert list(dict.fromkeys(each.stage for each in told)) == ["one", "other"]
    assert told[-1].done > 0


def test_the_ways_of_one_model_are_numbered_and_those_to_come_are_planned(model: Model) -> None:
    told: list[Standing] = []
    diff_self(model.variant(engine="torch"), Asked(TEXTS, 2, Effort(told.append)))
    stages = list(dict.fromkeys(each.stage for each in told))
    assert stages[:2] == ["1/12 cache · one", "1/12 cache · other"]
    assert stages[-1] == "12/12 int4 · other"
    first = next(each for each in told if each.done)
    assert first.planned > 10 * first.done


def test_a_second_comparison_of_one_model_runs_less_and_finds_the_same(model: Model) -> None:
    asked, base = Asked(TEXTS, 2), Live("ours", model)
    ground = Ground(base, asked.effort)
    counts, found = [], []
    for _ in range(2):
        before = asked.effort.done
        found.append(compare(base, Live("theirs", model.variant(engine="torch")), asked, ground))
        counts.append(asked.effort.done - before)
    assert counts[1] < counts[0] / 2
    assert found[0].verdict == found[1].verdict
    assert found[0].floor == found[1].floor


def told(found: Comparison) -> list[str]:
    return [each.fault.what for each in found.named]


@pytest.mark.parametrize("fault", [faults.GAIN_TWICE, faults.NO_SCORE_SCALE, faults.MASK_AFTER_SOFTMAX])
def test_floors_of_a_sound_run_acquit_no_fault(model: Model, fault: faults.Fault) -> None:
    asked, base = Asked(TEXTS, 0), Live("ours", model)
    ground = Ground(base, asked.effort)
    assert compare(base, Live("sound", faults.NO_FAULT.of(model)), asked, ground).verdict == "identical"
    alone = compare(base, Live("theirs", fault.of(model)), asked)
    after = compare(base, Live("theirs", fault.of(model)), asked, ground)
    assert (after.verdict, after.first, told(after)) == (alone.verdict, alone.first, told(alone))
    assert after.first is not None


def test_a_floor_serves_the_same_ids_and_an_input_near_its_own(model: Model) -> None:
    seen = Live("ours", model).observe(IDS, 4)
    ground = Ground(Live("ours", model))
    walker = Walker(ground.model, seen, ground=ground, kind="fp32")
    walker.walk()
    piece = walker.pieces[1]
    entry = seen.sites["resid_pre", piece.start]
    assert ground.near(IDS, piece, entry * np.float32(1.001), "fp32") is not None
    assert ground.near(IDS, piece, entry * np.float32(1.1), "fp32") is None
    assert ground.near(IDS, piece, entry, "int8") is None
    assert ground.near(IDS[:-1], piece, entry, "fp32") is None
    assert ground.near(IDS, piece, None, "fp32") is None


def test_what_takes_a_third_away_nowhere_explains_nothing() -> None:
    before = np.array([0.0, 3.0, 6.0])
    assert explains_little(before / (EXPLAINS - 0.1), before)
    assert not explains_little(before * [1, 1, 0.2], before)
    assert explains_little(None, before)
    assert explains_little(np.full(3, np.inf), before)


@pytest.mark.parametrize(("most", "names"), [(8, ["final-norm-missing + no-score-scale"]), (4, [])])
def test_two_at_once_are_sought_in_pieces_of_few_layers(
    model: Model, monkeypatch: pytest.MonkeyPatch, most: int, names: list[str]
) -> None:
    """The model has five layers, and its logits alone were recorded."""
    monkeypatch.setattr(naming, "PAIRED", most)
    both = faults.together((faults.NO_SCORE_SCALE, faults.FINAL_NORM_MISSING))
    seen = Live("theirs", both.of(model)).observe(IDS, len(IDS))
    logits = Observation(IDS, {("logits", None): seen.sites["logits", None]})
    walk = Walker((model.spec, model.weights), logits).walk()
    assert [each.fault.name for each in walk.named] == names


def test_lines_tell_the_stage_once_then_rate_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = Standing("1/12 cache · one", 30, 120, 15.0, 6.0)
    with Steps("en", quiet=False) as steps:
        steps.tell(standing)
        steps.tell(replace(standing, done=31))
        monkeypatch.setattr(runs, "EVERY", 0.0)
        steps.tell(replace(standing, done=45))
    told = capsys.readouterr().err.splitlines()
    assert told == ["1/12 cache · one", "  45/120 steps · 15/s · 6 s left"]
    with Steps("zh", quiet=True) as steps:
        steps.tell(standing)
    assert capsys.readouterr().err == ""
