"""Each cause leaves the tests that would have caught it, on the case itself, in the suite format."""

import pytest

from whybox.items.case import Case
from whybox.jobs.regression_suite import Finding, regression_suite
from whybox.suite.config import Suite
from whybox.verdict.facts import Try
from whybox.verdict.leaf import Leaf
from whybox.verdict.tree import Ruling

CASE = Case.from_data(
    {
        "id": "refund",
        "text": [
            {"name": "doc1", "text": "Exchanges: {other} days."},
            {"name": "doc2", "text": "Refunds: {right} days."},
            {"name": "question", "text": "How long does a refund take?"},
        ],
        "vary": {"right": ["7", "5"], "other": ["30", "20"]},
        "answer": {"right": "{right} days", "wrong": "{other} days", "kind": "number"},
        "evidence": ["doc2"],
    }
)
FOUND = Finding(CASE, ("doc2",), ("doc1", "doc2"), "It takes 7 days.", '{"days": ', (1, 2, 3))


def suite(*leaves: Leaf, found: Finding = FOUND) -> Suite:
    made = regression_suite("smollm2", 3, Ruling(leaves, (), (), variants=False), found)
    again = Suite.parse(made.to_yaml())
    assert again == made
    assert again.case("refund") == CASE
    assert again.seed == 3
    return again


def probes(*leaves: Leaf, found: Finding = FOUND) -> list[str]:
    return [test.probe for test in suite(*leaves, found=found).tests]


SWITCH = Try("no cache", True)


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        (Leaf("order", None), ["order", "evidence"]),
        (Leaf("context-use", "not-looked-at"), ["evidence", "evidence"]),
        (Leaf("context-use", "looked-at-not-used"), ["changed"]),
        (Leaf("knowledge", "overruled"), ["knowledge"]),
        (Leaf("knowledge", "missing"), ["boundary"]),
        (Leaf("decoding", None), []),
        (Leaf("format", None), ["format"]),
        (Leaf("implementation", None, SWITCH), ["diff"]),
        (Leaf("template", None, SWITCH), ["diff"]),
        (Leaf("joint", "order+knowledge"), ["order", "evidence", "knowledge"]),
        (Leaf("none", None), []),
    ],
)
def test_the_tests_of_a_cause(leaf: Leaf, expected: list[str]) -> None:
    without = [] if (leaf.code, leaf.detail) == ("knowledge", "missing") else ["case"]
    assert probes(leaf) == [*without, *expected]
    assert not any(test.known_failing for test in suite(leaf).tests)


def test_an_open_case_is_a_known_failure_and_names_no_cause() -> None:
    (test,) = suite(Leaf("not-determined", "beyond-the-model")).tests
    assert test.known_failing
    assert test.name == "refund: the answer is right"


def test_the_fields_say_what_is_varied() -> None:
    _, changed = suite(Leaf("context-use", "looked-at-not-used")).tests
    assert changed.model_dump() | {"evidence": ["doc2"], "slot": "right"} == changed.model_dump()
    _, _, last = suite(Leaf("context-use", "not-looked-at")).tests
    assert last.model_dump() | {"places": "last", "parts": ["doc1", "doc2"]} == last.model_dump()
    _, diff = suite(Leaf("implementation", None, SWITCH)).tests
    assert diff.model_dump() | {"ids": [1, 2, 3], "switch": "no cache"} == diff.model_dump()


def test_sentences_that_stood_in_for_parts_are_never_named() -> None:
    bare = Finding(CASE, (), (), "", None, (1,))
    for leaf in (Leaf("order", None), Leaf("context-use", "not-looked-at"), Leaf("knowledge", "overruled")):
        assert probes(leaf, found=bare) == ["case"]


def test_two_causes_share_the_tests_that_are_the_same() -> None:
    assert probes(Leaf("order", None), Leaf("order", None)) == ["case", "order", "evidence"]
