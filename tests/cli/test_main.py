"""Exit codes, streams and start-up time of the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import whybox as package
from tests.cli.conftest import ROOT, Ended, Whybox
from whybox.cli.options import Lang, language
from whybox.cli.outcome import exit_codes
from whybox.errors import CapacityError, CaseError, LedgerError, WhyboxError

HEAVY = {
    "numpy",
    "scipy",
    "statsmodels",
    "torch",
    "httpx",
    "huggingface_hub",
    "pydantic",
    "jinja2",
    "altair",
    "tokenizers",
}


def test_help_names_the_verbs(whybox: Whybox) -> None:
    ended = whybox("--help")
    assert ended.code == 0
    assert ended.err == ""
    for verb in ("pull", "models"):
        assert verb in ended.out
        assert whybox(verb, "-h").code == 0


def test_python_m_whybox_is_the_same_command() -> None:
    version = subprocess.run(
        [sys.executable, "-m", "whybox", "--version"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert version.stdout.strip() == f"whybox {package.__version__}"


def loaded_by(*modules: str) -> set[str]:
    """The names of all modules that are loaded once these are."""
    script = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(loaded.stdout.split())


def test_help_loads_nothing_heavy() -> None:
    assert HEAVY & {name.split(".")[0] for name in loaded_by("whybox.cli.main")} == set()


def test_statistics_are_loaded_where_they_are_computed_and_not_before() -> None:
    """They take a second, of which a next token or an error has no need."""
    loaded = loaded_by("whybox.cli.opening", "whybox.jobs.next", "whybox.report.text", "whybox.jobs.look")
    assert {"whybox.statistics.intervals", "whybox.statistics.ranks", "whybox.parts.mlp", "scipy"} <= loaded
    assert {"scipy.stats", "scipy.special", "statsmodels", "pandas"} & loaded == set()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows counts no processor time of children")
def test_help_takes_less_than_half_a_second_of_processor_time(whybox: Whybox) -> None:
    before = os.times()
    whybox.start("--help").communicate(timeout=60)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert 0 < spent < 0.5


@pytest.mark.parametrize("arguments", [["fly"], ["pull"], ["pull", "tiny", "--what"], ["models", "--lang", "fr"]])
def test_usage_errors_end_with_2(whybox: Whybox, arguments: list[str]) -> None:
    ended = whybox(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


def outcome_of(error: BaseException, capsys: pytest.CaptureFixture[str]) -> Ended:
    with pytest.raises(typer.Exit) as caught, exit_codes():
        raise error
    streams = capsys.readouterr()
    return Ended(caught.value.exit_code, streams.out, streams.err)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (CaseError("no answer", "Add `answer:`."), 2, "whybox: no answer\nAdd `answer:`.\n"),
        (CapacityError("9 GB needed"), 3, "whybox: 9 GB needed\n"),
        (WhyboxError("two\nlines", ""), 3, "whybox: two lines\n"),
        (
            LedgerError("m.gguf", ["a<b\x1b[2J\u202e"], []),
            3,
            "whybox: m.gguf: only in the file: a<b␛[2J\\u202e; only in the model: nothing\n",
        ),
        (KeyboardInterrupt("3 of 9 runs are in x.json"), 130, "whybox: interrupted\n3 of 9 runs are in x.json\n"),
        (KeyboardInterrupt(), 130, "whybox: interrupted\n"),
    ],
)
def test_errors_are_one_line_of_cause_and_one_of_remedy(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome_of(error, capsys) == Ended(code, "", told)


@pytest.mark.parametrize("asked", [("--lang", "zh"), ()])
def test_a_chinese_reader_is_told_errors_in_chinese(
    whybox: Whybox, tmp_path: Path, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8" if asked else "zh_CN.UTF-8")
    ended = whybox("report", str(tmp_path), *asked)
    told = f"whybox: {tmp_path / 'run.sqlite'} 中没有测试结果\n请先运行：whybox run SUITE.yaml -o DIR\n"
    assert (ended.code, ended.out, ended.err) == (2, "", told)


def test_ctrl_c_is_told_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, exit_codes(lambda: "zh"):
        raise KeyboardInterrupt("What was done is in out; the same command goes on from there.")
    told = "whybox: 已中断\n已完成的部分在 out 中；再次运行同一命令即可从那里继续。\n"
    assert (caught.value.exit_code, capsys.readouterr().err) == (130, told)


def test_faults_of_the_world_and_of_ours_end_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    closed = outcome_of(PermissionError(13, "Permission denied", "out.json"), capsys)
    assert closed.code == 3
    assert closed.err.startswith("whybox: [Errno 13] Permission denied: 'out.json'\n")
    assert outcome_of(MemoryError(), capsys).code == 3
    ours = outcome_of(ZeroDivisionError("oops"), capsys)
    assert ours.code == 3
    assert "Traceback" in ours.err
    assert "a fault in whybox: ZeroDivisionError" in ours.err


@pytest.mark.parametrize("code", [0, 1, 4, 5])
def test_a_verb_chooses_its_own_end(code: int) -> None:
    with pytest.raises(typer.Exit) as caught, exit_codes():
        raise typer.Exit(code)
    assert caught.value.exit_code == code


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows end otherwise")
def test_a_reader_that_has_gone_ends_the_run_without_a_word(whybox: Whybox) -> None:
    read, write = os.pipe()
    os.close(read)
    process = whybox.start("models", stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_ends_with_3(whybox: Whybox) -> None:
    with open("/dev/full", "w") as full:
        process = whybox.start("models", stdout=full.fileno())
        _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "No space left on device" in err
    assert "Traceback" not in err


def test_output_is_utf_8_whatever_the_locale_says(whybox: Whybox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii:strict")
    monkeypatch.setenv("LC_ALL", "C")
    ended = whybox("models", "--lang", "zh")
    assert ended.code == 0
    assert "本机还没有模型。" in ended.out


@pytest.mark.parametrize(
    ("locale", "expected"),
    [("zh_CN.UTF-8", Lang.zh), ("zh_TW", Lang.zh), ("en_GB.UTF-8", Lang.en), ("C", Lang.en), ("fr_FR", Lang.en)],
)
def test_the_language_is_the_locales_unless_it_is_named(
    locale: str, expected: Lang, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert language(None) == expected
    assert language(Lang.en) == Lang.en
    assert language(Lang.zh) == Lang.zh


@pytest.mark.parametrize(
    ("typed", "option"),
    [
        (("why", "x.yaml", "-o", "a.json", "--out", "b.html"), "--out"),
        (("look", "x", "-o", "a.html", "-o", "b.csv"), "--out"),
        (("run", "x.yaml", "-o", "a", "-o", "b"), "--out"),
        (("report", "x", "-o", "a.html", "-o", "b.md"), "--out"),
        (("next", "x", "--seed", "1", "--seed", "2"), "--seed"),
        (("bots", "serve", "--port", "1", "--port", "2"), "--port"),
    ],
)
def test_an_option_of_one_value_given_twice_is_refused(whybox: Whybox, typed: tuple[str, ...], option: str) -> None:
    ended = whybox(*typed)
    assert ended.code == 2
    assert option in ended.err
    assert "given several" in ended.err


def test_what_may_be_repeated_may_still_be(whybox: Whybox) -> None:
    ended = whybox("next", "x", "--accept-key", "a", "--accept-key", "b", "--quiet", "--quiet", "-m", "nowhere.gguf")
    assert "there is no file nowhere.gguf" in ended.err
