"""Words beside a question that must not matter: who asks, how to answer, what the garden is like."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from whybox.items.generate import Language, draw_of_length
from whybox.items.generate.names import draw_names
from whybox.items.instance import CaseInstance, Message
from whybox.text.prompt import Part

ASIDE: dict[Language, str] = {"en": "The {word} garden lay still.", "zh": "{word}的花园很安静。"}
ASKER: dict[Language, str] = {"en": "Asked by {name}.", "zh": "提问人：{name}。"}
MANNER: dict[Language, str] = {"en": "Please {verb} briefly.", "zh": "请简短{verb}。"}
WORDS: dict[Language, tuple[str, ...]] = {
    "en": ("quiet", "narrow", "old", "grey", "small", "wide", "long", "soft", "green", "dark"),
    "zh": ("古老", "狭长", "宽阔", "偏远", "明亮", "空旷", "小巧", "凉爽"),
}
VERBS: dict[Language, tuple[str, ...]] = {"en": ("answer", "reply", "respond"), "zh": ("回答", "答复", "作答")}
BEHIND = ("manner",)


@dataclass(frozen=True)
class Carriers:
    """One name, one word, one verb."""

    language: Language
    name: str
    word: str
    verb: str

    @classmethod
    def drawn(cls, generator: np.random.Generator, language: Language) -> "Carriers":
        """Anything, to begin with."""
        (name,) = draw_names(generator, language, 1)
        return cls(language, name, _pick(generator, WORDS[language]), _pick(generator, VERBS[language]))

    def parts(self) -> dict[str, str]:
        """The sentences by the names of their parts."""
        return {
            "aside": ASIDE[self.language].format(word=self.word),
            "asker": ASKER[self.language].format(name=self.name),
            "manner": MANNER[self.language].format(verb=self.verb),
        }


def redrawn(base: Carriers, generator: np.random.Generator, length: Callable[[Carriers], int]) -> dict[str, Carriers]:
    """Per arm the same but for one of them, in a prompt of the same length wherever 200 draws find one."""
    language = base.language

    def name() -> Carriers:
        return replace(base, name=draw_names(generator, language, 1, avoid=[base.name])[0])

    def word() -> Carriers:
        return replace(base, word=_pick(generator, [each for each in WORDS[language] if each != base.word]))

    def verb() -> Carriers:
        return replace(base, verb=_pick(generator, [each for each in VERBS[language] if each != base.verb]))

    wanted = length(base)
    draws: Mapping[str, Callable[[], Carriers]] = {"inv-name": name, "inv-synonym": verb, "inv-word": word}
    return {arm: draw_of_length(draw, length, wanted).value for arm, draw in draws.items()}


def framed(case: CaseInstance, texts: Mapping[str, str], around: str) -> CaseInstance:
    """The case with more parts around one of its own: those named in BEHIND behind it, the others in front."""
    new = [Part(name, text) for name, text in texts.items()]

    def fitted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        at = next((i for i, part in enumerate(parts) if part.name == around), None)
        if at is None:
            return parts
        before = [part for part in new if part.name not in BEHIND]
        behind = [part for part in new if part.name in BEHIND]
        return (*parts[:at], *before, parts[at], *behind, *parts[at + 1 :])

    messages = tuple(Message(message.role, fitted(message.parts)) for message in case.messages)
    return replace(case, messages=messages, raw_parts=fitted(case.raw_parts))


def _pick(generator: np.random.Generator, options: "tuple[str, ...] | list[str]") -> str:
    return options[int(generator.integers(len(options)))]
