"""Each code on a pattern that was made for it, and on none that was not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.engine import random_models
from tests.measure.looked_at import (
    GENERATED,
    HEADS,
    LAYERS,
    PART,
    TEMPLATE,
    Pieces,
    causal,
    looked_at,
    model_of,
    prompt_of,
)
from whybox.engine.reference import ReferenceEngine
from whybox.measure.diagnosis import CODES, ELSEWHERE, Finding, diagnose, unsaid
from whybox.measure.heads import heads_of
from whybox.measure.looking import Looked, look_at
from whybox.measure.probe import Probed
from whybox.measure.subject import Need, of_run
from whybox.report.diagnosis_words import ACTIONS, EVIDENCE, MEANINGS
from whybox.testing.faults import MASK_AFTER_SOFTMAX

N = 80
WORDS = [f"w{i}" for i in range(N)]
CHAT: Pieces = (
    ("open", TEMPLATE, "system", 1),
    ("policy", PART, "system", 20),
    ("doc1", PART, "user", 15),
    ("doc2", PART, "user", 15),
    ("doc3", PART, "user", 15),
    ("question", PART, "user", 14),
)


def found(
    patterns: Sequence[np.ndarray],
    pieces: Pieces = (),
    words: Sequence[str] = WORDS,
    probed: Probed | str = "no probe",
    evidence: tuple[str, ...] = (),
    wrong: bool | None = None,
    looked: Looked | None = None,
) -> dict[str, Finding]:
    of = looked or looked_at(prompt_of(words, pieces), patterns)
    findings = diagnose(of_run(of, heads_of(of, probed), evidence, wrong))
    assert all(set(each.evidence) <= set(EVIDENCE) for each in findings), "a number without a name in words"
    return {each.code: each for each in findings}


def spread(weights: dict[int, float], rows: int = N, at: Sequence[int] | None = None) -> np.ndarray:
    """Even rows, with these weights at these keys in the rows of `at` (all by default), where they can be seen."""
    pattern = causal(rows)
    for row in range(rows) if at is None else at:
        keys = {key: weight for key, weight in weights.items() if key <= row}
        rest = [key for key in range(row + 1) if key not in keys]
        if rest:
            pattern[:, row] = 0
            pattern[:, row, rest] = (1 - sum(keys.values())) / len(rest)
            for key, weight in keys.items():
                pattern[:, row, key] = weight
    return pattern


def everywhere(pattern: np.ndarray) -> list[np.ndarray]:
    return [pattern] * LAYERS


def test_even_attention_is_flat_and_nothing_else() -> None:
    codes = found(everywhere(causal(N)))
    assert set(codes) == {"FLAT"}
    assert codes["FLAT"].evidence["entropy_norm"] == pytest.approx(1)


def test_a_system_prompt_that_no_head_reads() -> None:
    row = np.zeros(N)
    row[21:] = 1 / (N - 21)
    pattern = causal(N)
    pattern[:, -1] = row
    codes = found(everywhere(pattern), CHAT)
    assert codes["SYS_LOW"].segments == ("policy",)
    assert codes["SYS_LOW"].evidence == pytest.approx({"lift": 0, "heads_part": 1, "heads": HEADS * LAYERS})
    assert "SYS_LOW" not in found(everywhere(causal(N)), CHAT)


def test_a_token_that_most_heads_leave_to_itself() -> None:
    pattern = spread({17: 0.7}, at=[17])
    codes = found([pattern, pattern, causal(N)])
    assert codes["SELF_ROW"].tokens == (17,)
    assert codes["SELF_ROW"].evidence["heads_part"] == pytest.approx(2 / 3)
    assert "SELF_ROW" not in found([pattern, causal(N), causal(N)])


def test_last_rows_that_look_at_what_is_near() -> None:
    pattern = causal(N)
    for row in range(N - 4, N):
        pattern[:, row] = 0
        pattern[:, row, row - 9 : row + 1] = 0.1
    assert found(everywhere(pattern))["RECENT"].evidence == pytest.approx({"local16": 1, "even": 17 / N})
    short = [causal(20)] * LAYERS
    assert "RECENT" not in found(short, words=WORDS[:20])


def test_a_stripe_on_a_word_and_none_on_a_full_stop() -> None:
    striped = spread({5: 0.5})
    codes = found(everywhere(striped))
    assert codes["STRIPE"].tokens == (5,)
    assert codes["STRIPE"].evidence == pytest.approx({"heads": HEADS * LAYERS, "stripe": 1})
    words = [*WORDS[:5], ".", *WORDS[6:]]
    codes = found(everywhere(striped), words=words)
    assert "STRIPE" not in codes
    assert codes["ANCHOR"].evidence == pytest.approx({"anchor": 0.5, "anchor_tokens": 1 / N})


def test_a_sink_is_named_as_one() -> None:
    assert found(everywhere(spread({0: 0.7})))["SINK"].evidence == pytest.approx(
        {"sink": 0.7, "heads_part": 1}, abs=0.01
    )


def test_short_range_counts_early_layers_alone() -> None:
    near = causal(N)
    near[:] = 0
    near[:, np.arange(N), np.arange(N)] = 1
    assert found([near, causal(N), causal(N)])["SHORT_RANGE"].evidence == {"heads": HEADS}
    assert "SHORT_RANGE" not in found([causal(N), causal(N), near])


@pytest.mark.parametrize(("weight", "code"), [(0.01, "UNSEEN"), (0.5, "SEEN_WRONG")])
def test_evidence_of_a_wrong_answer(weight: float, code: str) -> None:
    pattern = causal(N)
    inside = np.zeros(N, bool)
    inside[36:51] = True
    pattern[:, -1] = np.where(inside, weight / 15, (1 - weight) / 65)
    codes = found(everywhere(pattern), CHAT, evidence=("doc2",), wrong=True)
    assert codes[code].segments == ("doc2",)
    drained = (1 - weight) / 65
    assert codes[code].evidence["lift"] == pytest.approx(weight / (1 - drained) / (15 / (N - 1)))
    for wrong in (False, None):
        assert not {"UNSEEN", "SEEN_WRONG"} & set(found(everywhere(pattern), CHAT, evidence=("doc2",), wrong=wrong))


def test_the_middle_document_least() -> None:
    pattern = causal(N)
    pattern[:, -1, 36:51] = 0
    pattern[:, -1] /= pattern[:, -1].sum(axis=-1, keepdims=True)
    codes = found(everywhere(pattern), CHAT)
    assert codes["MIDDLE"].segments == ("doc2",)
    assert codes["DOCS_COMPETE"].segments == ("doc3", "doc1")


def test_the_part_that_asks_is_no_document_wherever_it_stands() -> None:
    """It is the one of that name, else the last that is not evidence; evidence always counts."""
    pattern = everywhere(causal(N))
    assert found(pattern, CHAT)["DOCS_COMPETE"].counted == ("doc1", "doc2", "doc3")
    first = (*CHAT[:2], CHAT[-1], *CHAT[2:-1])
    assert found(pattern, first, evidence=("doc3",))["DOCS_COMPETE"].counted == ("doc1", "doc2", "doc3")
    unnamed = (*CHAT[:2], ("asked", *CHAT[-1][1:]), *CHAT[2:-1])
    last = found(pattern, unnamed, evidence=("doc3",))["DOCS_COMPETE"].counted
    assert last == ("asked", "doc1", "doc3"), "unnamed, the last that is no evidence asks"


def test_documents_far_apart_do_not_compete() -> None:
    pattern = spread({21: 0.2, 37: 0.4})
    assert "DOCS_COMPETE" not in found(everywhere(pattern), CHAT)


def test_a_copied_example() -> None:
    words = [*WORDS[:-1], "w30"]
    pattern = spread({31: 0.6}, at=[N - 1])
    high = tuple(np.full(HEADS, 0.8) for _ in range(LAYERS))
    low = tuple(np.zeros(HEADS) for _ in range(LAYERS))
    codes = found(everywhere(pattern), words=words, probed=Probed(50, 4, 0, high, low, low, low))
    assert codes["COPIES_EXAMPLE"].evidence == pytest.approx({"mass": 0.6, "heads": HEADS * LAYERS})
    assert "COPIES_EXAMPLE" not in found(everywhere(pattern), probed=Probed(50, 4, 0, high, low, low, low))


def test_a_model_that_follows_its_own_words() -> None:
    pattern = causal(N)
    pattern[:, -1] = 0
    pattern[:, -1, 60:] = 0.8 / 20
    pattern[:, -1, 1:60] = 0.2 / 59
    codes = found(everywhere(pattern), (("prompt", PART, None, 60), ("generated", GENERATED, None, 20)))
    assert codes["INERTIA"].evidence == pytest.approx({"share": 0.8})


def test_two_heads_that_write_against_each_other() -> None:
    pattern = causal(N)
    for head in (0, 1):
        pattern[head] = spread({40: 0.9})[head]
    model = model_of()
    out = model.weights["layers.1.out"]
    out.flags.writeable = True
    out[:, 1] = -out[:, 0]
    looked = looked_at(prompt_of(WORDS), [causal(N), pattern, causal(N)], model)
    finding = found([], looked=looked)["CANCEL"]
    assert (finding.heads, finding.tokens) == (((1, 0), (1, 1)), (40,))
    assert finding.evidence == pytest.approx({"cosine": -1, "share": 0.9, "other_share": 0.9, "pairs": 1})


def test_evidence_behind_the_window() -> None:
    model = model_of(random_models.spec(LAYERS, window=16))
    looked = looked_at(prompt_of(WORDS, CHAT), everywhere(causal(N)), model)
    finding = found([], looked=looked, evidence=("doc1",))["OUT_OF_WINDOW"]
    assert finding.evidence == {"window": 16, "distance": N - 36, "layers": LAYERS}
    assert "OUT_OF_WINDOW" not in found([], looked=looked, evidence=("question",))


def test_template_tokens_that_are_read() -> None:
    pieces: Pieces = (("a", TEMPLATE, None, 2), ("b", PART, None, 70), ("c", TEMPLATE, None, 8))
    assert found(everywhere(spread({75: 0.3})), pieces)["PAD_TEMPLATE"].evidence["share"] > 0.3
    assert "PAD_TEMPLATE" not in found(everywhere(causal(N)), pieces)


def test_rows_that_do_not_sum_to_one_stop_everything() -> None:
    codes = found([causal(N), 0.9 * causal(N), causal(N)])
    assert set(codes) == {"MASK_BUG"}
    assert codes["MASK_BUG"].layers == (1,)
    assert codes["MASK_BUG"].evidence["row_sum_off"] == pytest.approx(0.1)


@pytest.mark.parametrize(("precision", "bound"), [("fp32", 1e-5), ("fp16", 2**-10), ("bf16", 2**-8), ("int8", 2**-8)])
def test_a_row_may_miss_one_by_what_the_precision_rounds(precision: str, bound: float) -> None:
    for off, faulty in ((0.8 * bound, False), (1.2 * bound, True)):
        looked = looked_at(prompt_of(WORDS), everywhere((1 - off) * causal(N)))
        engine = ReferenceEngine(looked.model.spec, looked.model.weights)
        engine.precision = precision
        assert ("MASK_BUG" in found([], looked=replace(looked, model=replace(looked.model, engine=engine)))) is faulty


def test_one_hot_layers() -> None:
    hot = np.zeros((HEADS, N, N))
    hot[:, np.arange(N), np.arange(N) // 2] = 1
    assert found([causal(N), hot, causal(N)])["ONE_HOT"].layers == (1,)


def test_a_mask_behind_the_softmax_is_found_in_a_run() -> None:
    faulty = MASK_AFTER_SOFTMAX.of(model_of())
    ids = random_models.IDS * 2
    looked = look_at(faulty, replace(prompt_of([str(i) for i in ids]), ids=ids))
    assert set(found([], looked=looked)) == {"MASK_BUG"}


def test_what_a_run_cannot_decide_is_named_with_what_is_missing() -> None:
    of = looked_at(prompt_of(WORDS, CHAT), everywhere(causal(N)))
    bare = unsaid(of_run(of, heads_of(of, "no probe")))
    assert bare == {"COPIES_EXAMPLE": Need.PROBE, "UNSEEN": Need.EVIDENCE, "SEEN_WRONG": Need.EVIDENCE}
    quiet = tuple(np.zeros(HEADS) for _ in range(LAYERS))
    probed = heads_of(of, Probed(50, 4, 0, quiet, quiet, quiet, quiet))
    assert unsaid(of_run(of, probed, ("doc2",), wrong=False)) == {}


def test_every_code_has_words_and_a_place_where_it_is_decided() -> None:
    assert set(CODES) | set(ELSEWHERE) == set(MEANINGS) == set(ACTIONS)
    assert not set(CODES) & set(ELSEWHERE)


def test_what_the_parts_say_tells_which_asks() -> None:
    pieces: Pieces = (("ask", PART, "user", 20), ("doc1", PART, "user", 30), ("doc2", PART, "user", 30))
    words = [*["how"] * 19, "long?", *["exchanges"] * 30, *["refunds"] * 30]
    of = looked_at(prompt_of(words, pieces), everywhere(causal(N)))
    subject = of_run(of, heads_of(of, "no probe"))
    assert [part.name for part in subject.documents] == ["doc1", "doc2"]
    told = of_run(of, heads_of(of, "no probe"), question="doc2")
    assert [part.name for part in told.documents] == ["ask", "doc1"]
