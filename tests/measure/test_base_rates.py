"""Base rates: those of the very file, else of the standard model and said so; and the prompts they rest on."""

import json
from itertools import islice
from pathlib import Path

import pytest

from bench.rates import kept, write
from tests.real import real
from whybox.items.generate import Item
from whybox.jobs.look_diagnoses import said
from whybox.measure import base_rates, ordinary
from whybox.measure.base_rates import measured, rate
from whybox.measure.diagnosis import CODES, Finding

SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def test_what_is_shipped_covers_every_code_on_200_prompts() -> None:
    rows = {each.model: each for each in measured()}
    assert rows["smollm2"].digest == SMOLLM2
    for each in rows.values():
        assert each.n == 200
        assert set(each.fired) == set(CODES)
        assert all(0 <= hits <= 200 for hits in each.fired.values())
        assert each.fired["MASK_BUG"] == each.fired["ONE_HOT"] == 0
        assert each.fired["SINK"] > 190


def test_another_file_borrows_the_standard_rates() -> None:
    own, borrowed = rate("SINK", SMOLLM2), rate("SINK", "0" * 64)
    assert own is not None
    assert borrowed is not None
    assert (own.own, borrowed.own) == (True, False)
    assert (own.hits, own.n) == (borrowed.hits, borrowed.n)
    assert rate("SYS_FADES", SMOLLM2) is None


def test_common_codes_name_no_action_and_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    row = base_rates.Measured("smollm2", "x", 200, {"SINK": 21, "FLAT": 20})
    monkeypatch.setattr(base_rates, "measured", lambda: (row,))
    common, rare = (said("another file", Finding(code, {}), "en") for code in ("SINK", "FLAT"))
    assert (common.common, common.action, common.action_reason) == (True, None, "common, not a sign of trouble")
    assert (rare.common, rare.action) == (False, "Make it specific; `edit`.")
    assert rare.note == "base rate of `smollm2`, not of this model"
    unknown = said("another file", Finding("CANCEL", {}), "zh")
    assert (unknown.base_rate, unknown.common) == (None, False)
    assert unknown.action == "分别和一起消融。"


@pytest.fixture
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordinary, "POOL", 6)


@pytest.mark.usefixtures("small_pool")
def test_the_set_is_the_same_each_time() -> None:
    for language in ("en", "zh"):
        first, again = (list(islice(ordinary.pool(language, len), 9)) for _ in range(2))
        assert [item.id for item in first] == [item.id for item in again]
        assert [len(item.instance.parts) for item in first[:4]] == [3, 4, 5, 1]


@pytest.mark.model
@pytest.mark.usefixtures("small_pool")
def test_a_prompt_counts_once_for_each_code_and_only_where_it_is_answered() -> None:
    done: list[int] = []
    model = real("smollm2", "torch")
    found = ordinary.count(ordinary.judged_by(model, "no probe"), len, done.append, per_language=1)
    assert (found.n, done) == (2, [1, 2])
    assert found.tried >= 2
    assert set(found.fired) == set(CODES)
    assert found.fired["SINK"] == 2
    assert max(found.fired.values()) <= 2


@pytest.mark.usefixtures("small_pool")
def test_what_was_judged_is_not_judged_again(tmp_path: Path) -> None:
    path, asked = tmp_path / "kept.jsonl", []

    def judge(item: Item) -> set[str] | None:
        asked.append(item.id)
        return {"SINK"} if len(asked) % 2 else None

    def counted() -> ordinary.Count:
        return ordinary.count(kept(judge, path), len, lambda _: None, per_language=2)

    first, once = counted(), len(asked)
    assert (first.n, first.tried, first.fired["SINK"], once) == (4, 7, 4, 7)
    with path.open("a") as broken:
        broken.write('{"half a li')
    assert (counted(), len(asked)) == (first, once)


def test_a_row_takes_the_place_of_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text('{"models": []}')
    write({"digest": "a", "n": 1}, path)
    write({"digest": "b", "n": 2}, path)
    write({"digest": "a", "n": 3}, path)
    assert [(row["digest"], row["n"]) for row in json.loads(path.read_text())["models"]] == [("b", 2), ("a", 3)]
