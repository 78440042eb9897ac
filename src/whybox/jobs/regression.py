"""The finding as a test that keeps it in CI: the case, decoded as it states, on the model that was explained."""

from dataclasses import dataclass

from whybox.engine.choice import Way
from whybox.items.case import Case
from whybox.jobs.regression_suite import Finding
from whybox.verdict.leaf import Leaf
from whybox.verdict.tree import Ruling

_HEAD = '''import pytest
import whybox

MODEL = {model!r}
CASE = {source}


{mark}@pytest.mark.parametrize("instance", {instances}, ids=lambda instance: instance.id)
def test_{name}(instance):
    """{says}"""
    model = whybox.open(MODEL{options})
{body}'''

_WRITES = """    answer = whybox.answer(model, instance, {limit})
    assert answer.right, answer.text
"""
_ORDERS = """    parts = [part.name for part in instance.parts if part.name in {parts!r}]
    for shift in range(len(parts)):
        moved = instance.reordered(parts[shift:] + parts[:shift])
        answer = whybox.answer(model, moved, {limit})
        assert answer.right, answer.text
"""
_FACT = """    told = instance.replacing({{{asks!r}: {fact!r} + "\\n" + instance.part({asks!r}).text}})
    answer = whybox.answer(model, told, {limit})
    assert answer.right, answer.text
    answer = whybox.answer(model, instance, {limit})
    assert answer.declined, answer.text
"""


@dataclass(frozen=True)
class Opened:
    """The model that was explained, as it is opened again."""

    name: str
    way: Way
    allow_long: bool

    @property
    def options(self) -> str:
        """Arguments of `whybox.open` behind the name; none where all are its own choice."""
        usual = Way()
        told = {
            "engine": (self.way.engine, usual.engine),
            "precision": (self.way.precision, usual.precision),
            "allow_long": (self.allow_long, False),
        }
        return "".join(f", {name}={value!r}" for name, (value, own) in told.items() if value != own)


def regression_test(opened: Opened, seed: int, source: str, ruling: Ruling, found: Finding) -> str:
    """A pytest file that fails as long as the failure is there, and passes while a right answer stays right.

    A wrong answer without a named cause is marked as a known failure. Of a right answer no variant was run, so that its
    test is the case alone. source: the Python that reads the case (`source_of`). seed: of its variants.
    """
    leaf, case = ruling.causes[0], found.case.id
    failing = leaf.code == "not-determined" and not found.right
    drawn = f"CASE.instances({f'seed={seed}' if seed else ''})"
    return _HEAD.format(
        model=opened.name,
        options=opened.options,
        source=source,
        instances=f"{drawn}[:1]" if found.right else drawn,
        mark='@pytest.mark.xfail(reason="known failing")\n' if failing else "",
        name="".join(c if f"_{c}".isidentifier() else "_" for c in case),
        says=_quoted(_says(leaf)),
        body=_body(leaf, found),
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
    match leaf.code, leaf.detail:
        case "order", _:
            return "The answer is right whichever part comes first."
        case "context-use", _:
            return f"The answer follows {', '.join(leaf.about)}."
        case "knowledge", "missing":
            return "The answer is right with the fact, and declined without it."
        case _:
            return "The answer is right."


def _body(leaf: Leaf, found: Finding) -> str:
    if leaf.code == "order" and leaf.undone_by is not None:
        parts = leaf.undone_by.what.removeprefix("order ").split()
        if set(parts) <= found.known:  # sentences that stood in for parts cannot be moved in the case
            return _ORDERS.format(parts=parts, limit=found.limit)
    if (leaf.code, leaf.detail) == ("knowledge", "missing") and found.fact:
        return _FACT.format(asks=found.asks, fact=found.fact, limit=found.limit)
    return _WRITES.format(limit=found.limit)
