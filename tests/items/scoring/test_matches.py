"""Patterns, JSON Schema and shared words as scorers: what each must match and must not, by hand."""

import pytest

from whybox.errors import CaseError
from whybox.items.case import Case
from whybox.items.scoring import Overlap, Pattern, Schema, text_f1
from whybox.items.scoring.json_schema import first_fault, schema_of

DAYS = (
    '{"type": "object", "required": ["days"], "properties": {"days": {"type": "integer", "minimum": 7, "maximum": 7}}}'
)
SCHEMA = Schema(DAYS).scorer('{"days": 7}', ())
PATTERN = Pattern(r"\b7[ -]days?\b").scorer("7 days", ("30 days",))
WORDS = Overlap(0.6).scorer("The quick brown fox jumps", ())


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("It takes 7 days.", "right"),
        ("a 7-day limit", "right"),
        ("17 days", "invalid"),
        ("It takes 30 days.", "wrong"),
        ("The documents do not say.", "abstain"),
        ("", "invalid"),
    ],
)
def test_patterns(text: str, outcome: str) -> None:
    found = PATTERN.score(text)
    assert found.outcome == outcome
    assert (found.span is not None) == (outcome in ("right", "wrong", "abstain"))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"days": 7}', "right"),
        ('Here it is:\n```json\n{"days": 7}\n```', "right"),
        ('{"days": 7.0}', "right"),
        ('{"days": "7"}', "wrong"),
        ('{"days": true}', "wrong"),
        ('{"day": 7}', "wrong"),
        ("{'days': 7}", "invalid"),
        ("seven days", "invalid"),
        ("7", "wrong"),
    ],
)
def test_json_that_follows_a_schema(text: str, outcome: str) -> None:
    assert SCHEMA.score(text).outcome == outcome


@pytest.mark.parametrize(
    ("one", "other", "f1"),
    [
        ("the brown fox", "a brown fox jumps", 2 * 2 / 5),
        ("7 days", "30 days", 0.5),
        ("保留7天", "7天", 2 * 2 / 6),
        ("保 留 7 天", "保留7天", 1.0),
        ("fox fox", "fox", 2 / 3),
        ("", "fox", 0.0),
        ("", "", 0.0),
    ],
)
def test_shared_words_and_characters(one: str, other: str, f1: float) -> None:
    assert text_f1(one, other) == pytest.approx(f1)
    assert text_f1(other, one) == pytest.approx(f1)


def test_an_answer_that_shares_enough_is_right() -> None:
    assert WORDS.score("A brown fox jumps quickly").outcome == "right"
    assert WORDS.score("A slow snail creeps along").outcome == "wrong"
    assert WORDS.score("The documents do not say.").outcome == "abstain"
    assert WORDS.score("").outcome == "invalid"


@pytest.mark.parametrize("scorer", [PATTERN, SCHEMA, WORDS])
def test_what_was_cut_before_it_answered_is_an_error_and_never_wrong(scorer: object) -> None:
    assert scorer.score("As far as", "length").outcome == "error"  # type: ignore[attr-defined]
    assert scorer.score(None).outcome == "error"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        ([1, 2], '{"type": "array", "minItems": 3}', "the length of the list is below 3"),
        ([1, "x"], '{"items": {"type": "number"}}', "[1] is no number"),
        ({"a": {"b": 1}}, '{"properties": {"a": {"properties": {"b": {"enum": [2, 3]}}}}}', ".a.b is none of [2, 3]"),
        ({"a": 1}, '{"additionalProperties": false}', ".a is not allowed"),
        ("abc", '{"maxLength": 2}', "the length of the value is above 2"),
        ("abc", '{"pattern": "^b"}', "the value does not match '^b'"),
        (True, '{"const": 1}', "the value is not 1"),
        (None, '{"type": "null"}', None),
        ({"a": 1, "b": 2}, '{"required": ["a"]}', None),
    ],
)
def test_where_a_value_leaves_its_schema(value: object, schema: str, fault: str | None) -> None:
    assert first_fault(value, schema_of(schema)) == fault


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ({"json_schema": "{"}, "expected JSON"),
        ({"json_schema": '{"oneOf": []}'}, "found 'oneOf'"),
        ({"json_schema": '{"type": "days"}'}, "json_schema.type"),
        ({"pattern": "("}, "expected a regular expression"),
        ({"pattern": "x", "overlap": 0.5}, "exactly one"),
        ({}, "exactly one"),
        ({"pattern": "never"}, "scores as right"),
    ],
)
def test_matches_that_cannot_be_are_refused(match: dict[str, object], said: str) -> None:
    with pytest.raises(CaseError, match=said):
        Case.from_data({"id": "a", "text": "x", "answer": {"right": "7 days", "kind": "text", "match": match}})


def test_a_case_keeps_how_it_is_matched() -> None:
    answer = {"right": "7 days", "kind": "text", "match": {"pattern": r"\b7\b"}}
    case = Case.from_data({"id": "a", "text": "How long?", "answer": answer})
    again = Case.from_instance(case.filled(), got="70 days").filled()
    assert again.match == case.filled().match == Pattern(r"\b7\b")
    assert again.scorer().score("about 7").outcome == "right"
    assert again.scorer().score("70 days").outcome == "invalid"
    varied = {"id": "a", "text": "x", "vary": {"n": ["7", "9"]}, "answer": answer | {"right": "{n} days"}}
    with pytest.raises(CaseError, match="answers without slots"):
        Case.from_data(varied)
