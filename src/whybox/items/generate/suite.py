"""Items by the suite: each from a generator of its own, kinds as data."""

from collections.abc import Callable
from dataclasses import replace

from whybox.errors import UsageError
from whybox.items.generate.claims import claim_item, pair_index
from whybox.items.generate.common import common_facts, common_item
from whybox.items.generate.item import CountTokens, Draw, Item, ItemKind
from whybox.items.generate.kinds import LABELS, boundary_item, choice_item, fact_item, keyvalue_item, rule_item
from whybox.items.generate.vocabulary import Language
from whybox.items.seeds import item_generator

KINDS: dict[str, Callable[[Draw], Item]] = {
    "fact": fact_item,
    "keyvalue": keyvalue_item,
    "choice": choice_item,
    "claim": claim_item,
    "rule": rule_item,
    "boundary": boundary_item,
    "common": common_item,
}
MOST_FACTS = 24


def generate(
    kind: ItemKind, language: Language, count: int, seed: int, count_tokens: CountTokens, size: int = 4
) -> tuple[Item, ...]:
    """`count` items of `size` documents each, the same for the same seed whatever else is generated.

    count_tokens: tokens of a text, so that the documents of one item are equally long. UsageError when more than 300
    `common` items, or more than 24 documents (8 where each is an option), are asked for.
    """
    if kind not in KINDS:
        raise UsageError(f"kind: expected one of {', '.join(KINDS)}, found {kind}", "dated facts come from a file")
    most = len(LABELS) if kind == "choice" else MOST_FACTS
    if not 1 <= size <= most:
        raise UsageError(f"size: expected 1 to {most} documents, found {size}")
    if kind == "common" and count > len(common_facts()):
        raise UsageError(f"count: expected at most {len(common_facts())} common items, found {count}")
    order = item_generator(seed, kind, f"{language}/order").permutation(len(common_facts()))
    return tuple(
        _item(kind, language, int(order[i]) if kind == "common" else i, seed, count_tokens, size) for i in range(count)
    )


def _item(kind: ItemKind, language: Language, index: int, seed: int, count_tokens: CountTokens, size: int) -> Item:
    name = f"{kind}-{language}-{index}"
    # Mirrors share every draw; only the claims move.
    drawn_from = f"{kind}-{language}-pair{pair_index(index)}" if kind == "claim" else name
    draw = Draw(name, index, language, item_generator(seed, kind, drawn_from), count_tokens, size)
    return KINDS[kind](draw)


def two_document_items(language: Language, count: int, seed: int, count_tokens: CountTokens) -> tuple[Item, ...]:
    """Claims of two offices: the smallest case of documents mixed up."""
    items = generate("claim", language, count, seed, count_tokens, size=2)
    return tuple(replace(item, id=f"two-{item.id}") for item in items)
