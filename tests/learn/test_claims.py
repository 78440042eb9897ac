"""The document, and the page."""

import re
from html import unescape

import pytest

from tests.learn.test_recompute import TOY_CLAIMS, closed
from tests.report.html.test_page import Counter
from whybox.learn.claims import claims
from whybox.report.document import ClaimsDocument, Lang, to_json
from whybox.report.html import claims_page
from whybox.report.html.page import MOST_NODES


@pytest.fixture(scope="module", params=["en", "zh"])
def document(request: pytest.FixtureRequest) -> ClaimsDocument:
    return claims([claim.id for claim in TOY_CLAIMS], request.param, closed)


def test_it_reads_back_to_the_same(document: ClaimsDocument) -> None:
    assert ClaimsDocument.model_validate_json(to_json(document)) == document
    assert document.broken == ()
    assert sum((document.totals.right, document.totals.imprecise, document.totals.wrong)) == len(TOY_CLAIMS)
    assert document.runs == 0


def test_every_blank_is_filled(document: ClaimsDocument) -> None:
    for claim in document.claims:
        assert not re.search(r"[{}]", claim.right + claim.why)
        for number in claim.numbers:
            assert all(shown in claim.right + claim.why for shown in number.shown)
            assert (number.value == ()) == (number.fits is None) == (number.value_reason is not None)


def test_what_was_measured_once_is_marked(document: ClaimsDocument) -> None:
    once = {claim.id for claim in document.claims if claim.basis == "once"}
    assert once == {"C13", "C96"}
    for claim in document.claims:
        assert ("†" in claim.right) == any(number.value_reason for number in claim.numbers)


def test_the_page_holds_every_claim_and_keeps_its_ceilings(document: ClaimsDocument) -> None:
    html = claims_page(document, document.lang)
    page = Counter(html)
    assert page.nodes * 128 / len(document.claims) < MOST_NODES
    text = re.sub(r"\s+", " ", unescape(" ".join(page.text)))
    for claim in document.claims:
        assert re.sub(r"\s+", " ", claim.right) in text
    assert not [value for _, name, value in page.attributes if name in ("src", "href") and not value.startswith("#")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sentences_of_one_claim(lang: Lang) -> None:
    (claim,) = claims(["C102"], lang, closed).claims
    joined = {"en": "0.6652 / 0.2447 / 0.0900", "zh": "0.6652、0.2447、0.0900"}[lang]
    assert joined in claim.right
    assert claim.numbers[1].stated == ("0.61", "0.22", "0.17")
    assert claim.numbers[1].agrees is False
    assert claim.erratum
