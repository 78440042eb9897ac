"""A fact that was supplied: its own words without the answer, as shams.

A prompt that stands near a tie may turn with any sentence added to it. That the fact was missing is shown only where
its words do nothing once the answer is taken out of them.
"""

import numpy as np

from whybox.cause.parts import speaks_of, with_fact
from whybox.cause.trials import Setting, Sham, prompted
from whybox.items.instance import CaseInstance

MOST = 19  # with none of them p = .05
_TRIES = 10 * MOST


def fact_shams(setting: Setting, question: str, fact: str) -> list[Sham]:
    """The fact without its answer as it stands, then its words in other orders. None where no answer can be cut out."""
    case = setting.asked.case
    return [
        Sham(prompted("words of the fact without the answer", with_fact(case, question, text), frozenset({"fact"})))
        for text in unanswered(case, fact)
    ]


def unanswered(case: CaseInstance, fact: str) -> list[str]:
    """Distinct texts of the fact's words without the right answer, at most `MOST`."""
    left = _without_answer(case, fact)
    if not left.strip() or left == fact or speaks_of(case, left, case.right):
        return []
    blank = " " if " " in left.strip() else ""
    words = left.split() if blank else list(left.strip())
    generator = np.random.default_rng(0)
    orders = (blank.join(words[i] for i in generator.permutation(len(words))) for _ in range(_TRIES))
    return list(dict.fromkeys([blank.join(words), *orders]))[:MOST]


def _without_answer(case: CaseInstance, text: str) -> str:
    """Every asserted mention of the right answer cut out."""
    scorer = case.scorer()
    while (found := scorer.score(text)).right and found.span is not None and found.span[0] < found.span[1]:
        text = text[: found.span[0]] + text[found.span[1] :]
    return text
