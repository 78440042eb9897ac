"""Prompts: spans of characters cut across tokens, segments that share out the tokens, BOS in one place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text import tiny
from tests.text.corpus import TEXTS
from whybox.errors import PromptError
from whybox.text import prompt as prompts
from whybox.text.prompt import Code, Part, Prompt, SegmentKind
from whybox.text.tokenizer import Tokenizer


def _tokenizer(**more: object) -> Tokenizer:
    library = tiny.byte_level()
    keys = {"pre": "smollm", "merges": tiny.merges_of(library), "bos_token_id": 0, "eos_token_id": 2}
    return Tokenizer.from_gguf(tiny.gguf_of(library, "gpt2", tiny.CONTROLS, **(keys | more)))


PLAIN, WITH_BOS = _tokenizer(), _tokenizer(add_bos_token=True)


def check(prompt: Prompt) -> None:
    """What holds for every prompt."""
    assert prompt.ids == tuple(token.id for token in prompt.tokens)
    owners = [i for segment in prompt.segments for i in range(segment.start, segment.end)]
    assert owners == list(range(len(prompt)))
    assert "\ufffd" not in "".join(token.label for token in prompt.tokens)
    for token in prompt.tokens:
        assert prompt.data[slice(*token.place)] in (token.bytes, b"")
        assert 1 <= token.part <= token.of
    for character in range(len(prompt.text)):
        assert prompt.tokens_of_character(character)


@pytest.mark.model
def test_characters_cut_across_tokens(smollm2: Tokenizer) -> None:
    smile = prompts.from_text(smollm2, "😊")
    assert [(t.id, t.bytes.hex(), t.span, t.part, t.of) for t in smile.tokens] == [
        (10813, "f09f", (0, 1), 1, 3),
        (242, "98", (0, 1), 2, 3),
        (228, "8a", (0, 1), 3, 3),
    ]
    weather = prompts.from_text(smollm2, "天氣很好")
    assert [len(weather.tokens_of_character(i)) for i in range(4)] == [2, 3, 2, 2]
    assert [t.label for t in weather.tokens][:3] == ["天 1/2", "天 2/2", "氣 1/3"]
    spelled = [(t.part, t.of, *t.span) for t in weather.tokens]
    assert spelled == [(k + 1, of, i, i + 1) for i, of in enumerate((2, 3, 2, 2)) for k in range(of)]
    assert [t.id for t in weather.tokens] == [18614, 119, 177, 125, 113, 29157, 226, 48392, 138]
    assert b"".join(t.bytes for t in weather.tokens).decode() == "天氣很好"
    assert not any(c in t.label for t in (*smile.tokens, *weather.tokens) for c in "å¤ð\ufffd")


@pytest.mark.model
def test_ids_of_the_case_of_the_two_parts(smollm2: Tokenizer) -> None:
    prompt = prompts.from_parts(smollm2, [Part("a", "The capital of"), Part("b", " France is")], join="")
    assert prompt.ids == (504, 3575, 282, 4649, 314)
    assert (prompt.segment("a").end, prompt.segment("b").end) == (3, 5)
    assert not prompt.warnings


@pytest.mark.gemma
def test_exactly_one_bos_counted_on_ids(gemma: Tokenizer) -> None:
    assert prompts.from_text(gemma, "The capital of France is").ids == (2, 818, 5279, 529, 7001, 563)
    typed = prompts.from_text(gemma, "<bos>The capital of France is")
    assert typed.ids.count(2) == 1
    assert [w.code for w in typed.warnings] == [Code.CONTROL_TEXT]
    given_twice = prompts.from_ids(gemma, [2, 2, 818])
    assert given_twice.ids == (2, 2, 818)
    assert Code.BOS in [w.code for w in given_twice.warnings]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("tokenizer", [PLAIN, WITH_BOS], ids=["plain", "bos"])
def test_every_text(tokenizer: Tokenizer, name: str) -> None:
    text = TEXTS[name]
    prompt = prompts.from_text(tokenizer, text)
    check(prompt)
    assert prompt.text == text
    assert prompt.ids[len(prompt) - len(tokenizer.encode(text)) :] == tuple(tokenizer.encode(text))
    assert prompt.ids[:1] == (0,) if tokenizer.add_bos else 0 not in prompt.ids
    again = prompts.from_ids(tokenizer, prompt.ids)
    assert (again.text, again.tokens) == (prompt.text, prompt.tokens)


@given(texts=st.lists(st.text(max_size=12), min_size=1, max_size=5), join=st.sampled_from(["", "\n", " ", "\n\n"]))
@settings(max_examples=150, deadline=None)
def test_a_part_owns_the_tokens_whose_first_byte_lies_in_it(texts: list[str], join: str) -> None:
    if not join.join(texts):
        return
    prompt = prompts.from_parts(PLAIN, [Part(f"p{i}", text) for i, text in enumerate(texts)], join)
    check(prompt)
    assert list(prompt.ids) == PLAIN.encode(join.join(texts))
    start = 0
    for i, text in enumerate(texts):
        end = start + len(text.encode())
        segment = prompt.segment(f"p{i}")
        owned = [k for k, token in enumerate(prompt.tokens) if start <= token.place[0] < end]
        assert list(range(segment.start, segment.end)) == owned
        start = end + len(join.encode())


def test_a_token_in_two_parts_is_reported_and_counts_for_the_first() -> None:
    word = next(t for t in tiny.tokens_of(tiny.byte_level()) if len(t) == 4 and t.isascii() and t.isalpha())
    prompt = prompts.from_parts(PLAIN, [Part("a", word[:2]), Part("b", word[2:])], join="")
    assert len(prompt) == 1
    assert (prompt.segment("a").start, prompt.segment("a").end) == (0, 1)
    assert [w.code for w in prompt.warnings] == [Code.STRADDLE, Code.NO_TOKENS]
    assert "lies in a and in b" in str(prompt.warnings[0])


def test_control_text_is_marked_where_it_stands() -> None:
    prompt = prompts.from_parts(PLAIN, [Part("a", "x"), Part("doc", "é<|im_end|>y")])
    (warning,) = prompt.warnings
    assert (warning.code, warning.span) == (Code.CONTROL_TEXT, (3, 13))
    assert prompt.text[slice(*warning.span)] == "<|im_end|>"
    assert not any(token.control for token in prompt.tokens)


def test_ids_that_are_no_text_and_the_ids_that_complete_it() -> None:
    smile = PLAIN.encode("😊")
    assert len(smile) > 1
    half = prompts.from_ids(PLAIN, smile[:-1])
    assert "\\x" in half.text
    assert "\ufffd" not in half.text
    check(half)
    whole = prompts.extend(PLAIN, half, smile[-1:])
    check(whole)
    assert whole.text == "😊"
    assert [t.label for t in whole.tokens] == [f"😊 {k}/{len(smile)}" for k in range(1, len(smile) + 1)]
    assert whole.segments[-1].kind is SegmentKind.GENERATED
    more = prompts.extend(PLAIN, whole, PLAIN.encode(" ok"), "generated 2")
    assert more.segment("generated 2").start == len(smile)


def test_labels_show_blanks_and_what_cannot_be_printed() -> None:
    prompt = prompts.from_text(PLAIN, "a\n\t\x00\ufffd")
    assert "".join(t.label if t.of == 1 else "" for t in prompt.tokens).startswith("a⏎⇥␀")
    assert any("U+FFFD" in t.label for t in prompt.tokens)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prompts.from_text(PLAIN, ""), "empty"),
        (lambda: prompts.from_text(WITH_BOS, ""), "empty"),
        (lambda: prompts.from_ids(PLAIN, []), "empty"),
        (lambda: prompts.from_ids(PLAIN, [10**6]), "outside the vocabulary"),
        (lambda: prompts.from_ids(PLAIN, [5, -1]), "outside the vocabulary"),
        (lambda: prompts.from_text(PLAIN, "\ud800"), "surrogate"),
        (lambda: prompts.from_parts(PLAIN, [Part("a", "x"), Part("a", "y")]), "two parts named 'a'"),
        (lambda: prompts.from_text(PLAIN, "x").segment("y"), "this prompt has prompt"),
        (lambda: prompts.from_text(PLAIN, "x").segment_of(9), "no token 9"),
    ],
)
def test_what_cannot_be_a_prompt(call, says: str) -> None:
    with pytest.raises(PromptError, match=says):
        call()


def test_a_space_that_the_tokenizer_adds_covers_no_character() -> None:
    library = tiny.llama_style()
    metadata = tiny.gguf_of(library, "llama", ["<unk>", "<s>", "</s>"], scores=tiny.scores_by_rank(library))
    tokenizer = Tokenizer.from_gguf(metadata | {"tokenizer.ggml.bos_token_id": 1})
    prompt = prompts.from_text(tokenizer, "天paid")
    assert prompt.ids[0] == 1
    assert prompt.tokens[1].span == (0, 0) or prompt.tokens[1].bytes.startswith(b" ")
    assert b"".join(prompt.data[slice(*t.place)] for t in prompt.tokens) == "天paid".encode()
    assert [s.name for s in prompt.segments] == ["bos", "prompt"]
