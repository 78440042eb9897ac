"""A finding as a file, asked again: the same target, another one, too few items; files that were touched."""

import json
from pathlib import Path

import pytest

from tests.jobs.test_run_suite import opened, ran
from whybox.errors import UsageError
from whybox.jobs.replay import judged, replay
from whybox.jobs.run import RUN
from whybox.statistics.intervals import Rate
from whybox.suite.behaviour import TargetText
from whybox.suite.bundle import Bundle, bundle_text, packed, read_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("run")
    ran(folder, "bot:honest", items=30)
    return packed(folder / "out" / RUN, "order")


def test_a_bundle_is_read_as_it_was_written(bundle: Bundle, tmp_path: Path) -> None:
    path = tmp_path / "order.replay.json"
    path.write_text(bundle_text(bundle), encoding="utf-8")
    read = read_bundle(path)
    assert len(read.calls) == 240
    assert [each.answer for each in read.calls] == [each.answer for each in bundle.calls]
    assert [each.call.request for each in read.calls] == [each.call.request for each in bundle.calls]
    assert bundle_text(read) == bundle_text(bundle)


def test_the_same_target_is_the_same_and_another_is_different(bundle: Bundle) -> None:
    same = replay(bundle, opened(TargetText(model="bot:honest")))
    assert (same.answer, same.same, same.lost, same.needs) == ("same", Rate(30, 30), 0, None)
    other = replay(bundle, opened(TargetText(model="bot:always_first")))
    assert other.answer == "different"
    assert other.same.hits < 10
    few = Bundle(bundle.probe, bundle.target, bundle.calls[: 8 * 5])
    found = replay(few, opened(TargetText(model="bot:honest")))
    assert found.answer == "underpowered"
    assert isinstance(found.needs, int)


def test_twenty_nine_items_show_ten_points_and_twenty_eight_do_not() -> None:
    assert judged(Rate(29, 29), 0, 0.1).answer == "same"
    assert judged(Rate(28, 28), 0, 0.1).answer == "underpowered"
    assert judged(Rate(0, 0), 5, 0.1).answer == "underpowered"


def test_what_was_touched_is_newer_or_is_something_else_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    text = bundle_text(bundle)
    for changed, said in [
        (text.replace('"probe":"order"', '"probe":"other"'), "was changed"),
        (text.replace('"version":1', '"version":2'), "expected bundle version 1, found 2"),
        (json.dumps({"schema": {"name": "other"}}), "no bundle"),
        ("[]", "no bundle"),
        ("{", "cannot read"),
    ]:
        path.write_text(changed, encoding="utf-8")
        with pytest.raises(UsageError, match=said):
            read_bundle(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_bundle(tmp_path / "nowhere.json")
