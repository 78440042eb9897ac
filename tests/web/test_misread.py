"""Requests of another shape are told in one short line, whatever they hold, in both languages."""

import json
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from starlette.testclient import TestClient

from tests.web.serving import no_model
from whybox.web.app import Room, application
from whybox.web.misread import MOST_SHOWN, shown
from whybox.web.seat import Table

LONG = "a line\n" * 20_000
PARTS = [{"name": "p", "text": "x"}]
PROMPT = {"kind": "text", "parts": PARTS}
WRONG = {
    "a kind of prompt": {"prompt": {"kind": LONG, "parts": PARTS}},
    "a kind of change": {"prompt": PROMPT, "changes": [{"kind": LONG, "layer": 0}]},
    "a kind of other": {"prompt": PROMPT, "other": {"kind": LONG}},
    "a field": {"prompt": PROMPT | {LONG: 1}},
    "a number": {"prompt": PROMPT, "changes": [{"kind": "mlp", "layer": LONG}]},
    "a name": {"prompt": {"kind": "text", "parts": [{"name": LONG, "text": "x"}]}},
    "a version": {"prompt": PROMPT, "version": LONG},
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(application(Room(Table.laid(no_model, None)))) as found:
        yield found


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_not_repeated(client: TestClient, name: str, lang: str) -> None:
    answer = client.post("/api/read", json={"state": WRONG[name]}, headers={"accept-language": lang})
    assert answer.status_code == 422
    told = json.dumps(answer.json(), ensure_ascii=False)
    assert len(told) < 400
    assert "\\n" not in told


def test_a_wrong_tag_is_told_those_that_would_do(client: TestClient) -> None:
    cause = client.post("/api/read", json={"state": WRONG["a kind of prompt"]}).json()["cause"]
    assert cause == "state.prompt: input should be 'text', 'chat'"


def test_a_wrong_tag_is_told_in_chinese(client: TestClient) -> None:
    asked = {"state": WRONG["a kind of prompt"]}
    told = client.post("/api/read", json=asked, headers={"accept-language": "zh"}).json()["cause"]
    assert told == "state.prompt：应为 'text', 'chat'"


def test_a_stranger_s_text_is_shown_by_its_beginning() -> None:
    assert shown("kind") == "kind"
    assert shown("a\x1b[2J\u202eb") == "a�[2J�b"
    assert shown("x" * 41) == "x" * MOST_SHOWN + "…"
