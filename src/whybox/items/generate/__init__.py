"""Seeded items in English and Chinese from the same abstract facts: no external data, no network, no translation."""

from whybox.items.generate.canary import Canary, canary_pair
from whybox.items.generate.common import CommonFact, common_facts
from whybox.items.generate.dated import DatedFact, dated_item, read_dated
from whybox.items.generate.item import CountTokens, Fact, Item, ItemKind
from whybox.items.generate.placement import (
    CHARACTERS_ONLY,
    Encoded,
    Placement,
    encode_characters,
    place,
    place_in_text,
    sentences,
)
from whybox.items.generate.reference import REFERENCE_NAME, reference_set
from whybox.items.generate.releases import RELEASES, releases
from whybox.items.generate.same_length import LENGTH_DIFFERS, Matched, draw_of_length
from whybox.items.generate.suite import generate, two_document_items
from whybox.items.generate.vocabulary import LANGUAGES, Language

__all__ = [
    "CHARACTERS_ONLY",
    "LANGUAGES",
    "LENGTH_DIFFERS",
    "REFERENCE_NAME",
    "RELEASES",
    "Canary",
    "CommonFact",
    "CountTokens",
    "DatedFact",
    "Encoded",
    "Fact",
    "Item",
    "ItemKind",
    "Language",
    "Matched",
    "Placement",
    "canary_pair",
    "common_facts",
    "dated_item",
    "draw_of_length",
    "encode_characters",
    "generate",
    "place",
    "place_in_text",
    "read_dated",
    "reference_set",
    "releases",
    "sentences",
    "two_document_items",
]
