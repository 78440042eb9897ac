"""Words beside a question that must not matter: who asks, how to answer, what the day is like."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from whybox.items.generate import Language, draw_of_length
from whybox.items.generate.names import draw_names
from whybox.items.instance import CaseInstance, Message
from whybox.text.prompt import Part

ASKER: dict[Language, str] = {"en": "Asked by {name}.", "zh": "提问人：{name}。"}
MANNER: dict[Language, str] = {"en": "Please {verb} on this {word} day.", "zh": "请在{word}的今天{verb}。"}
WORDS: dict[Language, tuple[str, ...]] = {
    "en": ("quiet", "calm", "bright", "grey", "warm", "cold", "long", "soft", "green", "dark"),
    "zh": ("平静", "安静", "明亮", "晴朗", "温暖", "凉爽", "普通", "漫长"),
}
VERBS: dict[Language, tuple[str, ...]] = {
    "en": ("answer", "reply", "respond"),
    "zh": ("回答", "答复", "作答", "回复", "解答"),
}


@dataclass(frozen=True)
class Carriers:
    """One name, one word, one verb."""

    language: Language
    name: str
    word: str
    verb: str

    def parts(self) -> dict[str, str]:
        """The sentences by the names of their parts."""
        return {
            "asker": ASKER[self.language].format(name=self.name),
            "manner": MANNER[self.language].format(verb=self.verb, word=self.word),
        }


def drawn(
    generator: np.random.Generator, language: Language, count: Callable[[str], int]
) -> tuple[Carriers, dict[str, Carriers]]:
    """Some, and per arm the same but for one of them, in a sentence of the same length wherever there is one."""

    def length(carriers: Carriers) -> int:
        return sum(map(count, carriers.parts().values()))

    def name() -> Carriers:
        return replace(base, name=draw_names(generator, language, 1, avoid=[base.name])[0])

    (first,) = draw_names(generator, language, 1)
    plain = Carriers(language, first, WORDS[language][0], VERBS[language][0])
    word = _pair(generator, WORDS[language], lambda each: length(replace(plain, word=each)))
    verb = _pair(generator, VERBS[language], lambda each: length(replace(plain, verb=each)))
    base = replace(plain, word=word[0], verb=verb[0])
    others = {
        "inv-name": draw_of_length(name, length, length(base)).value,
        "inv-synonym": replace(base, verb=verb[1]),
        "inv-word": replace(base, word=word[1]),
    }
    return base, others


def _pair(generator: np.random.Generator, options: Sequence[str], length: Callable[[str], int]) -> tuple[str, str]:
    """Two of the same length, where there are two; else any two."""
    mixed = [options[i] for i in generator.permutation(len(options))]
    lengths = {each: length(each) for each in mixed}
    return next((pair for pair in combinations(mixed, 2) if lengths[pair[0]] == lengths[pair[1]]), (mixed[0], mixed[1]))


def behind(language: Language, edited: Literal["question", "value"]) -> tuple[str, ...]:
    """Which sentences stand behind the edited one, the others in front: so that all edits lie near one another.

    A value ends its sentence, a name stands in the middle of an English question and at the start of a Chinese one.
    """
    if edited == "value":
        return "manner", "asker"
    return ("manner",) if language == "en" else ()


def framed(case: CaseInstance, texts: Mapping[str, str], around: str, after: Sequence[str] = ()) -> CaseInstance:
    """The case with more parts around one of its own: those named in `after` behind it, the others in front."""
    front = tuple(Part(name, text) for name, text in texts.items() if name not in after)
    back = tuple(Part(name, texts[name]) for name in after)

    def fitted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        at = next((i for i, part in enumerate(parts) if part.name == around), None)
        if at is None:
            return parts
        return (*parts[:at], *front, parts[at], *back, *parts[at + 1 :])

    messages = tuple(Message(message.role, fitted(message.parts)) for message in case.messages)
    return replace(case, messages=messages, raw_parts=fitted(case.raw_parts))
