"""Two prompts and two models side by side, against numbers made by hand."""

import numpy as np
import pytest

from tests.real import real
from whybox.jobs.explore import Desk
from whybox.jobs.explore.alike import Alike, alike
from whybox.jobs.explore.pair import NO_DIVERGENCE, NOT_MEASURED, Side, chosen, paired
from whybox.report.document.explore import OtherModel, OtherPrompt, PartText, RawPrompt, State
from whybox.report.document.pair import PairDocument
from whybox.text.tokenizer import Tokenizer

pytestmark = pytest.mark.model

FRANCE, SPAIN = (
    RawPrompt(parts=(PartText(name="p", text=f"The capital of {land} is"),)) for land in ("France", "Spain")
)


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(real("smollm2", "torch"))


def side_by_side(a: Side, b: Side, known: Alike) -> PairDocument:
    return paired(State(prompt=FRANCE, other=OtherPrompt(prompt=SPAIN)), a, b, known, 0.0, 0)


def log_probs(desk: Desk, prompt: RawPrompt) -> np.ndarray:
    return desk.model.run(desk.model.prompt(prompt.parts[0].text), tail=1).log_probs()


def test_two_prompts_are_compared_token_by_token(desk: Desk) -> None:
    known = alike(desk.model.tokenizer, desk.model.tokenizer)
    found = side_by_side(desk.side(FRANCE), desk.side(SPAIN), known)
    p, q = log_probs(desk, FRANCE), log_probs(desk, SPAIN)
    assert found.same_tokenizer
    assert found.kl_ab == pytest.approx(float((np.exp(p) * (p - q)).sum()), abs=1e-5)
    assert found.kl_ba == pytest.approx(float((np.exp(q) * (q - p)).sum()), abs=1e-5)
    assert found.kl_ab != pytest.approx(found.kl_ba, abs=0.1)
    assert [token.shown for token in found.a.tokens if token.apart] == ["·France"]
    assert [token.shown for token in found.b.tokens if token.apart] == ["·Spain"]
    first, second = found.next[:2]
    assert (first.text, second.text) == (" Paris", " Madrid")
    assert (first.a, first.b) == pytest.approx((0.7725, 0.00695), abs=1e-3)
    assert found.floor_reason == NOT_MEASURED


def test_the_floor_is_the_larger_of_both(desk: Desk) -> None:
    fresh = Desk(desk.model)
    floors = [fresh.floor(State(prompt=prompt), lambda done, of: None) for prompt in (FRANCE, SPAIN)]
    known = alike(desk.model.tokenizer, desk.model.tokenizer)
    assert side_by_side(fresh.side(FRANCE), fresh.side(SPAIN), known).floor == max(floors)


def test_the_lens_is_of_the_most_probable_tokens_of_either(desk: Desk) -> None:
    a, b, known = desk.side(FRANCE), desk.side(SPAIN), alike(desk.model.tokenizer, desk.model.tokenizer)
    pair, same = chosen(a, b, known)
    assert pair == same
    assert [desk.model.tokenizer.label(token) for token in pair] == [" Paris", " Madrid"]
    for prompt, sign in ((FRANCE, 1), (SPAIN, -1)):
        rows, logits = desk.lens_rows(prompt, pair), log_probs(desk, prompt)
        assert len(rows) == len(desk.model.spec.layers)
        assert rows[-1].ld == pytest.approx(logits[pair[0]] - logits[pair[1]], abs=2e-3)
        assert rows[-1].ld * sign > 1
    (first, second), _ = chosen(a, a, known)
    assert [desk.model.tokenizer.label(token) for token in (first, second)] == [" Paris", " the"]


def test_a_precision_beside_another_shares_the_vocabulary(desk: Desk) -> None:
    coarse = Desk(desk.model.variant(precision="int8"))
    known = alike(desk.model.tokenizer, coarse.model.tokenizer)
    found = side_by_side(desk.side(FRANCE), coarse.side(FRANCE), known)
    assert found.same_tokenizer
    assert not any(token.apart for token in (*found.a.tokens, *found.b.tokens))
    assert found.kl_ab is not None
    assert 1e-6 < found.kl_ab < 0.1
    assert (found.a.model.precision, found.b.model.precision) == ("fp32", "int8")


@pytest.mark.gemma
def test_other_tokenizers_are_compared_by_text_and_have_no_divergence(desk: Desk) -> None:
    gemma = Desk(real("gemma3-270m", "torch"))
    known = alike(desk.model.tokenizer, gemma.model.tokenizer)
    a, b = desk.side(FRANCE), gemma.side(FRANCE)
    found = paired(State(prompt=FRANCE, other=OtherModel(name="gemma3-270m")), a, b, known, 0.0, 0)
    assert not found.same_tokenizer
    assert (found.kl_ab, found.kl_ba, found.kl_ab_reason) == (None, None, NO_DIVERGENCE)
    assert [token.shown for token in found.b.tokens if token.apart] == ["<bos>"]
    assert not any(token.apart for token in found.a.tokens)
    row = next(row for row in found.next if row.text == " Paris")
    token = gemma.model.tokenizer.encode(" Paris")[0]
    assert row.b == pytest.approx(float(np.exp(log_probs(gemma, FRANCE)[token])), rel=1e-3)
    assert row.a == pytest.approx(0.7725, abs=1e-3)
    in_a, in_b = chosen(a, b, known)
    labels = [[model.tokenizer.label(token) for token in ids] for model, ids in ((a.model, in_a), (b.model, in_b))]
    assert labels[0] == labels[1]


class Spelling(Tokenizer):
    """A vocabulary by its bytes; those of `controls` are control tokens."""

    def __init__(self, spelled: list[bytes], controls: tuple[int, ...] = ()) -> None:
        self.spelled, self.controls = spelled, controls

    @property
    def vocab_size(self) -> int:
        return len(self.spelled)

    def token_bytes(self, token: int) -> bytes:
        return self.spelled[token]

    def is_control(self, token: int) -> bool:
        return token in self.controls


def test_tokens_of_equal_text_are_alike_and_those_without_bytes_are_not() -> None:
    one, other = Spelling([b"a", b"", b"x", b"a"], (2,)), Spelling([b"x", b"a", b""])
    found = alike(one, other)
    assert found.same is False
    assert found.a[0] == found.a[3] == found.b[1]
    assert len({int(found.a[1]), int(found.a[2]), int(found.b[0]), int(found.b[2])}) == 4
    held = found.held(found.a, np.array([0.1, 0.2, 0.3, 0.4]))
    assert held[found.b[1]] == pytest.approx(0.5)
    assert np.isnan(held[found.b[0]])
    assert alike(one, Spelling(list(one.spelled), (2,))).same
