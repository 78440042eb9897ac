"""What generated items speak about: attributes with their sentences in both languages. Data, no logic.

A language is never the translation of the other: both are rendered from the same (entity, attribute, value).
"""

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True)
class Phrases:
    """Sentences of one attribute in one language; `{name}` and `{value}` are filled in.

    `topic`: a word of the fact that an answer can do without, for rules that forbid a word.
    """

    fact: str
    question: str
    answer: str
    topic: str = ""


@dataclass(frozen=True)
class Attribute:
    """Something that an entity has in a number of units. `low` … `high`: the values that are drawn."""

    key: str
    entity: str
    low: int
    high: int
    en: Phrases
    zh: Phrases

    def phrases(self, language: Language) -> Phrases:
        return self.en if language == "en" else self.zh


# The word for the kind of an entity; names are only ever written with it.
ENTITY_KINDS: dict[str, dict[Language, str]] = {
    "depot": {"en": "depot", "zh": "仓库"},
    "office": {"en": "office", "zh": "所"},
    "station": {"en": "station", "zh": "站"},
    "device": {"en": "device", "zh": "型"},
}

ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute(
        "parcel-days",
        "depot",
        11,
        98,
        Phrases(
            "The {name} keeps parcels for {value} days.",
            "How many days does the {name} keep parcels?",
            "{value} days",
            "parcel",
        ),
        Phrases("{name}的包裹保留{value}天。", "{name}的包裹保留几天？", "{value}天", "包裹"),
    ),
    Attribute(
        "shelf-metres",
        "depot",
        11,
        98,
        Phrases(
            "The {name} has racks of {value} metres.",
            "How many metres are the racks of the {name}?",
            "{value} metres",
            "rack",
        ),
        Phrases("{name}的货架长{value}米。", "{name}的货架长多少米？", "{value}米", "货架"),
    ),
    Attribute(
        "permit-price",
        "office",
        11,
        98,
        Phrases(
            "The {name} sells permits for {value} dollars.",
            "For how many dollars does the {name} sell permits?",
            "{value} dollars",
            "permit",
        ),
        Phrases("{name}的许可证售价{value}元。", "{name}的许可证售价多少元？", "{value}元", "许可证"),
    ),
    Attribute(
        "reply-hours",
        "office",
        11,
        98,
        Phrases(
            "The {name} replies to letters within {value} hours.",
            "Within how many hours does the {name} reply to letters?",
            "{value} hours",
            "letter",
        ),
        Phrases("{name}在{value}小时内回复来信。", "{name}在多少小时内回复来信？", "{value}小时", "来信"),
    ),
    Attribute(
        "stop-minutes",
        "station",
        11,
        98,
        Phrases(
            "Trains wait at the {name} for {value} minutes.",
            "How many minutes do trains wait at the {name}?",
            "{value} minutes",
            "train",
        ),
        Phrases("列车在{name}停留{value}分钟。", "列车在{name}停留多少分钟？", "{value}分钟", "列车"),
    ),
    Attribute(
        "waiting-seats",
        "station",
        11,
        98,
        Phrases(
            "The hall of the {name} has {value} seats.",
            "How many seats does the hall of the {name} have?",
            "{value} seats",
            "hall",
        ),
        Phrases("{name}的大厅有{value}个座位。", "{name}的大厅有多少个座位？", "{value}个座位", "大厅"),
    ),
    Attribute(
        "battery-hours",
        "device",
        11,
        98,
        Phrases(
            "The battery of the {name} lasts {value} hours.",
            "How many hours does the battery of the {name} last?",
            "{value} hours",
            "battery",
        ),
        Phrases("{name}的电池可用{value}小时。", "{name}的电池可用多少小时？", "{value}小时", "电池"),
    ),
    Attribute(
        "device-weight",
        "device",
        11,
        98,
        Phrases("The {name} weighs {value} grams.", "How many grams does the {name} weigh?", "{value} grams", "weigh"),
        Phrases("{name}重{value}克。", "{name}重多少克？", "{value}克", "重"),
    ),
)

SYSTEM: dict[Language, str] = {
    "en": "Answer from the documents only. If they do not say, say so.",
    "zh": "只根据文档回答。文档没有说明时，就说没有说明。",
}


def attribute(key: str) -> Attribute:
    """The attribute of that key."""
    return next(found for found in ATTRIBUTES if found.key == key)
