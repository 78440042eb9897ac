"""The course over the wire: predictions before results, answers graded, code in a cell, nothing that makes a 500."""

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from starlette.testclient import TestClient

from tests.web.serving import Running, no_model
from whybox.errors import CapacityError, FormatError
from whybox.library import ALIASES
from whybox.model import Model
from whybox.report.document import ChapterDocument, CourseDocument, GradedDocument, PredictionRow, RecitedDocument
from whybox.web.app import Room, application
from whybox.web.learn_words import LEARN_WORDS
from whybox.web.learning import Classroom
from whybox.web.seat import Table
from whybox.web.worker import Worker

ATTENTION = """
import numpy as np

def attention(Q, K, V, mask):
    s = np.where(mask, -np.inf, Q @ K.T / np.sqrt(Q.shape[1]))
    peak = s.max(axis=1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(peak), peak, 0))
    total = e.sum(axis=1, keepdims=True)
    a = e / np.where(total == 0, 1, total)
    return a @ V, a
"""
SCRIPTS = ("outline.js", "chapter.js", "asking.js", "showing.js", "graded.js", "recital.js", "prose.js")


@pytest.fixture
def client(course: Running) -> Iterator[httpx.Client]:
    with course.client() as found:
        Path(os.environ["WHYBOX_PROGRESS"]).unlink(missing_ok=True)
        yield found


def told(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def chapter(client: httpx.Client, lang: str = "en", **predictions: Any) -> ChapterDocument:
    lines = told(client.post("/api/learn/L4", json={"predictions": predictions, "lang": lang}))
    return ChapterDocument.model_validate(lines[-1]["chapter"])


def graded(client: httpx.Client, exercise: str, answer: Any) -> GradedDocument:
    lines = told(client.post(f"/api/learn/L4/exercises/{exercise}", json={"answer": answer}))
    return GradedDocument.model_validate(lines[-1]["graded"])


def test_pages_name_only_our_own_files_and_words_that_are_there(client: httpx.Client) -> None:
    for path, script, title in (
        ("/learn", "outline.js", "whybox 课程"),
        ("/learn/L4", "chapter.js", "L4 · whybox 课程"),
    ):
        page = client.get(path, params={"lang": "zh"}).text
        assert 'lang="zh-Hans"' in page
        assert f"<title>{title}</title>" in page
        assert f"/assets/{script}" in page
        assert 'href="/?lang=zh"' in page
    assert 'href="/learn?lang=zh"' in client.get("/", params={"lang": "zh"}).text
    assets = files("whybox.web") / "assets"
    for name in SCRIPTS:
        script = (assets / name).read_text(encoding="utf-8")
        assert client.get(f"/assets/{name}").text == script
        for key in re.findall(r'say\("([a-z_.0]+)"', script):
            assert key in LEARN_WORDS, (name, key)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_words_have_the_same_blanks_in_both_languages(lang: str) -> None:
    for key, pair in LEARN_WORDS.items():
        assert pair[lang == "zh"].strip(), key
        assert set(re.findall(r"\{\w+\}", pair[0])) == set(re.findall(r"\{\w+\}", pair[1])), key


def test_a_chapter_page_links_its_neighbours(client: httpx.Client) -> None:
    ids = [row["id"] for row in client.get("/api/learn").json()["chapters"]]
    page = client.get(f"/learn/{ids[0]}").text
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["before"] is None
    assert data["next"]["id"] == ids[1]
    assert client.get("/learn/L99").status_code == 200


def test_nothing_is_shown_before_every_prediction_is_stored(client: httpx.Client) -> None:
    assert chapter(client).waiting == ("row", "sharper")
    half = chapter(client, row=["0.04", "0.26", "0.7"])
    assert (half.waiting, half.shown, half.predict[0].compared) == (("sharper",), (), ())
    assert half.predict[0].said == ("0.04", "0.26", "0.7")
    first, *steps, last = told(client.post("/api/learn/L4", json={"predictions": {"sharper": "best"}}))
    assert first["chapter"]["shown"] == []
    assert {tuple(step) for step in steps} <= {("progress",)}
    opened = ChapterDocument.model_validate(last["chapter"])
    assert opened.shown
    assert opened.predict[0].compared[0].said == "0.04"
    assert opened.predict[0].compared[0].right == "0.07"
    assert chapter(client, sharper="mean").predict[1].compared[0].holds is True


def test_a_prediction_that_is_none_stores_nothing(client: httpx.Client) -> None:
    for wrong in ({"row": ["1", "2"]}, {"row": ["a", "b", "c"]}, {"sharper": "best", "row": "1"}, {"softmax": "1"}):
        answer = client.post("/api/learn/L4", json={"predictions": wrong})
        assert answer.status_code == 422
        assert answer.json()["cause"]
    assert chapter(client).waiting == ("row", "sharper")


def test_two_tabs_that_predict_at_once_agree_on_one(course: Running, client: httpx.Client) -> None:
    def one(answer: str) -> str:
        with course.client() as tab:
            return chapter(tab, sharper=answer).predict[1].said[0]

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(one, ["mean", "best", "same", "larger"] * 2))
    assert len(found) == 1


