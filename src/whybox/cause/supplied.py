"""A fact that was supplied: its own words without the answer, as shams; and whether the prompt had supplied it already.

A prompt that stands near a tie may turn with any sentence added to it. That the fact was missing is shown only where
its words do nothing once the answer is taken out of them, and where no sentence of the prompt, taken out, makes the
given answer another one: what it rests on may be the fact in other words ("within a week").
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from whybox.cause.asking import Write
from whybox.cause.decision import mention
from whybox.cause.parts import speaks_of, with_fact, without
from whybox.cause.trials import Setting, Sham, prompted
from whybox.items.instance import CaseInstance
from whybox.items.question import asks, sentences_of
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.quantities import amounts_in
from whybox.model import Model

Place = tuple[str, int | None]  # a part of a prompt, or one of its sentences, counted from 1
MOST = 19  # with none of them p = .05
MOST_HIDDEN = 12  # sentences, else parts, that are taken out one by one
_TRIES = 10 * MOST


def supplying(case: CaseInstance, question: str) -> Sequence[tuple[Place, CaseInstance]]:
    """The prompt without each sentence that may have supplied the answer, by its place; without each part where
    there are many sentences. What asks stays.
    """
    found = [one for part in case.parts for one in _without_sentences(case, part.name, part.name == question)]
    if len(found) <= MOST_HIDDEN:
        return found
    return [((part.name, None), without(case, [part.name])) for part in case.parts if part.name != question][
        :MOST_HIDDEN
    ]


def _without_sentences(case: CaseInstance, name: str, is_question: bool) -> list[tuple[Place, CaseInstance]]:
    """A question's last sentence asks, whatever it ends with."""
    all_of = sentences_of(case.part(name).text)
    told = all_of[:-1] if is_question else all_of
    if len(all_of) == 1 and told:
        return [((name, None), without(case, [name]))]
    return [
        ((name, number), case.replacing({name: "".join(s for s in all_of if s is not sentence)}))
        for number, sentence in enumerate(told, start=1)
        if sentence.strip() and not asks(sentence)
    ]


async def moves(model: Model, setting: Setting, given: str, case: CaseInstance) -> bool:
    """Whether the answer to another prompt is another one than was given."""
    asked = setting.asked.rendered(model, case)
    written = await Write(asked.prompt.ids, asked.settings, lambda written, _: written)
    return said(setting, model.tokenizer.text(written.ids)) != said(setting, given)


def said(setting: Setting, text: str) -> tuple[object, ...]:
    """What an answer says: the named wrong answer, its quantities, else its words. Empty where it gives none."""
    asked = setting.asked
    if not asked.stand_in and mention(text, asked.wrong) is not None:
        return (asked.wrong,)
    if asked.case.kind == "number":
        amounts: list[tuple[Decimal, str | None]] = [(one.value, one.unit) for one in amounts_in(fold_text(text))]
        return tuple(amounts[:1])
    score = asked.score(text, stopped=True)
    return () if score.outcome == "abstain" else tuple(fold_text(text).split())


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
