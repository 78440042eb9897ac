"""`whybox run` where nothing can be measured: one clear message, its exit code, and nothing scored."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.targets.scripted import Script, Scripted, http, stream
from whybox.cli.main import app
from whybox.suite.behaviour import Behaviour

SUITE = "suite: s\ntargets: [{target}]\nprobes:\n  order: {{items: 3}}\n"
BOT = SUITE.format(target="bot:honest")
KEY = "sk-expired-0123456789abcdef"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


def refused(text: str) -> tuple[int, str]:
    """Exit code and what stands on stderr; no report was written, and nothing is said of any rate."""
    Path("whybox.yaml").write_text(text)
    result = CliRunner().invoke(app, ["run", "--quiet", "--lang", "en"])
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert not [path.name for path in Path("whybox-run").glob("*") if "run.sqlite" not in path.name]
    return result.exit_code, " ".join(result.stderr.split())


@contextmanager
def answering(script: Script | Scripted) -> Iterator[str]:
    """The address of a server that answers so, on a thread of its own."""
    loop = asyncio.new_event_loop()
    scripted = script if isinstance(script, Scripted) else Scripted(script)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    serving = scripted.serving()
    try:
        yield asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(5)
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


def endpoint(url: str) -> str:
    return SUITE.format(target=f'{{model: "openai:m", base_url: "{url}", max_retries: 0}}')


def test_bad_yaml() -> None:
    code, said = refused("suite: [\n")
    assert code == 2
    assert "whybox.yaml:2: expected YAML" in said


def test_an_unknown_probe() -> None:
    code, said = refused(BOT.replace("order:", "ordr:"))
    assert code == 2
    assert "whybox.yaml:4: probes.ordr" in said
    assert "did you mean 'order'?" in said


def test_a_gate_on_a_statistic_that_is_not_measured() -> None:
    code, said = refused(BOT + "gates:\n  - {probe: order, statistic: accuracy, at_least: 0.8}\n")
    assert code == 2
    assert "whybox.yaml:6: gates.0.statistic" in said
    assert "(changed, right)" in said


@pytest.mark.parametrize(("name", "text"), [("d.yaml", ""), ("d.jsonl", "\n"), ("d.csv", "id,question,right\n")])
def test_empty_data(name: str, text: str) -> None:
    Path(name).write_text(text)
    data = f"data:\n  mine: {{file: {name}}}\nprobes:\n  order: {{data: mine, parts: [a, b]}}\n"
    code, said = refused(f"suite: s\ntargets: ['bot:honest']\n{data}")
    assert code == 2
    assert f"whybox.yaml:4: data.mine.file: {name}" in said


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nosuch", "whybox.yaml:2: targets.0: no model 'nosuch'"),
        ("bot:honst", "whybox.yaml:2: targets.0: no bot 'honst' (did you mean 'honest'?)"),
        ("'bot:position_biased(bb=1)'", "position_biased has no bb (did you mean 'b'?)"),
        ("{model: 'openai:m', base_url: 'http://127.0.0.1:9/v1', ca_file: no.pem}", "targets.0: ca_file no.pem"),
    ],
)
def test_a_target_that_cannot_be_is_told_with_its_line(target: str, said: str) -> None:
    code, told = refused(SUITE.format(target=target))
    assert code == 2
    assert said in told


def test_data_of_another_name_and_no_file_are_told_with_their_lines() -> None:
    data = "data:\n  mine: {file: gone.jsonl}\nprobes:\n  order: {data: mine, parts: [a, b]}\n"
    suite = f"suite: s\ntargets: ['bot:honest']\n{data}"
    assert refused(suite)[1].startswith("whybox: whybox.yaml:4: data.mine.file: gone.jsonl: expected a case file")
    assert (
        "whybox.yaml:6: probes.order.data: expected data among mine, found 'min'"
        in refused(suite.replace("data: mine,", "data: min,"))[1]
    )


def test_data_that_does_not_fit_its_probe_is_told_with_the_line_of_the_probe() -> None:
    Path("d.csv").write_text("id,question,right,doc1\n1,How long?,7 days,It takes 7 days.\n")
    data = "data:\n  mine: {file: d.csv}\nprobes:\n  order: {data: mine, parts: [doc1, doc2]}\n"
    code, said = refused(f"suite: s\ntargets: ['bot:honest']\n{data}")
    assert code == 2
    assert "whybox.yaml:6: probes.order: 1: expected a part among doc1, question, found 'doc2'" in said


def test_a_dead_endpoint() -> None:
    code, said = refused(endpoint("http://127.0.0.1:9/v1"))
    assert code == 3
    assert "http://127.0.0.1:9/v1 cannot be reached" in said


def test_an_endpoint_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    code, said = refused(SUITE.format(target="'openai:m'"))
    assert code == 2
    assert "openai:m: no address is given" in said
    assert "OPENAI_BASE_URL" in said


@pytest.mark.parametrize("name", ["nosuch", "./nosuch.gguf", "bot:nosuch"])
def test_a_suite_for_a_model_that_is_not_there_is_not_written(name: str) -> None:
    result = CliRunner().invoke(app, ["init", "-m", name])
    assert result.exit_code in (2, 3)
    assert "nosuch" in result.stderr
    assert not Path("whybox.yaml").exists()


@pytest.mark.parametrize("name", ["smollm2", "openai:m", "bot:position_biased(b=0.3)", "hf:org/name"])
def test_a_suite_names_its_model_as_it_was_typed(name: str) -> None:
    assert CliRunner().invoke(app, ["init", "-m", name]).exit_code == 0
    assert Behaviour.load(Path("whybox.yaml")).file.targets[0].model == name


def test_an_endpoint_that_returns_a_page() -> None:
    with answering([http("<!doctype html><title>Log in</title>", kind="text/html")]) as url:
        code, said = refused(endpoint(url))
    assert code == 3
    assert "a web page, not with JSON" in said


def test_an_expired_key() -> None:
    with answering([http(f'{{"error": {{"message": "expired: {KEY}"}}}}', "401 Unauthorized")]) as url:
        code, said = refused(endpoint(url))
    assert code == 3
    assert "refused the <key from OPENAI_API_KEY>" in said
    assert KEY not in said
    assert all(KEY.encode() not in path.read_bytes() for path in Path("whybox-run").glob("*"))


NOTHING = '{"model": "served", "choices": [{"message": {"content": null}, "finish_reason": "stop"}]}'


def test_an_endpoint_that_never_says_anything_is_no_score_even_without_a_gate() -> None:
    with answering([http(NOTHING)]) as url:
        Path("whybox.yaml").write_text(OPTIONS.format(url=url, stream="false"))
        result = CliRunner().invoke(app, ["run", "--lang", "en"])
    assert result.exit_code == 3, result.stderr


OPTIONS = """
suite: s
seed: 7
targets:
  - model: "openai:served"
    base_url: "{url}"
    max_retries: 0
    concurrency: 2
    stream: {stream}
    extra_body: {{top_k: 4}}
    extra_headers: {{X-Tenant: blue}}
