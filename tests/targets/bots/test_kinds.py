"""Bots by name, and settings that cannot be meant."""

import pytest

from whybox.errors import UsageError
from whybox.targets.bots import kinds
from whybox.targets.bots.truth import truth


def test_a_bot_is_read_from_text() -> None:
    assert kinds.bot_from("position_biased(b=.25)") == kinds.PositionBiased(0.25)
    assert kinds.bot_from(" forgets_at(t0=3, q=0.5) ") == kinds.ForgetsAt(3, 0.5)
    assert kinds.bot_from("truncates_context(n=90,side=end,usage=before)") == kinds.TruncatesContext(
        90, "end", "before"
    )
    assert kinds.bot_from("always_first") == kinds.AlwaysFirst()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody", "no bot 'nobody'"),
        ("honest(q=1)", "honest has no q"),
        ("honest(p=x)", "p: expected float"),
        ("honest(p=1.5)", "p = 1.5 cannot be meant"),
        ("honest(p=nan)", "cannot be meant"),
        ("forgets_at(t0=0)", "t0 must be at least 1"),
        ("ignores_seed(epsilon=0.6)", "cannot be meant"),
        ("drops_logprobs(kind=all)", "kind: expected one of null"),
        ("cutoff_at(c=2024)", "c must be YYYY-MM"),
        ("errors(ways=fire)", "ways are"),
        ("honest(p=1", "expected a bot such as"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        kinds.bot_from(text)
    assert said in str(raised.value)


def test_truths_that_are_worked_by_hand() -> None:
    assert truth(kinds.TieFlipper(0.1)) == pytest.approx({"F": 0.18, "F0": 0.18, "D": 0.0, "accuracy": 0.9})
    assert truth(kinds.PositionBiased(0.3), 4) == pytest.approx({"D": 0.09, "F0": 0.315, "accuracy": 0.775})
    assert truth(kinds.Brittle(0.2)) == pytest.approx({"CC": 0.4096, "F_inv": 0.2})
    assert truth(kinds.Misattributes(0.3), 3) == pytest.approx({"accuracy": 0.8, "primacy": 2 / 3})
    forgets = truth(kinds.ForgetsAt(7, 0.3))
    assert forgets == pytest.approx({"P(1)": 1, "P(5)": 1, "P(10)": 0.3, "P(20)": 0.3, "drop": 0.7, "S(20)": 0.09})
