"""The reference set of looking: 200 ordinary prompts that a model answers rightly, half English, half Chinese.

Items of our generators (facts in one to three documents, and common facts without any) in a fixed order; kept are those
whose right answer the model finds likelier than the wrong one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from whybox.items.generate import LANGUAGES, CountTokens, Item, Language, generate
from whybox.items.instance import CaseInstance
from whybox.measure.diagnosis import CODES, diagnose, evidence_lift
from whybox.measure.heads import heads_of
from whybox.measure.looking import look_at
from whybox.measure.probe import Probed
from whybox.measure.subject import of_run
from whybox.measure.thresholds import UNSEEN
from whybox.model import Model

PER_LANGUAGE = 100
SEED = 20_260_301
POOL = 80  # items of each kind and language that are drawn at most


@dataclass(frozen=True)
class Count:
    """fired: code → on how many of the n prompts; tried: items drawn until there were so many."""

    n: int
    tried: int
    fired: dict[str, int]


Judge = Callable[[Item], set[str] | None]
"""An item → the codes that fire on it; None where the model does not answer it."""


def count(judge: Judge, count_tokens: CountTokens, tell: Callable[[int], None], per_language: int) -> Count:
    """Every prompt of the set, judged until there are so many answered ones in each language. tell: prompts done."""
    fired: Counter[str] = Counter()
    tried = done = 0
    for language in LANGUAGES:
        kept = 0
        for item in pool(language, count_tokens):
            if kept == per_language:
                break
            tried += 1
            codes = judge(item)
            if codes is None:
                continue
            kept += 1
            done += 1
            fired.update(codes)
            tell(done)
    return Count(done, tried, {code: fired[code] for code in CODES})


def judged_by(model: Model, probed: Probed | str) -> Judge:
    """A model that looks at what it answers.

    UNSEEN and SEEN_WRONG speak of wrong answers; here they count what the evidence's lift alone would say.
    """
    return lambda item: _codes(model, item, probed) if answered(model, item) else None


def pool(language: Language, count_tokens: CountTokens) -> Iterator[Item]:
    """Items one after another: facts with one, two and three documents, and one without, in turn."""
    sized = [generate("fact", language, POOL, SEED + size, count_tokens, size) for size in (1, 2, 3)]
    bare = generate("common", language, POOL, SEED, count_tokens)
    for each in zip(*sized, bare, strict=True):
        yield from each


def asked(model: Model, item: Item) -> CaseInstance:
    """The item as this model is asked: through its template, else its documents and the question as raw text."""
    case = item.instance
    if model.tokenizer.chat_template is not None:
        return case
    return replace(case, messages=(), raw_parts=tuple(part for part in case.parts if part.name != "policy"))


def answered(model: Model, item: Item) -> bool:
    """Whether the right answer is likelier than the wrong one, or than every other where none is named."""
    prompt, case = model.prompt(asked(model, item)), item.instance
    space = "" if model.tokenizer.chat_template is not None or item.language == "zh" else " "
    others = [case.wrong] if case.wrong else list(item.others)
    right = model.score(prompt, space + case.right).log_prob
    return all(right > model.score(prompt, space + other).log_prob for other in others)


def _codes(model: Model, item: Item, probed: Probed | str) -> set[str]:
    looked = look_at(model, model.prompt(asked(model, item)))
    subject = of_run(looked, heads_of(looked, probed), item.instance.evidence)
    codes = {found.code for found in diagnose(subject)}
    lift = evidence_lift(subject)
    return codes if lift is None else codes | {"UNSEEN" if lift < UNSEEN else "SEEN_WRONG"}
