"""Reasons in the reader's language: every reason that a job can give on a page is known, with its numbers."""

import re
from pathlib import Path

import pytest

import whybox
from tests.report import fixtures
from whybox.report.html import why_page
from whybox.report.reasons import reason

SOURCE = Path(whybox.__file__).parent


def given() -> set[str]:
    """Reasons as they are written in the code of the experiments: `Unknown("…")`, without those that quote an error."""
    texts: set[str] = set()
    for folder in ("cause", "jobs", "probes", "statistics", "suite"):
        for file in (SOURCE / folder).rglob("*.py"):
            texts |= set(re.findall(r'Unknown\(\s*f?"([^"]*)"', file.read_text(encoding="utf-8")))
    return {
        re.sub(r"\{[^}]*\}", "7", text) for text in texts if "error." not in text and "time is not known" not in text
    }


@pytest.mark.parametrize("text", sorted(given()))
def test_reasons_of_experiments_are_known_in_chinese(text: str) -> None:
    assert reason(text, "en") == text
    chinese = reason(text, "zh")
    assert chinese != text
    assert re.findall(r"\d+", chinese) == re.findall(r"\d+", text)


def found_by_diff() -> set[str]:
    """What the ladder of `diff` can say, as it is written in its code, with values in place."""
    texts: set[str] = set()
    for name in ("ladder", "fed", "described", "serving"):
        source = (SOURCE / "compare" / f"{name}.py").read_text(encoding="utf-8")
        texts |= set(re.findall(r'(?:yield|return) f?"([^"]* [^"]*)"$', source, re.MULTILINE))
        texts |= set(re.findall(r'Rung\("\w+", "(?:different|unknown|same)", f?"([^"]+)"\)', source))
    values = {"side": "first", "form": "NFC", "by.pop():+d": "+3", "kind": "text", "cuts": "a|b and ab"}
    return {re.sub(r"\{([^}]*)\}", lambda found: values.get(found[1], _value(found[1])), text) for text in texts}


def _value(what: str) -> str:
    if "_opposite" in what:
        return "second"
    return "[7]" if what.startswith(("mine[", "theirs[", "prompt.positions", "positions[")) else "7"


@pytest.mark.parametrize("text", sorted(found_by_diff()))
def test_what_the_ladder_of_diff_finds_is_known_in_chinese(text: str) -> None:
    chinese = reason(text, "zh")
    assert chinese != text
    assert not re.search(r"\b(the|and|on|of|side)\b", chinese)
    assert sorted(re.findall(r"\d+", chinese)) == sorted(re.findall(r"\d+", text))


def test_a_check_is_named_in_the_readers_language_too() -> None:
    assert reason("ids: BOS on the second side alone", "zh") == "token id：仅第二侧有 BOS"
    assert reason("ids: BOS on the second side alone", "en") == "ids: BOS on the second side alone"


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    assert reason("the moon is full", "zh") == "the moon is full"


def test_the_page_shows_them() -> None:
    document = fixtures.why(full=None, full_reason="run with --effort full")
    assert "用 --effort full 运行可得" in why_page(document, "zh")
    assert "run with --effort full" in why_page(document, "en")
