"""A state's prompt: as it is, and as its changes make it."""

from collections.abc import Iterable, Sequence

from whybox.errors import PromptError
from whybox.jobs.look_views import letters
from whybox.jobs.tokens import shown_tokens
from whybox.model import Model
from whybox.report.document.explore import (
    AnyPrompt,
    ChatPrompt,
    PartDropped,
    PartReworded,
    PartText,
    RawPrompt,
    ReadPrompt,
    ReadSegment,
    ReadToken,
    State,
    TextChange,
)
from whybox.report.visible import visible
from whybox.text import chat
from whybox.text import prompt as prompts
from whybox.text.prompt import Part, Prompt, SegmentKind


def prompt_of(model: Model, asked: AnyPrompt) -> Prompt:
    """The prompt without its changes. PromptError where it is empty, or two parts have one name."""
    match asked:
        case RawPrompt():
            return prompts.from_parts(model.tokenizer, parts_of(asked.parts))
        case ChatPrompt():
            turns = [{"role": turn.role, "parts": parts_of(turn.parts)} for turn in asked.messages]
            return chat.from_messages(model.tokenizer, turns)


def changed_prompt(model: Model, state: State, changes: Iterable[TextChange]) -> Prompt:
    """The prompt with parts left out or reworded. PromptError for a part that it lacks, and where nothing is left."""
    asked = state.prompt
    for change in changes:
        asked = _changed(asked, change)
    return prompt_of(model, asked)


def read_prompt(model: Model, prompt: Prompt) -> ReadPrompt:
    """Tokens and segments as a page shows them."""
    owners = {place: number for number, each in enumerate(prompt.segments) for place in range(each.start, each.end)}
    tokens = tuple(
        ReadToken(**token.model_dump(), shown=visible(token.text) or f"#{token.id}")
        for token in shown_tokens(prompt, owners)
    )
    segments = tuple(
        ReadSegment(
            name=each.name,
            kind=each.kind.value,
            letter=letter,
            start=each.start,
            end=each.end,
            part=each.kind is SegmentKind.PART,
        )
        for each, letter in zip(prompt.segments, letters(prompt.segments), strict=True)
    )
    notes = tuple(str(warning) for warning in prompt.warnings)
    return ReadPrompt(text=prompt.text, tokens=tokens, segments=segments, context=model.spec.context, notes=notes)


def parts_of(parts: Iterable[PartText]) -> list[Part]:
    """A state's parts as prompts are made of."""
    return [Part(part.name, part.text) for part in parts]


def _changed(asked: AnyPrompt, change: TextChange) -> AnyPrompt:
    _require_named(asked, change.segment)
    match asked:
        case RawPrompt():
            return RawPrompt(parts=_with(asked.parts, change))
        case ChatPrompt():
            turns = [turn.model_copy(update={"parts": _with(turn.parts, change)}) for turn in asked.messages]
            return ChatPrompt(messages=tuple(turn for turn in turns if turn.parts))


def _with(parts: Sequence[PartText], change: TextChange) -> tuple[PartText, ...]:
    match change:
        case PartDropped():
            return tuple(part for part in parts if part.name != change.segment)
        case PartReworded():
            new = PartText(name=change.segment, text=change.text)
            return tuple(new if part.name == change.segment else part for part in parts)


def _require_named(asked: AnyPrompt, name: str) -> None:
    held = asked.parts if isinstance(asked, RawPrompt) else [part for turn in asked.messages for part in turn.parts]
    names = [part.name for part in held]
    if name not in names:
        raise PromptError(f"no part {name!r} is left in this prompt; it has {', '.join(names) or 'none'}")
