"""Depth is measured in ids, in English and in Chinese (B46), and lengths are drawn, never padded."""

import re
from collections import Counter
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.real import real
from whybox.errors import CaseError, PromptError, UsageError
from whybox.items.generate import (
    CHARACTERS_ONLY,
    LANGUAGES,
    DatedFact,
    Encoded,
    Language,
    canary_pair,
    draw_of_length,
    encode_characters,
    place,
    place_in_text,
    read_dated,
    reference_set,
    sentences,
)
from whybox.items.generate.dated import checked_fact
from whybox.items.generate.placement import occurs_once, realised_depth
from whybox.items.generate.releases import releases
from whybox.items.seeds import item_generator
from whybox.statistics.behaviour.cutoff import CONTROLS, FACTS, FACTS_A_MONTH
from whybox.text import chat
from whybox.text.prompt import Part, from_parts

from .toy_tokens import count_tokens, encode, strictly_rising

NEEDLE: dict[Language, str] = {"en": "The Velmora depot keeps parcels for 17 days.", "zh": "维岚仓库的包裹保留17天。"}
DEPTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_depth_is_realised_within_a_sentence(language: Language) -> None:
    realised = []
    for depth in DEPTHS:
        placed = place(NEEDLE[language], depth, 40, language, item_generator(1, "evidence", f"{depth}"), encode)
        assert placed.requested == depth
        assert abs(placed.realised - depth) <= placed.tolerance < 0.05
        before, after = count_tokens(placed.before), count_tokens(placed.after)
        assert placed.realised == before / (before + after)
        realised.append(placed.realised)
    assert (realised[0], realised[-1]) == (0.0, 1.0)
    assert strictly_rising(realised)


def test_a_haystack_without_ascii_full_stops_still_has_a_middle() -> None:
    haystack = "清晨的风很轻。门前的长椅空着！远处有人唱歌？小路弯弯；雨停了。\n" * 8
    placed = place_in_text(haystack, NEEDLE["zh"], 0.5, encode)
    assert abs(placed.realised - 0.5) <= placed.tolerance < 0.1
    assert placed.before + placed.after == haystack
    assert placed.before[-1] in "。！？；\n"


ENDED = (
    "यह एक वाक्य है। ", "هذه جملة قصيرة؟ ", "یہ ایک جملہ ہے۔ ", "นี่คือประโยค ", "这是一句话．", "これは文です｡",
    "He went on… ", "Սա նախադասություն է։ ", "ይህ ዓረፍተ ነገር ነው። ", "a line\u2028", "a line\r\n",
)  # fmt: skip


@pytest.mark.parametrize("sentence", ENDED)
def test_sentences_of_other_scripts_end_as_well(sentence: str) -> None:
    assert sentences(sentence * 12) == [sentence] * 12
    placed = place_in_text(sentence * 12, NEEDLE["en"], 0.5, encode_characters)
    assert placed.realised == 0.5


def test_a_depth_that_the_text_cannot_have_is_refused() -> None:
    one = "这是一句话，" * 40
    assert [place_in_text(one, NEEDLE["zh"], depth, encode_characters).realised for depth in (0, 1)] == [0, 1]
    for depth in (0.1, 0.5):
        with pytest.raises(UsageError, match="longest sentence is 100% of it"):
            place_in_text(one, NEEDLE["zh"], depth, encode_characters)


