import pytest

from whybox.items.scoring import name_scorer
from whybox.testing import NONE, ROWS
from whybox.testing import vocabulary as words
from whybox.testing.memory_file import MemoryFile
from whybox.text import prompt as prompts


def test_one_word_is_one_id_and_its_bytes_spell_the_text() -> None:
    tokenizer = words.tokenizer()
    text = "DOC1 Aldova Quorlan . JSON Q Aldova"
    ids = tokenizer.encode(text)
    assert ids == [words.IDS[word] for word in text.split()]
    assert tokenizer.decode_bytes(ids) == b" " + text.encode()
    assert prompts.from_text(tokenizer, text).ids == (words.IDS[words.BOS], *ids)


def test_an_answer_put_straight_behind_a_prompt_is_a_word_of_its_own() -> None:
    assert words.tokenizer().encode("Q AldovaQuorlan") == [words.IDS[w] for w in ("Q", "Aldova", "Quorlan")]


def test_other_text_is_unknown_and_no_control_token() -> None:
    tokenizer = words.tokenizer()
    assert tokenizer.encode("Q zebra <bos> Aldova") == [words.IDS[w] for w in ("Q", "<unk>", "<unk>", "Aldova")]
    assert tokenizer.is_control(words.IDS[words.BOS])


@pytest.mark.parametrize("value", words.VALUES)
def test_scorers_find_every_value(value: str) -> None:
    other = words.VALUES[(words.VALUES.index(value) + 5) % len(words.VALUES)]
    scorer = name_scorer(value, [other])
    assert (scorer.score(f" {value}").outcome, scorer.score(f"Answer: {other}").outcome) == ("right", "wrong")


def test_no_name_lies_inside_another() -> None:
    names = [*words.ENTITIES, *words.VALUES]
    assert len({name.lower() for name in names}) == 32
    assert not [(a, b) for a in names for b in names if a != b and a.lower() in b.lower()]


@pytest.mark.parametrize("row", ROWS)
def test_seeds_draw_other_cases_and_the_same_seed_the_same_one(row: str) -> None:
    first, again, other = (ROWS[row](seed, NONE) for seed in (0, 0, 1))
    assert first.case.text == again.case.text
    assert first.model.file.digest() == again.model.file.digest()
    assert first.case.text != other.case.text


def test_the_file_in_memory_has_the_face_of_any_other() -> None:
    file = ROWS["induction"](0, NONE).model.file
    assert isinstance(file, MemoryFile)
    assert {"embed", "positions", "head", "layers.0.query"} <= set(file.tensors)
    assert sum(share.nbytes for share in file.types()) == sum(info.nbytes for info in file.tensors.values())
    assert (file.read("embed") == file.arrays["embed"]).all()
    assert len(file.digest()) == 64
