"""The generated test is Python whatever the names say, and foreign names stay data in it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import whybox
from tests.report.fixtures import HOSTILE
from whybox.engine.choice import Way
from whybox.items.case import Case
from whybox.jobs.regression import Opened, regression_test, source_of
from whybox.jobs.regression_suite import Finding
from whybox.verdict.leaf import Leaf
from whybox.verdict.tree import Ruling

ENDS_A_DOCSTRING = 'x"""\n    import os\n    os.abort()\n    """'
CASE = Case.from_data({"id": "a", "text": "How long?", "answer": {"right": "7 days", "kind": "number"}})
NAMES = [HOSTILE, ENDS_A_DOCSTRING, "back\\", "c²é 天-1", "{model}", "'", "\u2028"]


def written(name: str, leaf: Leaf) -> ast.Module:
    case = replace(CASE, text=CASE.text.model_copy(update={"id": name}))
    found = Finding(case, (), (), "", None, ())
    ruling = Ruling((leaf,), (), (), variants=False)
    return ast.parse(regression_test(Opened(name, Way(), False), 0, f"whybox.Case.load({name!r})", ruling, found))


@pytest.mark.parametrize("name", NAMES)
def test_names_are_data(name: str) -> None:
    leaf = Leaf("context-use", None, about=(name,))
    plain, tree = written("plain", Leaf("context-use", None, about=("plain",))), written(name, leaf)
    assert [type(node) for node in ast.walk(tree)] == [type(node) for node in ast.walk(plain)]
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    assert function.name.startswith("test_")
    assert ast.get_docstring(function, clean=False) == f"The answer follows {name}."
    assert ast.literal_eval(tree.body[2].value) == name  # type: ignore[attr-defined]


def test_a_chat_is_read_again_as_a_chat(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text('[{"role": "user", "content": "How long?"}]', "utf-8")
    case = Case.load_messages(file, "7 days", "30 days")
    again = eval(source_of(case, str(file)), {"whybox": whybox})
    assert again.filled() == case.filled()
    assert source_of(case, "a.yaml") == "whybox.Case.load('a.yaml')"