@pytest.mark.model
@pytest.mark.parametrize("depth", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_depth_in_the_ids_of_a_real_model(depth: float) -> None:
    """Chinese text costs a token or more a character: depth is counted in the ids that are sent, not in characters."""
    model = real("smollm2")

    def encode_chat(before: str, passage: str, after: str) -> Encoded:
        texts = {"before": before, "passage": passage, "after": after}
        parts = [{"name": name, "text": text} for name, text in texts.items() if text]
        prompt = chat.from_messages(model.tokenizer, [{"role": "user", "parts": parts}], join="")
        return Encoded(prompt.ids, {s.name: (s.start, s.end) for s in prompt.segments if s.kind == "part"})

    haystack = "清晨的风很轻。门前的长椅空着！远处有人唱歌？小路弯弯；雨停了。" * 6
    placed = place_in_text(haystack, NEEDLE["zh"], depth, encode_chat)
    sent = encode_chat(placed.before, placed.passage, placed.after)
    start, end = sent.spans["passage"]
    context = sent.spans.get("before", (start, start))[0], sent.spans.get("after", (end, end))[1]
    measured = (start - context[0]) / (context[1] - context[0] - (end - start))
    assert (placed.requested, placed.realised) == (depth, measured)
    assert abs(measured - depth) <= placed.tolerance < 0.1
    assert occurs_once(sent)


@pytest.mark.model
@pytest.mark.gemma
@pytest.mark.parametrize("name", ["smollm2", "gemma3-270m"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_needle_stands_within_one_sentence_in_the_ids_of_real_models(name: str, language: Language) -> None:
    """Counted by hand: ids from the needle to where it was asked for, beside those of the longest sentence."""
    tokenizer = real(name).tokenizer

    def encode_real(before: str, passage: str, after: str) -> Encoded:
        texts = {"before": before, "passage": passage, "after": after}
        named = [(part, text) for part, text in texts.items() if text]
        if tokenizer.chat_template is None:
            prompt = from_parts(tokenizer, [Part(*each) for each in named], join="")
        else:
            parts = [{"name": part, "text": text} for part, text in named]
            prompt = chat.from_messages(tokenizer, [{"role": "user", "parts": parts}], join="")
        return Encoded(prompt.ids, {s.name: (s.start, s.end) for s in prompt.segments if s.kind == "part"})

    for depth in DEPTHS:
        placed = place(NEEDLE[language], depth, 40, language, item_generator(2, "evidence", f"{depth}"), encode_real)
        sent = encode_real(placed.before, placed.passage, placed.after)
        start, end = sent.spans["passage"]
        before, after = (b - a for a, b in (sent.spans.get(part, (0, 0)) for part in ("before", "after")))
        pieces = sentences(placed.before) + sentences(placed.after)
        longest = max(len(tokenizer.encode(piece)) for piece in pieces)
        off = abs(before - depth * (before + after))
        assert off <= longest, f"{off:.1f} ids from where it was asked for, a sentence has {longest} at most"
        assert before + after + end - start <= len(sent.ids)
        assert occurs_once(sent)


def test_ids_that_disagree_with_the_text_are_refused() -> None:
    def drifting(before: str, passage: str, after: str) -> Encoded:
        return encode(before, passage, after + " x" * 9000)

    with pytest.raises(PromptError, match=r"expected depth 0\.900 within"):
        place_in_text("Short one. Another one. " * 50, NEEDLE["en"], 0.9, drifting)


def test_a_needle_that_stands_twice_is_refused() -> None:
    needle = "A quiet wind."
    with pytest.raises(PromptError):
        place_in_text(f"One more. {needle} And then. " * 3, needle, 0.5, encode)
    assert not occurs_once(Encoded((5, 6, 7, 5, 6), {"passage": (0, 2)}))
    assert occurs_once(Encoded((5, 6, 7, 5, 8), {"passage": (0, 2)}))


def test_depth_leaves_the_ids_of_the_passage_and_of_the_template_out() -> None:
    encoded = Encoded(tuple(range(100)), {"before": (10, 40), "passage": (40, 50), "after": (50, 60)})
    assert realised_depth(encoded) == 0.75


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("It takes 7.5 days. Then e.g. rest.", ["It takes 7.5 days. ", "Then e.g. ", "rest."]),
        ("清晨。傍晚！雨停了？是；好\n完", ["清晨。", "傍晚！", "雨停了？", "是；", "好\n", "完"]),
        ('He said "go." Then he left.', ['He said "go." ', "Then he left."]),
        ("他说：“走。”然后走了。", ["他说：“走。”", "然后走了。"]),
        ("no end", ["no end"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_same_length_is_drawn_and_never_padded() -> None:
    texts = iter(["a", "bbb", "cc", "dd"])
    matched = draw_of_length(lambda: next(texts), len, 2)
    assert (matched.value, matched.length, matched.draws, matched.flags) == ("cc", 2, 3, ())


def test_two_hundred_vain_draws_are_flagged_with_the_nearest() -> None:
    numbers = iter(range(1, 10_000))
    matched = draw_of_length(lambda: "x" * next(numbers), len, 1000)
    assert (matched.length, matched.draws, matched.flags) == (200, 200, ("length differs",))
    assert next(numbers) == 201


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("raw", [False, True])
def test_the_reference_set_is_32_prompts_near_the_wanted_length(language: Language, raw: bool) -> None:
    prompts = reference_set(language, count_tokens, 300, raw)
    assert prompts == reference_set(language, count_tokens, 300, raw)
    assert len({prompt.parts for prompt in prompts}) == len(prompts) == 32
    for prompt in prompts:
        assert prompt.is_raw == raw
        assert abs(sum(count_tokens(part.text) for part in prompt.parts) - 300) <= 40
        assert len(set(sentences(prompt.part("preface").text))) == len(sentences(prompt.part("preface").text))
    assert all("preface" not in [part.name for part in p.parts] for p in reference_set(language, count_tokens))


@settings(max_examples=25, deadline=None)
@given(depth=st.floats(0, 1), seed=st.integers(0, 10**6), language=st.sampled_from(LANGUAGES))
def test_any_depth_of_any_seed_is_near(depth: float, seed: int, language: Language) -> None:
    placed = place(NEEDLE[language], depth, 12, language, item_generator(seed, "evidence", "x"), encode)
    assert abs(placed.realised - depth) <= placed.tolerance


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_canary_tells_which_end_was_cut(language: Language) -> None:
    canary = canary_pair(language, 5)
    assert canary == canary_pair(language, 5)
    assert canary.first in canary.head
    assert canary.last in canary.tail
    assert canary.lost(f"{canary.first}, {canary.last}") == ()
    assert canary.lost(f"The last is {canary.last}.") == ("start",)
    assert canary.lost(canary.first) == ("end",)
    assert canary.lost("I see no code.") == ("start", "end")


def test_without_ids_depth_is_counted_in_characters() -> None:
    placed = place(NEEDLE["zh"], 0.5, 20, "zh", item_generator(2, "evidence", "x"), encode_characters)
    assert placed.realised == len(placed.before) / (len(placed.before) + len(placed.after))
    assert CHARACTERS_ONLY == "depth in characters, not verified"


HEADER = "month,question,right,wrong,source"


def test_dated_facts_need_month_and_source() -> None:
    (fact,) = read_dated([HEADER, "2024-05,Which?,A,B|C,https://example.org/a 2025-01-02"], "d.csv")
    assert (fact.month, fact.wrong) == ("2024-05", ("B", "C"))
    for row, message in (
        ("2024-13,Which?,A,B,https://example.org", "d.csv:2: month: expected YYYY-MM, found '2024-13'"),
        ("2024-05,Which?,A,B,somewhere", "d.csv:2: source: expected a public address, found 'somewhere'"),
        ("2024-05,Which?,A,A,https://example.org", "not among the wrong ones"),
        ("2024-05,Which?,A", "expected 5 columns"),
    ):
        with pytest.raises(CaseError, match=message):
            read_dated([HEADER, row], "d.csv")
    with pytest.raises(CaseError, match="expected the columns month"):
        read_dated(["a,b"], "d.csv")


@pytest.mark.parametrize("language", LANGUAGES)
def test_shipped_releases_have_a_public_source_each_and_are_enough(language: Language) -> None:
    facts = releases(language)
    months = Counter(fact.month for fact in facts)
    assert len(facts) >= max(FACTS, CONTROLS)
    assert min(months.values()) >= FACTS_A_MONTH
    assert len({fact.question for fact in facts}) == len(facts)
    for fact in facts:
        address, read = fact.source.split(" ")
        assert re.fullmatch(r"https://[a-z.]+/\S+/[0-9a-f]{40}/\S+", address), "an address that cannot change"
        assert date.fromisoformat(read) > date(*map(int, fact.month.split("-")), 1)
        assert fact.right not in fact.wrong
        assert len(set(fact.wrong)) == 4
    assert (facts[0].month, facts[0].right) == ("2018-08", "August 2018" if language == "en" else "2018年8月")


def test_a_release_without_a_source_is_refused() -> None:
    with pytest.raises(CaseError, match="public address"):
        checked_fact(DatedFact("2020-01", "When?", "January", (), "somewhere"), "releases.tsv:2")