probes:
  order: {{items: 3, max_tokens: 17}}
run: {{temperature: 0.7, top_p: 0.9, seed: 40, stop: ["END", "\\n"], floor: {{items: 2, times: 2}}}}
"""
ANSWER = '{"model": "served", "choices": [{"message": {"content": "7 days"}, "finish_reason": "stop"}]}'
PIECES = stream(
    b'data: {"choices": [{"delta": {"content": "7 days"}, "finish_reason": "stop"}]}\n\n', b"data: [DONE]\n\n"
)


@pytest.mark.parametrize("pieces", [False, True])
def test_every_option_of_the_file_reaches_the_endpoint_and_the_key_nothing_else(here: Path, pieces: bool) -> None:
    server = Scripted([PIECES if pieces else http(ANSWER)])
    with answering(server) as url:
        Path("whybox.yaml").write_text(OPTIONS.format(url=url, stream=str(pieces).lower()))
        result = CliRunner().invoke(app, ["run", "--lang", "en"])
    assert result.exit_code == 0, result.stderr
    asked = [(head, json.loads(body)) for head, body in zip(server.heads, server.bodies, strict=True) if body]
    planned = [(head, body) for head, body in asked if body.get("max_tokens") == 17 and body.get("top_p") == 0.9]
    assert len(planned) >= 3 * 4 * 2
    for head, body in planned:
        assert f"authorization: bearer {KEY}" in head.lower()
        assert "x-tenant: blue" in head.lower()
        wanted = {"model": "served", "temperature": 0.7, "top_p": 0.9, "stop": ["END", "\n"], "top_k": 4}
        assert {name: body[name] for name in wanted} == wanted
        assert body.get("stream", False) is pieces
    assert {body["seed"] for _, body in planned} == {40, 41}  # order asks everything twice
    kept = [path for path in here.rglob("*") if path.is_file()]
    assert {"report.html", "report.json", "junit.xml", "run.sqlite"} <= {path.name for path in kept}
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
    assert KEY not in result.stdout + result.stderr
