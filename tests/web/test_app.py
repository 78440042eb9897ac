"""The explorer's questions over the wire."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.real import real
from tests.web.serving import Running, running
from whybox.errors import FormatError, PromptError
from whybox.items.case import Case
from whybox.model import Model
from whybox.report.document import schemas
from whybox.report.document.explore import ExploreDocument
from whybox.report.document.pair import PairDocument
from whybox.web.seat import Beside

pytestmark = pytest.mark.model

CAPITAL = {"prompt": {"kind": "text", "parts": [{"name": "prompt", "text": "The capital of France is"}]}}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(lambda: real("smollm2", "torch")) as found:
        yield found


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as found:
        yield found


def told(answer: httpx.Response) -> list[dict]:
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_page_names_only_our_own_files_and_all_of_them_are_there(client: httpx.Client) -> None:
    page = client.get("/", params={"lang": "zh"}).text
    assert 'lang="zh-Hans"' in page
    assert "提示词" in page
    names = {"explorer.js", "explorer.css", "base.css"}
    seen: set[str] = set()
    while names - seen:
        name = min(names - seen)
        seen.add(name)
        found = client.get(f"/assets/{name}")
        assert found.status_code == 200
        names |= {line.split('"./')[1].split('"')[0] for line in found.text.splitlines() if line.startswith("import ")}
    assert {"theme.js", "api.js", "store.js"} <= seen


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2fapp.py", "app.py", "%2e%2e/guard.py", "explorer.js%00.css", "..\\x.js"]
)
def test_nothing_else_can_be_fetched(client: httpx.Client, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_a_prompt_is_read_and_compared(client: httpx.Client) -> None:
    read = client.post("/api/read", json={"state": CAPITAL}).json()
    assert [token["id"] for token in read["tokens"]] == [504, 3575, 282, 4649, 314]
    changed = CAPITAL | {"changes": [{"kind": "head", "layer": 1, "head": 0}]}
    found = ExploreDocument.model_validate(client.post("/api/compare", json={"state": changed}).json())
    assert found.next[0].text == " Paris"
    assert found.next[0].base == pytest.approx(0.7725, abs=0.005)
    assert found.kl == found.effects[0].kl
    assert "whybox.explore" in schemas()


def test_text_comes_token_by_token(client: httpx.Client) -> None:
    lines = told(client.post("/api/write", json={"state": CAPITAL, "count": 5}))
    assert [len(line["ids"]) for line in lines] == [1, 2, 3, 4, 5, 5]
    assert lines[-1]["ended"]
    assert lines[-1]["text"].startswith(" Paris")


def test_every_head_is_looked_at_and_the_page_is_kept(client: httpx.Client) -> None:
    *steps, last = told(client.post("/api/look", json={"state": CAPITAL, "lang": "zh"}))
    assert all(set(step) == {"progress"} for step in steps)
    page = client.get(last["page"])
    assert "sandbox" in page.headers["content-security-policy"]
    assert 'lang="zh-Hans"' in page.text
    assert client.get("/pages/nosuch").json()["cause"] == "this report is no longer kept"
    document = client.get(f"{last['page']}/json").json()
    assert document["schema"]["name"] == "whybox.look"
    assert client.get(f"{last['page']}/model.svg").text.startswith("<svg")
    assert client.get(f"{last['page']}/head.png", params={"at": "1.0"}).content.startswith(b"\x89PNG")
    assert client.get(f"{last['page']}/head.png", params={"at": "99.0"}).status_code == 422
    assert client.get(f"{last['page']}/head.png").status_code == 422
    again = client.post("/api/report", json={"document": document, "lang": "en"}).json()["page"]
    assert 'lang="en"' in client.get(again).text
    assert client.get(f"{again}/model.svg").status_code == 422


@pytest.mark.parametrize(
    "document", [{}, {"schema": "why"}, {"schema": {"name": "whybox.why", "version": 1}}, {"schema": {"name": []}}]
)
def test_what_is_no_report_is_told(client: httpx.Client, document: dict) -> None:
    answer = client.post("/api/report", json={"document": document})
    assert answer.status_code == 422
    assert answer.json()["cause"]


def test_a_state_is_saved_as_a_case_file(client: httpx.Client) -> None:
    asked = {"state": CAPITAL, "question": {"right": "Paris", "wrong": "Lyon"}}
    assert Case.parse(client.post("/api/case", json=asked).text).filled().wrong == "Lyon"
    wrong = asked | {"question": {"right": "Paris", "wrong": "Paris"}}
    assert client.post("/api/case", json=wrong).status_code == 422
    assert client.post("/api/why", json=wrong).status_code == 422


def test_why_ends_in_its_page(client: httpx.Client) -> None:
    asked = {"state": CAPITAL, "question": {"right": "Paris", "wrong": "Lyon"}}
    *steps, last = told(client.post("/api/why", json=asked))
    assert steps[-1]["progress"][0] > 1
    assert client.get(f"{last['page']}/json").json()["schema"]["name"] == "whybox.why"


def test_two_prompts_come_side_by_side(client: httpx.Client) -> None:
    other = {"kind": "prompt", "prompt": {"kind": "text", "parts": [{"name": "p", "text": "The capital of Spain is"}]}}
    state = CAPITAL | {"other": other}
    found = PairDocument.model_validate(client.post("/api/pair", json={"state": state}).json())
    assert [token.apart for token in found.b.tokens] == [False, False, False, True, False]
    lens = client.post("/api/pair/lens", json={"state": state}).json()
    assert (lens["first"], lens["second"]) == (" Paris", " Madrid")
    lines = told(client.post("/api/write", json={"state": state, "count": 3, "side": "other"}))
    assert lines[-1]["text"].startswith(" Madrid")
    empty = state | {"other": {"kind": "prompt", "prompt": {"kind": "text", "parts": []}}}
    assert client.post("/api/pair", json={"state": empty}).json()["cause"].startswith("B: the prompt")


def test_a_model_that_is_not_beside_this_one_is_named(client: httpx.Client) -> None:
    state = CAPITAL | {"other": {"kind": "model", "name": "gemma3-270m"}}
    answer = client.post("/api/pair", json={"state": state})
    assert answer.status_code == 422
    assert "gemma3-270m, which this server does not have" in answer.json()["cause"]
    assert answer.json()["remedy"] == "whybox serve --beside gemma3-270m"
    assert client.post("/api/pair", json={"state": CAPITAL}).status_code == 422
    assert client.post("/api/read", json={"state": state}).status_code == 200


def test_a_second_model_answers_on_its_own_thread() -> None:
    def beside(first: Model) -> Model:
        return first.variant(precision="int8")

    with running(lambda: real("smollm2", "torch"), Beside("smollm2@int8", beside)) as found, found.client() as client:
        assert client.get("/api/model").json()["beside"] == "smollm2@int8"
        state = CAPITAL | {"other": {"kind": "model", "name": "smollm2@int8"}}
        pair = client.post("/api/pair", json={"state": state}).json()
        assert (pair["model"]["precision"], pair["b"]["model"]["precision"]) == ("fp32", "int8")
        assert pair["kl_ab"] > 0
        lens = client.post("/api/pair/lens", json={"state": state}).json()
        assert lens["a"] != lens["b"]
        for side in ("own", "other"):
            assert told(client.post("/api/floor", json={"state": state, "side": side}))[-1]["floor"] > 0
        assert client.post("/api/pair", json={"state": state}).json()["floor"] > 0
        other = client.post("/api/pair", json={"state": state | {"other": {"kind": "model", "name": "x"}}}).json()
        assert "it has smollm2@int8" in other["cause"]


def test_a_second_model_that_cannot_be_opened_leaves_the_first() -> None:
    def beside(_first: Model) -> Model:
        raise FormatError("y.gguf", "header", "GGUF", "nothing")

    with running(lambda: real("smollm2", "torch"), Beside("y.gguf", beside)) as found, found.client() as client:
        answer = client.post("/api/pair", json={"state": CAPITAL | {"other": {"kind": "model", "name": "y.gguf"}}})
        assert answer.status_code == 503
        assert "y.gguf: header" in answer.json()["cause"]
        assert client.post("/api/compare", json={"state": CAPITAL}).status_code == 200


def test_a_state_of_version_1_opens(client: httpx.Client) -> None:
    old = CAPITAL | {"version": 1, "model": "", "changes": []}
    assert client.post("/api/read", json={"state": old}).status_code == 200
    assert client.post("/api/compare", json={"state": old}).json()["state"]["version"] == 2
    assert client.post("/api/read", json={"state": old | {"other": None}}).status_code == 422


WRONG = {
    "no state": {},
    "no prompt": {"state": {}},
    "unknown field": {"state": CAPITAL | {"owner": "me"}},
    "another version": {"state": CAPITAL | {"version": 99}},
    "a change of no kind": {"state": CAPITAL | {"changes": [{"kind": "magic"}]}},
    "an empty prompt": {"state": {"prompt": {"kind": "text", "parts": []}}},
    "half a character": {"state": {"prompt": {"kind": "text", "parts": [{"name": "a", "text": "\ud800"}]}}},
    "too long": {"state": {"prompt": {"kind": "text", "parts": [{"name": "a", "text": "word " * 9000}]}}},
    "two of a name": {"state": {"prompt": {"kind": "text", "parts": [{"name": "a", "text": "x"}] * 2}}},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_told_in_one_line(client: httpx.Client, name: str) -> None:
    answer = client.post("/api/compare", content=json.dumps(WRONG[name]), headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["cause"]
    assert "\n" not in answer.json()["cause"]


def test_an_old_state_is_named_as_such(client: httpx.Client) -> None:
    cause = client.post("/api/read", json=WRONG["another version"]).json()["cause"]
    assert cause == "this state was shared by another version of whybox"


def test_an_error_behind_the_first_line_is_a_line(client: httpx.Client) -> None:
    empty = {"state": {"prompt": {"kind": "text", "parts": []}}}
    assert "empty" in told(client.post("/api/look", json=empty))[-1]["error"]["cause"]


CHINESE = {"accept-language": "zh-Hans"}


@pytest.mark.parametrize("name", WRONG)
def test_a_chinese_page_is_told_in_chinese(client: httpx.Client, name: str) -> None:
    """All words but names of fields, numbers and commands."""
    headers = CHINESE | {"content-type": "application/json"}
    answer = client.post("/api/compare", content=json.dumps(WRONG[name]), headers=headers).json()
    for line in (answer["cause"], answer["remedy"]):
        assert re.search("[\u4e00-\u9fff]", line), line
        assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", line), line


def test_reasons_of_a_document_stay_english_and_are_said_in_chinese_beside_it(client: httpx.Client) -> None:
    state = CAPITAL | {"changes": [{"kind": "head", "layer": 99, "head": 0}, {"kind": "edge", "key": 4}]}
    found = client.post("/api/compare", json={"state": state}, headers=CHINESE).json()
    spoken = found.pop("said")
    reasons = [effect.kl_reason for effect in ExploreDocument.model_validate(found).effects]
    assert reasons[0] == "no layer 99: this model has layers 0 … 29"
    assert [spoken[reason] for reason in reasons] == [
        "没有第 99 层：这个模型的层是 0 … 29",
        "不能切断查询 4 与键 4 之间的边",
    ]
    assert "said" not in client.post("/api/compare", json={"state": state}).json()


def test_an_error_behind_the_first_line_and_notes_are_chinese_too(client: httpx.Client) -> None:
    empty = {"state": {"prompt": {"kind": "text", "parts": []}}}
    error = told(client.post("/api/look", json=empty, headers=CHINESE))[-1]["error"]
    assert error == {"cause": "提示词为空", "remedy": "请输入一些文本"}
    control = {"state": {"prompt": {"kind": "text", "parts": [{"name": "p", "text": "a <|im_end|> b"}]}}}
    notes = client.post("/api/read", json=control, headers=CHINESE).json()["notes"]
    assert notes == ["p：'<|im_end|>' 本会变成控制 token；这里按普通文本处理"]


def test_twenty_at_once_get_their_own_answers(server: Running) -> None:
    words = ["France", "Spain", "Italy", "Japan", "Egypt", "Peru", "Chile", "Cuba", "Kenya", "Norway"]

    def one(word: str) -> tuple[str, str, str]:
        state = {"prompt": {"kind": "text", "parts": [{"name": "prompt", "text": f"The capital of {word} is"}]}}
        with server.client() as client:
            read = client.post("/api/read", json={"state": state}).json()["text"]
            found = client.post("/api/compare", json={"state": state}).json()["next"][0]["text"]
            return word, read, found

    alone = {word: one(word) for word in words}
    with ThreadPoolExecutor(20) as pool:
        for word, read, found in pool.map(one, words * 2):
            assert read == f"The capital of {word} is"
            assert (word, read, found) == alone[word]


def test_a_model_that_cannot_be_opened_is_told_to_the_page() -> None:
    def opening():  # type: ignore[no-untyped-def]
        raise FormatError("x.gguf", "header", "GGUF", "nothing", "take another file")

    with running(opening) as found, found.client() as client:
        assert client.get("/api/health").json()["status"] == "failed"
        answer = client.post("/api/read", json={"state": CAPITAL})
        assert answer.status_code == 503
        assert answer.json() == {"cause": "x.gguf: header: expected GGUF, found nothing", "remedy": "take another file"}
        assert client.get("/").status_code == 200


def test_a_usage_error_of_opening_is_told_as_well() -> None:
    def opening():  # type: ignore[no-untyped-def]
        raise PromptError("no such model")

    with running(opening) as found, found.client() as client:
        assert client.get("/api/model").status_code == 422
