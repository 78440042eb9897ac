"""Counterfactual evidence: with another value in it, does the answer move to that value?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from whybox.cause.asking import Write
from whybox.cause.bench import Work
from whybox.cause.claims import Changed
from whybox.cause.decision import mention
from whybox.cause.parts import Roles
from whybox.cause.study import Study
from whybox.cause.trials import Setting
from whybox.items.instance import CaseInstance
from whybox.model import Model

VALUES = 3  # other values that are tried
WORK = Work(writes=VALUES)
_NUMBER = re.compile(r"(?<![\d.])\d+(?![\d.])")


def changed(study: Study) -> list[Changed]:
    """The same prompt with other values in its evidence; empty where none is known."""
    cases = other_values(study.asked.case, study.asked.wrong, study.roles, study.variants)
    return study.bench.results([_changed(study.bench.model, study.decided, case) for case in cases])


async def _changed(model: Model, setting: Setting, case: CaseInstance) -> Changed:
    asked = setting.asked.rendered(model, case)
    written = await Write(asked.prompt.ids, asked.settings, lambda written, _: written)
    text = model.tokenizer.text(written.ids)
    score = asked.score(text, written.stopped)
    return Changed(case.right, text, None if score.undecided else score.right)


def other_values(case: CaseInstance, wrong: str, roles: Roles, variants: Sequence[CaseInstance]) -> list[CaseInstance]:
    """The evidence as in variants with another right answer; without such variants, with another number in it.

    No value that the rest of the prompt holds: an answer that gives it would not tell where it was read.
    """
    beside = [part.text for part in case.parts if part.name not in roles.evidence]
    known = {case.right.casefold(), wrong.casefold()}
    found: list[CaseInstance] = []
    for right, texts in chain(_varied(variants, roles), _counted(case, roles.evidence)):
        if right.casefold() in known or any(mention(text, right) is not None for text in beside):
            continue
        known.add(right.casefold())
        found.append(replace(case.replacing(texts), right=right, got=None))
        if len(found) == VALUES:
            break
    return found


def _varied(variants: Sequence[CaseInstance], roles: Roles) -> Iterator[tuple[str, dict[str, str]]]:
    for variant in variants:
        if variant.evidence == roles.evidence:
            yield variant.right, {name: variant.part(name).text for name in variant.evidence}


def _counted(case: CaseInstance, names: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Numbers of as many digits that stand nowhere in the prompt, in place of the right one."""
    number = _NUMBER.search(case.right)
    if case.kind != "number" or number is None:
        return
    said = number[0]
    texts = {name: case.part(name).text for name in names}
    if not any(said in _NUMBER.findall(text) for text in texts.values()):
        return
    taken = {match for part in case.parts for match in _NUMBER.findall(part.text)}
    as_long = chain(range(int(said) + 1, 10 ** len(said)), range(10 ** (len(said) - 1), int(said)))
    for other in (str(number) for number in as_long if str(number) not in taken):
        yield _put(other, said, case.right), {name: _put(other, said, text) for name, text in texts.items()}


def _put(new: str, old: str, text: str) -> str:
    """A number in place of another, wherever that stands."""
    return _NUMBER.sub(lambda found: new if found[0] == old else found[0], text)