def test_answers_are_graded_and_the_outline_knows(client: httpx.Client) -> None:
    wrong = graded(client, "softmax", ["0.61", "0.22", "0.17"])
    assert [row.holds for row in wrong.graded.rows] == [False, False, False]
    assert {row.right for row in wrong.graded.rows} == {""}
    right = graded(client, "softmax", ["0.67", "0.24", "0.09"])
    assert (right.graded.passed, right.attempts) == (True, 2)
    roles = {"seeks": "query", "labels": "key", "hands": "value", "width": "value", "rows": "query"}
    assert graded(client, "roles", roles).graded.passed
    assert graded(client, "missing", "scaling").graded.passed
    outline = CourseDocument.model_validate(client.get("/api/learn", params={"lang": "zh"}).json())
    row = next(row for row in outline.chapters if row.id == "L4")
    assert (row.passed, row.done) == (3, "begun")
    assert len(outline.statements) == 8
    found = {name: (row.passed, row.ticked) for row in outline.statements for name in row.exercises}
    assert found["L4.attention"][1] is False
    assert found["L4.softmax"][0] >= 2


def test_code_is_judged_in_a_cell(client: httpx.Client) -> None:
    right = graded(client, "attention", ATTENTION).graded
    assert right.passed
    assert "audit" in right.walls
    late = ATTENTION.replace("s = np.where(mask, -np.inf, Q @ K.T / np.sqrt(Q.shape[1]))", "s = Q @ K.T")
    assert not graded(client, "attention", late).graded.passed
    reading = "print(open('/etc/passwd').read())\n" + ATTENTION
    refused = graded(client, "attention", reading).graded
    assert not refused.passed
    assert "root:" not in refused.model_dump_json()
    assert client.post("/api/learn/L4/exercises/attention", json={"answer": "  "}).status_code == 422


def test_the_server_answers_while_code_runs(course: Running, client: httpx.Client) -> None:
    slow = "for _ in range(2 * 10**7):\n    pass\n" + ATTENTION
    with ThreadPoolExecutor(1) as pool:
        grading = pool.submit(graded, client, "attention", slow)
        asked = 0
        with course.client() as other:
            while not grading.done():
                assert other.get("/api/learn").status_code == 200
                asked += 1
        assert grading.result().graded.passed
    assert asked > 3


def test_a_recital_is_heard(client: httpx.Client) -> None:
    asked = {"told": "query, key, value; score, softmax, weighted sum", "seconds": 61.5, "lang": "en"}
    heard = RecitedDocument.model_validate(client.post("/api/learn/L4/recital", json=asked).json())
    assert heard.seconds == 61.5
    assert heard.missing == ("made", "argmax")
    assert client.post("/api/learn/L4/recital", json={"told": " "}).status_code == 422
    assert client.post("/api/learn/L4/recital", json={"told": "x", "seconds": -1}).status_code == 422


