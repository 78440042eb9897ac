import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from tests.report import fixtures
from whybox.report import document as documents
from whybox.report.document import NextDocument, WhyDocument, schemas, to_json
from whybox.report.document.base import Part, obtained

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema"


def test_a_document_says_which_schema_and_program_it_is() -> None:
    data = json.loads(to_json(fixtures.why()))
    assert data["schema"] == {"name": "whybox.why", "version": 1}
    assert data["whybox"] == "0.1.0"
    assert set(data) >= {"model", "seed", "took_s", "answer", "segments", "heads", "lens", "verdict"}
    assert json.loads(to_json(fixtures.next_document()))["schema"]["name"] == "whybox.next"


def test_json_is_deterministic_and_reads_back_to_the_same_document() -> None:
    first, second = to_json(fixtures.why()), to_json(fixtures.why())
    assert first == second
    assert WhyDocument.model_validate_json(first) == fixtures.why()
    text = to_json(fixtures.next_document())
    assert "天" in text
    assert NextDocument.model_validate_json(text) == fixtures.next_document()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    metric = fixtures.why_data()["metric"] | {"base": bad}
    with pytest.raises(ValidationError, match="finite"):
        fixtures.why(metric=metric)


def test_unknown_fields_and_changes_after_the_fact_are_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        fixtures.why(surprise=1)
    with pytest.raises(ValidationError, match="frozen"):
        fixtures.why().seed = 3


def test_another_schema_version_is_refused() -> None:
    data = json.loads(to_json(fixtures.why()))
    data["schema"]["version"] = 2
    with pytest.raises(ValidationError, match=r"expected schema whybox\.why version 1, found whybox\.why version 2"):
        WhyDocument.model_validate(data)


def test_a_missing_number_needs_its_reason_and_a_present_one_has_none() -> None:
    row: dict[str, Any] = dict(fixtures.why_data()["segments"][1])
    silent = row | {"share": None}
    chatty = row | {"share_reason": "it is there"}
    for wrong in (silent, chatty):
        with pytest.raises(ValidationError, match="share must be null or empty exactly when share_reason"):
            fixtures.why(segments=[wrong])
    said = row | {"share": None, "share_reason": "no attention in this family"}
    assert fixtures.why(segments=[said]).segments[0].share is None


def test_empty_heads_need_a_reason() -> None:
    with pytest.raises(ValidationError, match="heads must be null or empty"):
        fixtures.why(heads=[])
    assert fixtures.why(heads=[], heads_reason="--effort full").heads == ()


def test_names_and_shapes_that_do_not_fit_are_refused() -> None:
    row = fixtures.why_data()["segments"][1] | {"name": "doc9"}
    with pytest.raises(ValidationError, match="no such segment: doc9"):
        fixtures.why(segments=[row])
    pattern = fixtures.why_data()["pattern"]
    with pytest.raises(ValidationError, match="expected 57 rows of 57 values"):
        fixtures.why(pattern=pattern | {"values": pattern["values"][:-1]})
    blocks = [pattern["rows"][0]] * 513
    with pytest.raises(ValidationError, match="at most 512"):
        fixtures.why(pattern=pattern | {"rows": blocks, "values": [pattern["values"][0]] * 513})
    with pytest.raises(ValidationError, match="Input should be"):
        fixtures.why(verdict=fixtures.why_data()["verdict"] | {"causes": [{"code": "magic", "effect": 1.0}]})


def outline(schema: dict[str, Any]) -> dict[str, list[str]]:
    """Objects with their fields and which of them are required: what a reader of the documents relies on."""
    parts = {"": schema} | schema.get("$defs", {})
    found = {}
    for name, part in parts.items():
        required = part.get("required", [])
        found[name] = sorted(key + ("!" if key in required else "") for key in part.get("properties", {}))
    return found


@pytest.mark.parametrize("name", sorted(schemas()))
def test_the_published_schema_is_the_schema(name: str) -> None:
    published = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    assert outline(published) == outline(schemas()[name])
    assert "schema!" in outline(published)[""]


# Settings and places: null means that there is none, not that a number was not obtained.
PLACES = frozenset(
    "layer head layers heads channels query window cap slopes sinks decimals seed".split()  # noqa: SIM905
)
# What the explorer shows beside another run, where a token or a place has no counterpart.
BESIDE = frozenset({"Beside.then", "PairNext.a", "PairNext.b"})


def _parts(of: type[Part]) -> Iterator[type[Part]]:
    for each in of.__subclasses__():
        yield each
        yield from _parts(each)


def _may_be_no_number(annotation: object) -> bool:
    inside = get_args(annotation)
    return type(None) in inside and any(
        each in (int, float) or get_args(each)[:1] in ((int,), (float,)) for each in inside
    )


def test_a_number_that_may_be_missing_has_a_place_for_the_reason() -> None:
    for module in iter_modules(documents.__path__):
        import_module(f"{documents.__name__}.{module.name}")
    bare = [
        f"{part.__name__}.{name}"
        for part in {*_parts(Part)}
        for name, field in part.model_fields.items()
        if _may_be_no_number(field.annotation) and name not in PLACES and f"{name}_reason" not in part.model_fields
    ]
    assert sorted(set(bare) - BESIDE) == []


def test_what_is_no_number_is_null_beside_the_reason() -> None:
    found = obtained("NaN", kl=float("nan"), gap=2.0, most=float("inf"), flips=None, n=0)
    assert found == {
        "kl": None, "gap": 2.0, "most": None, "flips": None, "n": 0,
        "kl_reason": "NaN", "gap_reason": None, "most_reason": "NaN", "flips_reason": "NaN", "n_reason": None,
    }  # fmt: skip
