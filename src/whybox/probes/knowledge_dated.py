"""Dated facts as questions, and controls that nobody can know: the guess rate."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whybox.errors import UsageError
from whybox.items.generate import Item, Language
from whybox.items.instance import Message
from whybox.items.scoring import choice_scorer
from whybox.items.seeds import item_generator
from whybox.statistics.behaviour.cutoff import CONTROLS
from whybox.text.prompt import Part

DATED, CONTROL = "dated", "control"
OPTIONS = "ABCD"
ASK: dict[Language, str] = {"en": "Answer with the letter.", "zh": "请只回答字母。"}


def dated_arms(
    facts: Sequence[Item], released: str | None, seed: int, language: Language
) -> Iterator[tuple[str, Item]]:
    """Every fact; as controls those dated after the target's release, and, where these are too few, choices without
    the right option, one of the others scored at random. UsageError for a set without dates.
    """
    if undated := [fact.id for fact in facts if fact.kind != "dated"]:
        raise UsageError(f"knowledge: {undated[0]} has no month", "dated facts: month, question, right, wrong, source")
    later = [fact for fact in facts if released is not None and fact.variant > released]
    earlier = [fact for fact in facts if fact not in later]
    for fact in earlier:
        yield DATED, _asked(fact, [fact.instance.right, *fact.others[:3]], seed, language)
    for fact in later:
        yield CONTROL, _asked(fact, [fact.instance.right, *fact.others[:3]], seed, language)
    for fact in [each for each in earlier if len(each.others) >= len(OPTIONS)][: max(0, CONTROLS - len(later))]:
        asked = _asked(fact, fact.others[: len(OPTIONS)], seed, language)
        name = f"{fact.id}-control"
        case = replace(asked.instance, id=name, case_id=name)
        yield CONTROL, replace(asked, id=name, instance=case, variant=CONTROL)


def _asked(fact: Item, answers: Sequence[str], seed: int, language: Language) -> Item:
    """A choice where there are four answers, the first one right; otherwise the open question."""
    if len(answers) < len(OPTIONS):
        return fact
    order = item_generator(seed, "dated", f"{fact.id}/{answers[0]}").permutation(len(OPTIONS))
    contents = {label: answers[i] for label, i in zip(OPTIONS, order, strict=True)}
    right = OPTIONS[list(order).index(0)]
    options = "\n".join(f"{label}) {content}" for label, content in contents.items())
    text = f"{fact.instance.part('question').text}\n{options}\n{ASK[language]}"
    user = Message("user", (Part("question", text),))
    wrong = next(label for label in OPTIONS if label != right)
    case = replace(fact.instance, messages=(user,), right=right, wrong=wrong, kind="choice")
    scorer = choice_scorer(right, tuple(contents), contents)
    return replace(fact, instance=replace(case, options=tuple(contents.items())), scorer=scorer)