WRONG: dict[str, tuple[str, Any]] = {
    "no such chapter": ("/api/learn/L99", {}),
    "no such exercise": ("/api/learn/L4/exercises/nothing", {"answer": "1"}),
    "no answer": ("/api/learn/L4/exercises/softmax", {}),
    "a number": ("/api/learn/L4/exercises/softmax", {"answer": 3}),
    "a tree": ("/api/learn/L4/exercises/softmax", {"answer": {"a": {"b": "c"}}}),
    "half a character": ("/api/learn/L4/exercises/softmax", {"answer": ["\ud800", "1", "2"]}),
    "a map for numbers": ("/api/learn/L4/exercises/softmax", {"answer": {"a": "1"}}),
    "another language": ("/api/learn/L4", {"lang": "fr"}),
    "predictions as a list": ("/api/learn/L4", {"predictions": ["1"]}),
    "not an object": ("/api/learn/L4", [1]),
    "too long": ("/api/learn/L4/exercises/attention", {"answer": "x" * 300_000}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_told_in_one_line(client: httpx.Client, name: str) -> None:
    path, body = WRONG[name]
    answer = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert "\n" not in answer.json()["cause"]


def test_malformed_requests_are_no_fault_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded, so that a failure comes again; without a wire, where each would wait for its end."""
    monkeypatch.setenv("WHYBOX_PROGRESS", str(tmp_path / "course.json"))
    draw = random.Random(7)
    leaves = ["", "L4", "best", "\ud800", "1e999", "−1", "\u0000", "０．５", 7, -1.5, None, True, [], {}, "9" * 400]
    names = ["answer", "lang", "predictions", "told", "seconds", "row", "sharper", "softmax", "x"]

    def value(depth: int) -> Any:
        kind = draw.random()
        if depth == 0 or kind < 0.5:
            return draw.choice(leaves)
        if kind < 0.75:
            return [value(depth - 1) for _ in range(draw.randrange(4))]
        return {draw.choice(names): value(depth - 1) for _ in range(draw.randrange(4))}

    chapters = ["L4", "l04", "L0", "L-1", "..", "%00", "L4%2f", "L" * 30, "退款"]
    ends = ["", "/exercises/softmax", "/exercises/roles", "/exercises/differs", "/exercises/%00", "/recital", "/x"]
    with TestClient(application(Room(Table.laid(no_model, None)))) as client:
        for _ in range(300):
            path = f"/api/learn/{draw.choice(chapters)}{draw.choice(ends)}"
            body = json.dumps(value(3)) if draw.random() < 0.9 else draw.choice(["", "{", "\x00", "NaN"])
            answer = client.post(path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code < 500, (path, body, answer.text)


def test_a_broken_progress_file_is_told_and_left_as_it_is(client: httpx.Client) -> None:
    kept = Path(client.get("/api/learn").json()["kept"])
    kept.write_text("no JSON", encoding="utf-8")
    answer = client.get("/api/learn")
    assert answer.status_code == 503
    assert "left as it is" in answer.json()["remedy"]
    assert kept.read_text(encoding="utf-8") == "no JSON"


def test_strangers_are_refused(course: Running) -> None:
    with httpx.Client(base_url=course.url) as stranger:
        for path in ("/learn", "/learn/L4", "/api/learn"):
            assert stranger.get(path).status_code == 401
        assert stranger.post("/api/learn/L4", json={}).status_code == 401


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Classroom]]:
    monkeypatch.setenv("WHYBOX_PROGRESS", str(tmp_path / "course.json"))
    worker, made = Worker(), []

    def make(served: Callable[[], Any], opening: Callable[[], Any]) -> Classroom:
        made.append(Classroom(worker, served, opening))
        return made[-1]

    yield make
    worker.close()
    for each in made:
        each.close()


def a_model(precision: str = "fp32", digest: str = ALIASES["smollm2"].sha256) -> Model:
    """As much of one as is asked for."""
    model = Model.__new__(Model)
    object.__setattr__(model, "engine", SimpleNamespace(precision=precision))
    object.__setattr__(model, "file", SimpleNamespace(digest=lambda: digest))
    return model


@pytest.mark.parametrize("foreign", [a_model(digest="another"), a_model("bf16"), None])
def test_the_explorers_model_is_shared_where_it_is_the_courses(room: Callable[..., Classroom], foreign: Any) -> None:
    served, own = a_model(), a_model()
    assert room(lambda: served, no_model).model() is served
    assert room(lambda: foreign, lambda: own).model() is own


def test_a_model_that_cannot_be_opened_is_told_and_tried_again(room: Callable[..., Classroom]) -> None:
    tries, own = [], a_model()

    def opening() -> Model:
        tries.append(1)
        return no_model() if len(tries) == 1 else own

    here = room(lambda: None, opening)
    with pytest.raises(FormatError, match="expected GGUF"):
        here.model()
    assert here.model() is own
    assert here.model() is own
    assert len(tries) == 2

    def busy() -> Model:
        raise CapacityError("the model is still being opened")

    with pytest.raises(CapacityError):
        room(busy, opening).model()


def test_a_chapter_whose_model_cannot_be_opened_says_so(
    course: Running, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are there all the same."""
    monkeypatch.setattr("whybox.web.learning.open_model", lambda name: no_model())
    asked = ChapterDocument.model_validate(told(client.post("/api/learn/L1", json={}))[0]["chapter"])
    first, *_, last = told(client.post("/api/learn/L1", json={"predictions": dict(map(_any, asked.predict))}))
    assert first["chapter"]["waiting"] == []
    assert last["error"] == {"cause": "x.gguf: header: expected GGUF, found nothing", "remedy": "take another file"}


def _any(row: PredictionRow) -> tuple[str, Any]:
    asked = row.question
    if asked.kind == "numbers":
        return asked.id, ["1"] * len(asked.fields)
    ids = [option.id for option in asked.options]
    match asked.kind:
        case "match":
            return asked.id, {item.id: ids[0] for item in asked.items}
        case "order":
            return asked.id, ids
        case _:
            return asked.id, ids[0]
