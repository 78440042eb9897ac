"""What generated items guarantee, over seeds: lengths, values, names, rotation, mirrors, scorers."""

import re
from collections import Counter
from hashlib import blake2b
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.items.generate import LANGUAGES, ItemKind, Language, common_facts, generate, two_document_items
from whybox.items.generate.fillers import draw_fillers, most_fillers, words
from whybox.items.generate.names import draw_names, is_unlike_words, too_close
from whybox.items.generate.suite import KINDS
from whybox.items.scoring.folding import fold_text
from whybox.items.seeds import item_generator
from whybox.items.variants import are_distinct

from .toy_tokens import count_tokens

SEEDS = st.integers(0, 2**32)
LANGUAGE = st.sampled_from(LANGUAGES)
FACTUAL = st.sampled_from(["fact", "choice", "claim", "boundary", "rule"])


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, language=LANGUAGE, kind=FACTUAL, size=st.integers(2, 6))
def test_documents_of_an_item_are_equally_long_and_their_values_apart(
    seed: int, language: Language, kind: ItemKind, size: int
) -> None:
    for item in generate(kind, language, 3, seed, count_tokens, size):
        lengths = {count_tokens(fact.sentence) for fact in item.facts}
        assert (len(lengths) == 1) != ("length differs" in item.flags)
        assert len(item.facts) == size
        assert len({fact.attribute for fact in item.facts}) == 1
        assert are_distinct([fact.value for fact in item.facts])
        assert len({count_tokens(fact.value) for fact in item.facts}) == 1
        assert not any(too_close(a.name, b.name) for a, b in combinations(item.facts, 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_scorer_of_an_item_knows_right_and_wrong(kind: ItemKind, language: Language) -> None:
    for item in generate(kind, language, 24, 7, count_tokens):
        assert item.scorer.score(item.instance.right).outcome == "right", item.instance
        assert item.instance.wrong is not None
        assert not item.scorer.score(item.instance.wrong).right, item.instance
        if kind != "rule" and item.variant != "false-premise":
            assert item.scorer.score(item.instance.wrong).outcome == "wrong", item.instance
        for other in item.others:
            assert not item.scorer.score(other).right
        assert item.instance.part("question").text


@pytest.mark.parametrize("kind", ["fact", "keyvalue", "choice", "claim", "rule"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_evidence_holds_the_answer_and_no_other_document_does(kind: ItemKind, language: Language) -> None:
    for item in generate(kind, language, 12, 3, count_tokens):
        assert item.asked is not None
        fact = item.facts[item.asked]
        (name,) = item.instance.evidence
        assert item.instance.part(name).text == fact.sentence
        holders = [other for other in item.facts if fact.value in other.sentence]
        assert holders == [fact]


def test_an_item_depends_on_seed_kind_language_and_number_alone() -> None:
    assert generate("fact", "en", 3, 1, count_tokens) != generate("fact", "en", 3, 2, count_tokens)
    long, short = generate("fact", "zh", 9, 1, count_tokens), generate("fact", "zh", 2, 1, count_tokens)
    assert [item.instance for item in long[:2]] == [item.instance for item in short]


def test_items_have_generators_of_their_own() -> None:
    draws = {int(item_generator(5, "order", f"item-{i}").integers(2**62)) for i in range(200)}
    assert len(draws) == 200
    named = np.random.default_rng(int.from_bytes(blake2b(b"5/order/item-0", digest_size=8).digest()))
    assert int(named.integers(2**62)) == int(item_generator(5, "order", "item-0").integers(2**62))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rank_meets_every_place_equally_often(language: Language) -> None:
    table: Counter[tuple[int, int]] = Counter()
    first = []
    for item in generate("fact", language, 32, 11, count_tokens):
        values = sorted((fact.value for fact in item.facts), key=lambda value: (len(value), value))
        assert item.asked is not None
        table[values.index(item.facts[item.asked].value), item.asked] += 1
        first.append(item.asked)
    assert set(table.values()) == {2}
    assert len(table) == 16
    assert set(first[:4]) == {0, 1, 2, 3}


def test_right_labels_rotate_apart_from_places() -> None:
    items = generate("choice", "en", 27, 2, count_tokens, size=3)
    seen = Counter((item.instance.right, item.asked) for item in items)
    assert set(seen.values()) == {3}
    assert len(seen) == 9


@pytest.mark.parametrize("language", LANGUAGES)
def test_mirrors_swap_the_claims_and_nothing_else(language: Language) -> None:
    items = generate("claim", language, 8, 4, count_tokens, size=3)
    for original, mirror in zip(items[::2], items[1::2], strict=True):
        assert [fact.name for fact in original.facts] == [fact.name for fact in mirror.facts]
        values = [fact.value for fact in original.facts]
        assert [fact.value for fact in mirror.facts] == [*values[1:], values[0]]
        assert original.asked == mirror.asked
        assert (original.variant.split("/")[1], mirror.variant.split("/")[1]) == ("original", "mirror")
    assert {item.variant.split("/")[0] for item in items} == {"what", "who"}


def test_two_document_items_have_two_documents() -> None:
    for item in two_document_items("zh", 4, 1, count_tokens):
        assert [part.name for part in item.instance.parts] == ["policy", "doc1", "doc2", "question"]


def test_boundary_items_take_turns_and_ask_what_no_document_says() -> None:
    items = generate("boundary", "en", 9, 6, count_tokens)
    assert [item.variant for item in items] == ["answerable", "unanswerable", "false-premise"] * 3
    for item in items[1::3]:
        asked = re.findall(r"[A-Z][a-z]+(?= (?:depot|office|station|device))", item.instance.part("question").text)
        assert len(asked) == 1
        assert not any(asked[0] in fact.sentence for fact in item.facts)
        assert item.scorer.score("The documents do not say.").outcome == "right"
        assert item.scorer.score(item.others[0]).outcome == "wrong"
        assert item.instance.evidence == ()


@settings(deadline=None)
@given(seed=SEEDS, language=LANGUAGE)
def test_names_are_far_apart_and_like_no_word(seed: int, language: Language) -> None:
    names = draw_names(item_generator(seed, "names", "x"), language, 8)
    assert not any(too_close(a, b) for a, b in combinations(names, 2))
    assert all(is_unlike_words(name, language) for name in names)


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        ("Velmora", "velmora", True),
        ("Velmora", "Vel", True),
        ("Velmora", "Velmoras", True),
        ("Velmora", "Velnora", True),
        ("Velmora", "Vemora", True),
        ("Velmora", "Velnara", False),
        ("维岚", "维岑", True),
        ("维岚", "岚维", False),
        ("维岚", "青岑", False),
        ("Velmora", "Tanrik", False),
    ],
)
def test_too_close(a: str, b: str, close: bool) -> None:
    assert too_close(a, b) == too_close(b, a) == close


def test_one_edit_apart_agrees_with_the_full_distance() -> None:
    def distance(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row, above = [i], row
            for j, y in enumerate(b, 1):
                row.append(min(row[-1] + 1, above[j] + 1, above[j - 1] + (x != y)))
        return row[-1]

    texts = [a + b + c + d for a in "pq" for b in "pq" for c in ("p", "q", "") for d in ("p", "q", "", "qq")]
    for a, b in combinations(texts, 2):
        assert too_close(a, b) == (distance(a, b) <= 1 or a in b or b in a), (a, b)


@pytest.mark.parametrize("language", LANGUAGES)
def test_fillers_hold_no_number_and_no_name_and_never_repeat(language: Language) -> None:
    sentences = list(draw_fillers(item_generator(1, "fillers", "x"), language))
    assert len(set(sentences)) == len(sentences) == most_fillers(language) > 2000
    assert not re.search(r"[0-9零一二两三四五六七八九十百千万]", "".join(words(language)))
    named = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "hundred", "once", "twice"}
    assert not named & set(re.findall(r"[a-z]+", " ".join(words(language)).lower()))
    if language == "en":  # a capital only opens the sentence
        assert all(re.fullmatch(r"[A-Z][a-z ]+\.", sentence) for sentence in sentences)


def test_the_common_table_has_three_hundred_different_facts() -> None:
    facts = common_facts()
    assert len(facts) == len({fact.id for fact in facts}) == 300
    assert Counter(fact.topic for fact in facts) == {"capital": 96, "symbol": 84, "weekday": 56, "unit": 64}
    for language in LANGUAGES:
        assert len({fact.questions[language] for fact in facts}) == 300
        assert all(fold_text(answer) for fact in facts for answer in fact.answers[language])


def test_weekdays_and_units_of_the_common_table_are_computed_again() -> None:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    factor = {("metres", "kilometres"): 1000, ("centimetres", "metres"): 100, ("grams", "kilograms"): 1000}
    factor |= {("kilograms", "tonnes"): 1000, ("minutes", "hours"): 60, ("seconds", "minutes"): 60}
    factor |= {("hours", "days"): 24, ("days", "weeks"): 7}
    checked = 0
    for fact in common_facts():
        question, answer = fact.questions["en"], fact.answers["en"][0]
        if match := re.fullmatch(r"Which day of the week is (\d+) days after (\w+)\?", question):
            assert answer == days[(days.index(match[2]) + int(match[1])) % 7]
            assert fact.answers["zh"][0] == "星期" + "一二三四五六日"[days.index(answer)]
            checked += 1
        elif match := re.fullmatch(r"How many (\w+) are there in (\d+) (\w+)\?", question):
            assert answer == f"{int(match[2]) * factor[match[1], match[3]]} {match[1]}"
            assert re.match(r"\d+", fact.answers["zh"][0])[0] == answer.split()[0]  # type: ignore[index]
            checked += 1
    assert checked == 120


def test_every_common_item_scores_its_own_answer_in_both_languages() -> None:
    for language in LANGUAGES:
        for item in generate("common", language, 300, 1, count_tokens):
            assert item.scorer.score(item.instance.right).outcome == "right", item.variant
            assert item.instance.wrong is not None
            assert item.scorer.score(item.instance.wrong).outcome == "wrong", item.variant


def test_too_much_is_refused() -> None:
    with pytest.raises(UsageError, match="at most 300 common items, found 301"):
        generate("common", "en", 301, 1, count_tokens)
    with pytest.raises(UsageError, match="expected 1 to 8 documents, found 9"):
        generate("choice", "en", 1, 1, count_tokens, size=9)
    with pytest.raises(UsageError, match="expected 1 to 24 documents, found 25"):
        generate("fact", "en", 1, 1, count_tokens, size=25)
