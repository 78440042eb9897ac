"""What a failing case becomes, one change at a time. Each is one of the steps by which a cause is known, or a sham."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from whybox.items.generate import Item
from whybox.items.generate.fillers import draw_fillers
from whybox.items.generate.names import draw_names, with_kind
from whybox.items.generate.vocabulary import ENTITY_KINDS, attribute
from whybox.items.instance import CaseInstance, Message
from whybox.items.lenient import bare_value
from whybox.items.seeds import item_generator
from whybox.probes.changed import with_new_value
from whybox.probes.design import Ground
from whybox.probes.edit_carriers import framed
from whybox.probes.failure_reading import (
    ALONE,
    CHANGED,
    CLOSED,
    FACT,
    ORDER,
    PINNED,
    PREFIX,
    REMOVED,
    RENAMED,
    SHAM,
)
from whybox.probes.knowledge_conflict import STATEMENT
from whybox.statistics.designs import orders

SHAMS = 5
MOST_ORDERS = 4
ENTITY = "entity"


def steps(item: Item, parts: Sequence[str] | None, ground: Ground) -> Iterator[tuple[str, Item]]:
    """By arm, the item after each step that it allows. parts: its passages, where they were named."""
    case, generator = item.instance, item_generator(ground.seed, "failure", item.id)
    if case.contract_prefix is not None:
        yield PREFIX, item
    if [message.role for message in case.messages[:2]] == ["system", "user"]:
        yield PINNED, replace(item, instance=_pinned(case))
    passages = _passages(case, parts)
    if case.evidence:
        yield from _around(item, passages, generator, ground)
    else:
        yield FACT, replace(item, instance=_told(item))
    yield from _shams(item, passages, generator)


def _around(
    item: Item, passages: Sequence[str], generator: np.random.Generator, ground: Ground
) -> Iterator[tuple[str, Item]]:
    """The steps that move, remove or change the evidence and what stands beside it."""
    case = item.instance
    rest = [part.name for part in case.parts if part.name not in passages]
    yield ALONE, replace(item, instance=case.keeping([*rest, *case.evidence]))
    for arranged in _orders(passages, case.evidence[0]):
        places = "-".join(str(passages.index(part) + 1) for part in arranged)
        yield f"{ORDER}{places}", replace(item, instance=case.reordered(arranged))
    without = [part.name for part in case.parts if part.name not in case.evidence]
    if without:
        yield REMOVED, replace(item, instance=case.keeping(without))
    if rest:
        yield CLOSED, replace(item, instance=case.keeping(rest))
    if (changed := _changed(item, generator, ground)) is not None:
        yield CHANGED, changed
    if (renamed := _renamed(item, generator)) is not None:
        yield RENAMED, renamed


def _passages(case: CaseInstance, parts: Sequence[str] | None) -> list[str]:
    """Those that were named; else the parts of the evidence's message, but for the last, which asks."""
    if parts is not None:
        return [case.part(name).name for name in parts]
    if not case.evidence:
        return []
    groups = [message.parts for message in case.messages] or [case.raw_parts]
    home = next(group for group in groups if any(part.name == case.evidence[0] for part in group))
    names = [part.name for part in home]
    return [name for name in names if name != names[-1] or name in case.evidence]


def _orders(passages: Sequence[str], gold: str) -> Iterator[list[str]]:
    """Of a balanced square, one order for every other place of the evidence."""
    if len(passages) < 2 or gold not in passages:
        return
    arranged = [[passages[unit] for unit in order] for order in orders(len(passages)).tolist()]
    elsewhere = {order.index(gold): order for order in reversed(arranged) if order.index(gold) != passages.index(gold)}
    yield from islice((elsewhere[place] for place in sorted(elsewhere)), MOST_ORDERS)


def _pinned(case: CaseInstance) -> CaseInstance:
    """The system text in front of the first user message, as its first part."""
    system, first, *others = case.messages
    return replace(case, messages=(Message(first.role, (*system.parts, *first.parts)), *others))


def _told(item: Item) -> CaseInstance:
    """A sentence that states the answer, in front of the question."""
    case = item.instance
    last = (case.messages[-1].parts if case.messages else case.raw_parts)[-1]
    text = STATEMENT[item.language].format(question=last.text, answer=case.right)
    return framed(case, {"fact": text}, last.name)


def _changed(item: Item, generator: np.random.Generator, ground: Ground) -> Item | None:
    """Another value in the evidence, which is right then; of the user's own cases, the wrong one in its place."""
    if item.facts and item.asked is not None:
        return with_new_value(item, generator, ground.length).item
    case = item.instance
    text = case.part(case.evidence[0]).text
    if case.wrong is None or bare_value(case.right) not in text:
        return None
    old, new = bare_value(case.right), bare_value(case.wrong)
    turned = replace(case.replacing({case.evidence[0]: text.replace(old, new)}), right=case.wrong, wrong=case.right)
    return replace(item, instance=turned, scorer=turned.scorer(), others=(case.right,))


def _renamed(item: Item, generator: np.random.Generator) -> Item | None:
    """The entity under a name that nobody knows, wherever it stands."""
    if item.facts and item.asked is not None:
        asked = item.facts[item.asked]
        kind, known = attribute(asked.attribute).entity, [fact.name for fact in item.facts]
        new = with_kind(draw_names(generator, item.language, 1, avoid=known)[0], kind, item.language)
        old = asked.name
    else:
        old = dict(item.instance.values).get(ENTITY, "")
        drawn, kind = draw_names(generator, item.language, 1, avoid=[old] if old else [])[0], _kind_word(old, item)
        new = drawn + kind
    if not old:
        return None
    texts = {part.name: part.text.replace(old, new) for part in item.instance.parts if old in part.text}
    return replace(item, instance=item.instance.replacing(texts)) if texts else None


def _kind_word(name: str, item: Item) -> str:
    """What a name ends with that says what it names: ` depot`, 仓库."""
    space = " " if item.language == "en" else ""
    kinds = [space + kind[item.language] for kind in ENTITY_KINDS.values()]
    return next((kind for kind in kinds if name.endswith(kind)), "")


def _shams(item: Item, passages: Sequence[str], generator: np.random.Generator) -> Iterator[tuple[str, Item]]:
    """Neutral sentences of about the size of a passage, one at a time, in front of passages and question in turns."""
    case = item.instance
    asks = (case.messages[-1].parts if case.messages else case.raw_parts)[-1].name
    anchors = [*(name for name in passages if name not in case.evidence), asks]
    for i, sentence in enumerate(islice(draw_fillers(generator, item.language), SHAMS)):
        yield f"{SHAM}{i + 1}", replace(item, instance=framed(case, {"sham": sentence}, anchors[i % len(anchors)]))
