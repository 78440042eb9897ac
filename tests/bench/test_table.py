"""What the bench says: document, states, page; and that its rows are whole."""

import json
import re
from pathlib import Path

import pytest

from bench import rows, table
from bench.contest import Absent, Peak, Row, Shown, Speed, Taken
from bench.environments import PEERS, given

ROW = Row("decode", "decode | one", "peer", "contest", ("us",), ("them",), Speed("tokens/s"), 2.0)
SHOWN: dict[str, Shown] = {"us": Taken(0.004, 1.0, 5), "them": Taken(0.006, 1.0, 5)}
MET: dict[str, Shown] = SHOWN | {"us": Taken(0.002, 1.0, 5)}
LACKING: dict[str, Shown] = SHOWN | {"us": Absent("no engine")}


def test_a_missed_row_is_explained_only_by_a_note_that_exists(tmp_path: Path) -> None:
    notes = {"decode": "docs/decisions/decode.md"}
    assert table.outcome(ROW, SHOWN, notes, tmp_path).state() == "missed"
    (tmp_path / "docs/decisions").mkdir(parents=True)
    (tmp_path / "docs/decisions/decode.md").write_text("why")
    assert table.outcome(ROW, SHOWN, notes, tmp_path).state() == "explained: docs/decisions/decode.md"
    assert table.outcome(ROW, MET, notes, tmp_path).explained is None
    assert table.outcome(ROW, LACKING, notes, tmp_path).explained is None


@pytest.mark.parametrize(
    ("shown", "met", "ratio", "reason"),
    [(SHOWN, False, 1.5, None), (MET, True, 3.0, None), (LACKING, None, None, "us: no engine")],
)
def test_document(shown: dict[str, Shown], met: bool | None, ratio: float | None, reason: str | None) -> None:
    made = table.document([table.outcome(ROW, shown, {})], {"cores": 2}, {"peer": "peer 1"})
    [line] = json.loads(json.dumps(made))["rows"]
    assert {"work", "peer", "ratio", "goal", "met", "explained"} <= set(line)
    assert line["ratio"] == pytest.approx(ratio) if ratio else line["ratio"] is None
    assert (line["met"], line["ratio_reason"], line["goal"], line["goal_is"]) == (met, reason, 2.0, "at least")


def test_page_is_a_table_with_every_figure() -> None:
    page = table.markdown([table.outcome(ROW, SHOWN, {})], {"cores": 2}, {"peer": "peer 1.2"}, ["a note"])
    assert "| decode \\| one | 250 tokens/s | peer: 167 tokens/s | 1.50 | ≥ 2 | missed |" in page
    assert "- cores: 2" in page
    assert "- peer: peer 1.2" in page
    assert page.endswith("- a note\n")


def test_memory_rows_state_the_time() -> None:
    memory = Row("memory", "opens", "8 GB", "contest", ("us",), (), Peak(8 * 10**9), 1.0)
    made = table.outcome(memory, {"us": Taken(0.5, 61.25, 6 * 10**9)}, {})
    assert table.cells(made) == ("opens (61.2 s)", "6 GB", "8 GB", "0.75", "≤ 1", "met")


def test_every_row_names_sides_that_its_contest_has() -> None:
    contests = {contest.name: contest for contest in rows.CONTESTS}
    for row in rows.ROWS:
        named = {*row.ours, *row.peers}
        assert named <= set(contests[row.contest].sides), row.name
    assert {row.contest for row in rows.ROWS} == set(contests)
    assert len({row.name for row in rows.ROWS}) == len(rows.ROWS)
    assert {side.environment for contest in rows.CONTESTS for side in contest.sides.values()} == set(PEERS)


def test_explanations_belong_to_rows() -> None:
    assert set(rows.EXPLAINED) <= {row.name for row in rows.ROWS}


def test_peers_know_nothing_of_us() -> None:
    for script in (table.ROOT / "bench" / "peers").glob("*.py"):
        assert not re.search(r"^\s*(import|from) whybox", script.read_text(), re.M), script


def test_ready_environments_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_BENCH_ENVS", "transformers=/a:llama.cpp=/b")
    assert given(["transformers=/c"]) == {"transformers": Path("/c"), "llama.cpp": Path("/b")}
    with pytest.raises(SystemExit, match="not NAME=PATH"):
        given(["tensorflow=/c"])
