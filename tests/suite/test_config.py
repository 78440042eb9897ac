"""The suite file: read and written without loss, refused in words, published as it is."""

import json
from pathlib import Path

import pytest
import yaml

from whybox.errors import UsageError
from whybox.suite.config import BoundaryTest, CaseTest, OrderTest, Suite, schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "whybox.suite.json"
CASE = {
    "id": "refund",
    "text": [{"name": "doc", "text": "Refunds: {right} days."}, {"name": "question", "text": "How long? 07 yes {{x}}"}],
    "vary": {"right": ["07", "1.50", "yes"]},
    "answer": {"right": "{right}", "kind": "text"},
    "evidence": ["doc"],
}
SUITE = {
    "suite": "refund",
    "model": "smollm2",
    "cases": [CASE],
    "tests": [{"name": "right", "probe": "case", "case": "refund"}],
}


def written(**fields: object) -> str:
    return yaml.safe_dump({**SUITE, **fields}, allow_unicode=True)


def test_a_suite_reads_as_it_was_written_and_scalars_stay_text() -> None:
    suite = Suite.parse(written())
    again = Suite.parse(suite.to_yaml())
    assert again == suite
    assert again.case("refund").text.vary["right"] == ["07", "1.50", "yes"]
    assert again.tests == [CaseTest(name="right", case="refund")]


def test_the_probe_decides_which_fields_a_test_has() -> None:
    tests = [
        {"name": "o", "probe": "order", "case": "refund", "parts": ["doc", "question"]},
        {"name": "b", "probe": "boundary", "case": "refund", "fact": "It is 7."},
    ]
    order, boundary = Suite.parse(written(tests=tests)).tests
    assert isinstance(order, OrderTest)
    assert order.most_points == 5
    assert isinstance(boundary, BoundaryTest)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tests": [{"name": "x", "probe": "case", "case": "other"}]}, "a test's case among refund, found 'other'"),
        ({"tests": [{"name": "x", "probe": "magic", "case": "refund"}]}, "tests.0"),
        ({"tests": []}, "tests"),
        ({"cases": [CASE, CASE]}, "every case id once"),
        ({"modle": "smollm2"}, "did you mean 'model'"),
        ({"version": 2}, "version"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(fields: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=r"^suite: .*") as problem:
        Suite.parse(written(**fields))
    assert said in problem.value.cause
    assert "\n" not in problem.value.cause


def test_text_that_is_no_yaml_and_a_list_are_refused() -> None:
    for text in ("a: [", "- 1\n- 2", "", "!!python/object/apply:os.system ['true']"):
        with pytest.raises(UsageError, match="suite:"):
            Suite.parse(text)


def test_the_published_schema_is_the_schema() -> None:
    assert json.loads(PUBLISHED.read_text("utf-8")) == json.loads(json.dumps(schema()))
