"""Errors in Chinese: every sentence listed is one that the code says, and every one that a page may meet is listed."""

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import whybox
from whybox.errors import CapacityError, FormatError, PromptError, SiteError, WhyboxError
from whybox.report.error_words import KINDS, SENTENCES, SHAPES, in_language, said

HOME = Path(whybox.__file__).parent
SEEN = (
    "web/*.py",
    "jobs/explore/*.py",
    "jobs/why_input.py",
    "text/prompt.py",
    "text/sandbox.py",
    "library/local.py",
)
UNSEEN = {  # needs another program than a page, or words of a file
    "no token {}; this prompt has {}",
    "--fact holds no text",
    "--fact is for a case without evidence; this one names {}",
    "--fact changes nothing: the prompt says exactly this already",
    "{} holds {} models: {}",
    "another text needs another prompt: {}",
}


def template(node: ast.expr) -> str | None:
    """A string as it is written, with a blank for each value that is put in."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(each.value if isinstance(each, ast.Constant) else "{}" for each in values)
    return None


def trees(*patterns: str) -> Iterator[ast.Module]:
    for pattern in patterns:
        for path in sorted(HOME.glob(pattern)):
            yield ast.parse(path.read_text(encoding="utf-8"))


def spoken() -> set[str]:
    """Every string of the source but for the list itself."""
    found: set[str] = set()
    for tree in trees("**/*.py"):
        if not any(isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SENTENCES" for node in tree.body):
            found |= {text for node in ast.walk(tree) if isinstance(node, ast.expr) and (text := template(node))}
    return found


def raised() -> Iterator[str]:
    """Causes of the errors that are raised in what the explorer runs."""
    names = {kind.__name__ for kind in KINDS}
    for tree in trees(*SEEN):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                causes = (
                    [node.args[0].body, node.args[0].orelse] if isinstance(node.args[0], ast.IfExp) else [node.args[0]]
                )
                yield from (text for each in causes if (text := template(each)))


def test_every_sentence_is_said_somewhere() -> None:
    """One that nobody says any more would hide that another one is missing."""
    assert sorted(set(SENTENCES) - spoken()) == []


def test_every_error_of_the_explorer_is_known() -> None:
    """But for those that only pass on what another error says."""
    causes = set(raised()) - UNSEEN - {"{}: {}"}
    assert len(causes) > 25
    asked = {cause: cause.replace("{}", "x") for cause in causes}
    assert {cause for cause, text in asked.items() if in_language(text, "zh") == text} == set()


@pytest.mark.parametrize("english", SENTENCES | SHAPES)
def test_blanks_are_kept(english: str) -> None:
    """As many blanks, and every value in the sentence; English words are left to names and commands."""
    values = [f"«{i}»" for i in range(english.count("{}"))]
    filled = in_language(english.replace("{}", "%s") % tuple(values) if values else english, "zh")
    kept = [value for value in values if value in filled]
    assert kept == values or english in SHAPES  # of a shape the reader needs no names of classes
    assert re.search(r"[\u4e00-\u9fff]", filled), filled


def test_a_sentence_within_a_sentence() -> None:
    assert in_language("A: the prompt is empty", "zh") == "A：提示词为空"
    state = "this state compares with the model <b>, which this server does not have: it was started without one"
    assert in_language(state, "zh") == "此状态要与模型 <b> 对比，而本服务器没有它：启动时没有指定第二个模型"
    assert in_language("state.prompt: field required", "zh") == "state.prompt：缺少该字段"


def test_english_stays_and_what_is_unknown_says_its_kind() -> None:
    assert said(PromptError("the prompt is empty", "give it some text"), "en") == {
        "cause": "the prompt is empty",
        "remedy": "give it some text",
    }
    assert said(SiteError("something new"), "zh") == {"cause": "模型中没有这个位置：something new", "remedy": ""}
    assert (
        said(FormatError("x.gguf", "header", "GGUF", "nothing"), "zh")["cause"]
        == "x.gguf：header：应为 GGUF，实为 nothing"
    )
    assert said(CapacityError("the model is busy: 64 requests wait already", "try again in a moment"), "zh") == {
        "cause": "模型正忙：已有 64 个请求在等待",
        "remedy": "请稍后再试",
    }
    assert {kind for kind in KINDS if kind is not WhyboxError} >= {PromptError, SiteError, CapacityError}


def test_hostile_text_is_kept_as_it_is() -> None:
    name = "{0}{}%s</script>\n退款"
    assert name in in_language(f"no segment {name!s}; this prompt has a", "zh")


@pytest.mark.parametrize(
    "text",
    ["a: " * 50_000, ": " * 50_000 + "expected ", "{}: expected {}, found {}: " * 20_000, "no segment " * 50_000],
)
def test_long_hostile_text_is_read_in_time(text: str) -> None:
    """A name may be anything: colons without end, pieces of sentences over and over."""
    began = time.monotonic()
    assert in_language(text, "zh")
    assert time.monotonic() - began < 2
