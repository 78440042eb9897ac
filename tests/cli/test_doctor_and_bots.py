"""`whybox bots serve` and `whybox doctor`, as processes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import warm
from whybox.report.document import schemas

ROOT = Path(__file__).parents[2]
SECRET = "sk-cli-0123456789"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "whybox", *arguments]


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "WHYBOX_"))}
    return kept | {"PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C.UTF-8", "COLUMNS": "80"} | more


def run(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return warm.whybox(*arguments, env=environment(**more))


@contextmanager
def served(*arguments: str) -> Iterator[tuple[str, str]]:
    """A served bot: its address and the name of its target, the two lines that it prints first."""
    process = subprocess.Popen(
        command("bots", "serve", *arguments), env=environment(), stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


FEW = ("--items", "3", "--times", "3", "--context", "512", "--quiet")


def test_a_served_bot_is_examined_and_the_key_shown_nowhere(tmp_path: Path) -> None:
    out = tmp_path / "doctor.json"
    with served("--bot", "template_breaker", "--kind", "doubles_bos") as (url, target):
        assert target == "openai:whybox-template_breaker"
        ended = run("doctor", target, *FEW, "--json", "-o", str(out), OPENAI_BASE_URL=url, OPENAI_API_KEY=SECRET)
    assert ended.returncode == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert document == json.loads(out.read_text("utf-8"))
    assert document["schema"] == {"name": "whybox.doctor", "version": 1}
    assert document["target"]["details"]["base_url"] == url
    assert [check["finding"] for check in document["checks"] if check["state"] == "fault"] == ["bos.twice"]
    assert set(document) == set(schemas()["whybox.doctor"]["properties"])
    assert SECRET not in ended.stdout + ended.stderr + out.read_text("utf-8")


@pytest.mark.parametrize(("lang", "said"), [("en", "Nothing was found that would spoil"), ("zh", "没有发现会损害")])
def test_a_bot_in_this_process(lang: str, said: str) -> None:
    ended = run("doctor", "bot:honest(p=0.8)", *FEW, "--lang", lang)
    assert ended.returncode == 0, ended.stderr
    assert said in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_what_cannot_be_told_ends_with_4_only_where_that_is_asked() -> None:
    usual, strict = (run("doctor", "bot:always_first", *FEW, *more) for more in ((), ("--strict",)))
    undetermined = "could not be told" in usual.stdout
    assert (usual.returncode, strict.returncode) == ((0, 4) if undetermined else (0, 0))


@pytest.mark.parametrize(
    ("arguments", "more", "code", "said"),
    [
        (
            ("doctor", "openai:m", "--max-retries", "0"),
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
            3,
            "cannot be reached",
        ),
        (("doctor", "openai:m"), {"OPENAI_BASE_URL": "127.0.0.1:1"}, 2, "base_url: expected http"),
        (("doctor", "openai:m"), {"OPENAI_BASE_URL": ""}, 2, "openai:m: no address is given"),
        (
            ("doctor", "openai:m"),
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": f"{SECRET} x"},
            2,
            "no header can carry",
        ),
        (("doctor", "bot:nobody"), {}, 2, "no bot 'nobody'"),
        (("bots", "serve", "--bot", "honest", "--b", "0.3"), {}, 2, "honest has no b"),
        (("bots", "serve", "--bot", "honest", "--p", "3"), {}, 2, "cannot be meant"),
    ],
)
def test_each_mistake_is_one_line_and_a_remedy(
    arguments: tuple[str, ...], more: dict[str, str], code: int, said: str
) -> None:
    ended = run(*arguments, **more)
    assert (ended.returncode, ended.stdout) == (code, "")
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("about ")]
    assert len(lines) == 2
    assert said in lines[0]
    assert SECRET not in ended.stderr


def test_bots_are_listed_with_their_truths() -> None:
    rows = {row["bot"]: row for row in json.loads(run("bots", "list", "--json").stdout)}
    assert rows["position_biased"]["truth"]["D"] == pytest.approx(0.09)
    assert "position_biased(b=0.3)" in run("bots", "list").stdout
