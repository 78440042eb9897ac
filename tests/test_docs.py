"""The pages are true: links lead somewhere, tables equal the code, Python runs, commands exist."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests import warm
from tests.documents import PAGES, READMES, ROOT, Shown, assert_prints, blocks, commands, shown
from tests.models import model_path
from whybox import sites
from whybox.cli.main import app

_LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)|src=\"(?!https?:)([^\"]+)\"")
_VERBS: dict[str, Any] = vars(get_command(app))["commands"]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor, image in _LINK.findall(page.read_text("utf-8")):
        found = (page.parent / (target or image)).resolve() if target or image else page
        assert found.exists(), f"{name_of(page)} links to {target or image}"
        if anchor:
            assert anchor in anchors(found), f"{name_of(page)} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Anchors as GitHub makes them from headings, and those written by hand."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


def test_the_sites_table_is_the_code() -> None:
    text = (ROOT / "docs/python.md").read_text("utf-8")
    table = text.split("<!-- sites: begin -->\n")[1].split("<!-- sites: end -->")[0]
    rows = [f"| `{s.name}` | {s.axes} | {'yes' if s.per_layer else ''} | {s.meaning} |\n" for s in sites.SITES]
    assert table == "| site | axes | in each layer | what it is |\n|---|---|---|---|\n" + "".join(rows)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_exists_with_its_options(page: Path) -> None:
    for command in commands(page):
        verb, *words = command.split()[1:]
        if verb.startswith("-"):
            continue
        assert verb in _VERBS, f"{name_of(page)}: {command}"
        known = options_of(_verb(verb, words))
        for word in words:
            if re.fullmatch(r"--?[a-z][a-z-]*", word):
                assert word in known, f"{name_of(page)}: {command}"
            if word.startswith("examples/"):
                assert (ROOT / word).exists(), f"{name_of(page)}: {command}"


def _verb(name: str, words: list[str]) -> Any:
    """A verb; of a group of verbs (`bots`), the one that is named behind it."""
    group = vars(_VERBS[name]).get("commands")
    return _VERBS[name] if group is None else group[words[0]]


def options_of(verb: Any) -> set[str]:
    return {name for option in verb.params for name in (*option.opts, *option.secondary_opts)}


def process(*arguments: str) -> str:
    """What a Python process prints, 80 columns wide, in English unless told; shapes are not enforced there."""
    model_path("smollm2")
    narrow = {"COLUMNS": "80", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")}
    narrow["WHYBOX_ENGINE"] = "numpy"  # the pages show what the base install prints
    narrow["WHYBOX_PROGRESS"] = str(ROOT / "no" / "course.json")  # and what somebody sees who begins
    ended = warm.python(*arguments, cwd=ROOT, env=os.environ | narrow, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


PYTHON = [page for page in PAGES if any(blocks(page, "python")) and page != READMES[1]]  # the same blocks as READMES[0]


@pytest.mark.model
@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_python_runs_and_says_what_the_page_says(page: Path) -> None:
    assert int(process("-m", "tests.documents", str(page)).split()[-1]) > 0


QUICK = (["whybox", "next"], ["whybox", "look"], ["whybox", "size"], ["whybox", "learn"])
SHOWN = [(page, one) for page in PAGES for one in shown(page) if one.arguments[:2] in QUICK and one.output]


@pytest.mark.model
@pytest.mark.parametrize(("page", "one"), SHOWN, ids=[f"{name_of(page)} {one.command[7:40]}" for page, one in SHOWN])
def test_it_prints_what_the_page_shows(page: Path, one: Shown) -> None:
    assert_prints(process("-m", *one.arguments), one.output)


def test_pages_speak_of_no_verb_that_does_not_exist() -> None:
    """A planned verb may be named as planned (README, one paragraph), and is never shown as a command."""
    for page in PAGES:
        for verb in re.findall(r"`whybox ([a-z]+)", page.read_text("utf-8")):
            assert verb in _VERBS, f"{name_of(page)} shows whybox {verb}"
