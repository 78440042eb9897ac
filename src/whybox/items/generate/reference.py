"""The neutral built-in reference set: 32 prompts that stand in where a case has no variants of its own."""

from dataclasses import replace

from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.generate.item import CountTokens, Draw
from whybox.items.generate.kinds import fact_item
from whybox.items.generate.vocabulary import Language
from whybox.items.instance import CaseInstance
from whybox.items.seeds import item_generator
from whybox.text.prompt import Part

REFERENCE_SIZE = 32
REFERENCE_SEED = 20_240_501
REFERENCE_NAME = "built-in reference set (32 neutral prompts)"


def reference_set(
    language: Language, count_tokens: CountTokens, tokens: int = 0, raw: bool = False
) -> tuple[CaseInstance, ...]:
    """32 fact prompts of about `tokens` tokens, always the same; `raw` leaves the chat template out.

    Length is brought near by whole filler sentences in front of the documents, each at most once.
    """
    return tuple(_reference(language, i, count_tokens, tokens, raw) for i in range(REFERENCE_SIZE))


def _reference(language: Language, index: int, count_tokens: CountTokens, tokens: int, raw: bool) -> CaseInstance:
    name = f"reference-{language}-{index}"
    draw = Draw(name, index, language, item_generator(REFERENCE_SEED, "reference", name), count_tokens, 1 + index % 3)
    instance = fact_item(draw).instance
    missing = tokens - sum(count_tokens(part.text) for part in instance.parts)
    preface = _filler_text(draw, missing)
    if raw:
        parts = tuple(part for part in instance.parts if part.name != "policy")
        return replace(instance, messages=(), raw_parts=(*_part(preface), *parts))
    system, user = instance.messages
    return replace(instance, messages=(system, replace(user, parts=(*_part(preface), *user.parts))))


def _part(preface: str) -> tuple[Part, ...]:
    return (Part("preface", preface),) if preface else ()


def _filler_text(draw: Draw, missing: int) -> str:
    """Whole sentences, until another one would lead further away from the wanted length."""
    chosen: list[str] = []
    for sentence in draw_fillers(draw.generator, draw.language):
        length = draw.count_tokens(sentence)
        if missing < length / 2:
            break
        chosen.append(sentence)
        missing -= length
    return joiner(draw.language).join(chosen)
