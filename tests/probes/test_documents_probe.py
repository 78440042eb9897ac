"""`documents` on bots that credit the first document, or the right one; in every order."""

from dataclasses import replace

import pytest

from tests.probes.playing import estimate, planned, played, recorded, shares
from whybox.errors import UsageError
from whybox.items.generate import LANGUAGES, Language
from whybox.probes.design import Plan
from whybox.probes.documents import DocumentsProbe
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.target import Chat, Request

ITEMS = 72
PROBE = DocumentsProbe(items=ITEMS)
PLANS: dict[Language, Plan] = {lang: planned(DocumentsProbe(items=ITEMS, language=lang)) for lang in LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_document_is_credited_with_a_known_probability(language: Language) -> None:
    """Accuracy 1 − q(k − 1)/k; the wrong ones credit the first: primacy 1 − 1/k; D = q² · P(firsts differ) = 4q²/5."""
    found = played(PROBE, kinds.Misattributes(0.5), seed=4, plan=PLANS[language])
    right, changed = estimate(found, "right"), estimate(found, "changed")
    assert right.value == pytest.approx(1 - 0.5 * 2 / 3, abs=0.06)
    assert right.primary
    assert changed.value == pytest.approx(0.25 * 4 / 5, abs=0.08)
    assert (changed.p or 1) < 0.001
    assert estimate(found, "primacy").value == pytest.approx(2 / 3)
    assert (estimate(found, "primacy").p or 1) < 0.001
    places = found.grids[1].counts
    assert places[0][1:] == (0, 0, 0)
    assert places[1][2] == places[2][1] == 0
    worse = found.deciding[0].case
    assert worse.wrong is not None
    assert worse.parts[1].name != worse.evidence[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_right_document_is_credited_in_every_order(language: Language) -> None:
    found = played(PROBE, kinds.Honest(1.0), plan=PLANS[language])
    assert estimate(found, "right").value == 1.0
    assert estimate(found, "changed").value == 0.0
    assert isinstance(estimate(found, "primacy").value, Unknown)
    assert estimate(found, "mirrors agree").value == 1.0
    assert found.lost.hits == 0
    assert found.lost.n == len(PLANS[language].calls)
    assert list(shares(found, "right").values()) == [1.0] * 6
    assert found.grids[0].counts == tuple(tuple(288 * (i == j) for j in range(4)) for i in range(3))


def test_unsteady_answers_are_no_effect_of_the_order() -> None:
    runs, plan = 8, planned(DocumentsProbe(items=16))
    found = [estimate(played(PROBE, kinds.TieFlipper(0.1), seed, plan), "changed") for seed in range(runs)]
    assert sum(float(each.value) for each in found if isinstance(each.value, float)) / runs == pytest.approx(
        0, abs=0.01
    )
    assert sum((each.p or 0) <= 0.05 for each in found) <= 2  # P(Bin(8, .05) > 2) = .6 %


def test_mirrors_exchange_the_claims_and_nothing_else() -> None:
    one, other = PLANS["en"].items[:2]
    assert [fact.name for fact in one.facts] == [fact.name for fact in other.facts]
    assert sorted(fact.value for fact in one.facts) == sorted(fact.value for fact in other.facts)
    assert all(a.value != b.value for a, b in zip(one.facts, other.facts, strict=True))


def test_an_order_that_was_left_out_is_an_error() -> None:
    records = [r for r in recorded(PLANS["en"], kinds.Honest()) if (r.call.item, r.call.arm) != ("claim-en-3", "2-1-3")]
    assert "design not balanced" in PROBE.read(PLANS["en"], records, 0).broken


def test_prompts_of_one_item_are_equally_long_or_left_out() -> None:
    records = recorded(PLANS["zh"], kinds.Honest())
    assert all(len({dict(r.call.facts)["ids"] for r in records if r.call.item == i.id and ":" not in r.call.arm}) == 1
               for i in PLANS["zh"].items[:8])  # fmt: skip
    odd = [
        replace(r, call=replace(r.call, facts=(("ids", "7"),))) if r.call.cell[2:4] == ("claim-zh-0", "1-2-3") else r
        for r in records
    ]
    found = PROBE.read(PLANS["zh"], odd, 0)
    assert "length differs: 1 items left out" in found.notes


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_source_the_question_names_none(language: Language) -> None:
    call = next(call for call in PLANS[language].calls if call.arm == "any:1-2-3")
    assert isinstance(call.request, Request)
    assert isinstance(call.request.prompt, Chat)
    item = next(item for item in PLANS[language].items if item.id == call.item)
    question = call.request.prompt.turns[-1].content.split("\n")[-1]
    assert question.endswith(("?", "？"))
    assert not any(fact.name in question for fact in item.facts)


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(UsageError, match="even number"):
        planned(DocumentsProbe(items=3))
