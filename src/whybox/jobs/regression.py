"""The finding as a test that keeps it in CI."""

from whybox.items.case import Case
from whybox.verdict.tree import Leaf, Ruling

_HEAD = '''import pytest
import whybox

MODEL = {model!r}
CASE = {source}


{mark}@pytest.mark.parametrize("instance", CASE.instances(), ids=lambda instance: instance.id)
def test_{name}(instance):
    """{says}"""
    model = whybox.open(MODEL)
{body}'''

_WRITES = """    written = model.generate(model.prompt({prompt}), 32)
    assert instance.scorer().score(written.text).right, written.text
"""
_ORDERS = """    parts = [part.name for part in instance.parts if part.name in {parts!r}]
    for shift in range(len(parts)):
        moved = instance.reordered(parts[shift:] + parts[:shift])
        written = model.generate(model.prompt(moved), 32)
        assert instance.scorer().score(written.text).right, written.text
"""


def regression_test(model: str, case: str, source: str, ruling: Ruling) -> str:
    """A pytest file: the answer must be right. A wrong answer without a named cause is marked as a known failure.

    case: its id. source: the Python that reads it (`source_of`).
    """
    leaf = ruling.causes[0]
    return _HEAD.format(
        model=model,
        source=source,
        mark='@pytest.mark.xfail(reason="known failing")\n' if leaf.code == "not-determined" else "",
        name="".join(c if f"_{c}".isidentifier() else "_" for c in case),
        says=_quoted(_says(leaf)),
        body=_body(leaf),
    )


def source_of(case: Case, file: str) -> str:
    """How the case is read again, as Python: from its own file, or from the chat that it was made of."""
    if file.endswith(".json"):
        answer = case.filled()
        return f"whybox.Case.load_messages({file!r}, {answer.right!r}, {answer.wrong!r})"
    return f"whybox.Case.load({file or case.id + '.yaml'!r})"


def _quoted(text: str) -> str:
    """For a docstring: names of parts come from elsewhere and never end it."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _says(leaf: Leaf) -> str:
    match leaf.code:
        case "order":
            return "The answer is right in every order of the parts."
        case "context-use":
            return f"The answer follows {', '.join(leaf.about)}."
        case _:
            return "The answer is right."


def _body(leaf: Leaf) -> str:
    if leaf.code == "order" and leaf.undone_by is not None:
        return _ORDERS.format(parts=leaf.undone_by.what.removeprefix("order ").split())
    return _WRITES.format(prompt="instance")
