"""The ledger that is shipped is whole, in both languages; a bad entry is told with its field."""

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest

from whybox.errors import FormatError, UsageError
from whybox.learn.figures import ON_MODEL, TOYS
from whybox.learn.ledger import Claim, Ledger, read, shipped

CLAIMS = shipped().claims
DATA = files("whybox.learn") / "data"
ROOT = Path(__file__).parents[2]
ONE = """
- id: C1
  where: [S0-1]
  status: wrong
  stated: {en: "It is 2.", zh: "是 2。"}
  right: {en: "{sum}.", zh: "{sum}。"}
  why: {en: "Added up.", zh: "相加。"}
  rests:
    sum: {figure: worked.two_one_zero_sum, expected: "11.107", stated: "12.08"}
"""


def test_every_claim_is_there_in_order() -> None:
    assert [claim.id for claim in CLAIMS] == [f"C{number}" for number in range(1, 129)]


def test_errata_are_those_that_were_known() -> None:
    known = {11, 20, 21, 22, 42, 50, 67, 74, 79, 80, 102}
    assert {int(claim.id[1:]) for claim in CLAIMS if claim.erratum} == known
    assert all(claim.status == "wrong" for claim in CLAIMS if claim.erratum)


def test_every_figure_exists_and_every_one_is_used() -> None:
    named = {rest.figure for claim in CLAIMS for rest in claim.rests.values() if rest.figure is not None}
    assert named == set(TOYS) | set(ON_MODEL)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_sentences_are_short_and_written_in_their_language(claim: Claim) -> None:
    assert re.search("[\u4e00-\u9fff]", claim.stated.zh + claim.right.zh)
    assert re.search("[\u4e00-\u9fff，²]", claim.why.zh)
    for said in (claim.stated, claim.right, claim.why):
        assert said.en.rstrip().endswith((".", "?", "!")), said.en
        assert said.zh.rstrip().endswith(("。", "？", "！")), said.zh
        assert max(len(said.en), 2 * len(said.zh)) < 560
    words = " ".join((claim.stated.en, claim.right.en, claim.why.en)).lower()
    assert not re.search(r"\b(important|the model thinks|significant)\b", words)
    assert all(re.match(r"S[02]-\d", place) for place in claim.where)


def test_right_values_stand_in_no_sentence() -> None:
    """A blank is filled by what was computed: no decimal of the record is repeated beside it."""
    for claim in CLAIMS:
        recorded = {number.text for rest in claim.rests.values() for number in rest.expected if "." in number.text}
        for text in (claim.right.en, claim.right.zh):
            assert not recorded & set(re.findall(r"\d+\.\d+", text)), claim.id


def test_text_a_and_case_r_are_those_of_the_repository() -> None:
    assert (DATA / "apache-2.0.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (DATA / "refund.yaml").read_bytes() == (ROOT / "examples" / "refund.yaml").read_bytes()


def test_choosing() -> None:
    assert [claim.id for claim in shipped().chosen(["c102", "C20"])] == ["C20", "C102"]
    assert shipped().chosen([]) == CLAIMS
    with pytest.raises(UsageError, match=r"no claim C129\nclaims are C1 … C128"):
        shipped().chosen(["C129"])


def test_one_entry() -> None:
    ledger: Ledger = read(ONE)
    (claim,) = ledger.claims
    assert claim.rests["sum"].bounds(0) == pytest.approx((11.1065, 11.1075))
    assert claim.stated.of("zh") == "是 2。"


FAULTS: Mapping[str, tuple[str, str, str]] = {
    "status": ("status: wrong", "status: false", "C1.status"),
    "language": (', zh: "是 2。"', "", "C1.stated.zh"),
    "unknown field": ("status: wrong", "status: wrong\n  colour: red", "C1.colour"),
    "blank": ('"{sum}."', '"{total}."', "blanks total of the sentences, numbers sum"),
    "number": ('"11.107"', '"eleven"', "is no printed number"),
    "unquoted": ('"11.107"', "11.107", "numbers are written as quoted text, found 11.107"),
    "two sources": ("figure: worked.two_one_zero_sum", "figure: x, once: torch", "either a figure that computes it"),
    "nothing expected": ('expected: "11.107", ', "", "either expected numbers, or between"),
    "stated too many": ('"12.08"', '"12.08 1"', "2 stated numbers beside 1 expected"),
    "id": ("id: C1", "id: one", "one.id"),
    "reason": ("figure: worked.two_one_zero_sum", "once: lazy", "C1.rests.sum.once"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_entry_is_told(name: str) -> None:
    old, new, told = FAULTS[name]
    assert old in ONE
    with pytest.raises(FormatError) as caught:
        read(ONE.replace(old, new), "mine.yaml")
    assert caught.value.cause.startswith("mine.yaml: ")
    assert told in caught.value.cause
    assert "\n" not in caught.value.cause


@pytest.mark.parametrize(
    ("text", "told"), [("{", "expected YAML"), ("a: b", "a list of claims"), (ONE + ONE, "every id once")]
)
def test_a_bad_file_is_told(text: str, told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read(text)
