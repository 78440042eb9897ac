"""Chat messages → prompt, through the model's own template. Content can never make a control token.

The template is rendered twice: with the contents, and with a private mark in place of each. Where both renderings
agree once marks are replaced, the marks say which characters are content, and everything else is the template's own
text: only there are control tokens recognised. A template that rewrites a content otherwise is served as long as that
content spells no control token and is found in one place, and refused when not.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybox.errors import PromptError, WhyboxError
from whybox.text import sandbox
from whybox.text.prompt import (
    JOIN,
    Code,
    Notice,
    Part,
    Prompt,
    SegmentKind,
    Stretch,
    assemble,
    check_names,
    control_warnings,
)
from whybox.text.tokenizer import Tokenizer, whole_characters

_ROLE = re.compile(r"[A-Za-z][\w-]*")
NOT_TYPED = "not typed"
_FEW_WORDS = 3  # from here on a run of template text is a sentence that nobody typed, below it is scaffold


@dataclass(frozen=True)
class Message:
    """One turn: `join` stands between its parts exactly as written."""

    role: str
    parts: tuple[Part, ...]
    join: str

    @property
    def content(self) -> str:
        return self.join.join(part.text for part in self.parts)


@dataclass(frozen=True)
class _Content:
    """Characters start … end of the rendering that hold a message's content without its first `cut` characters."""

    message: int
    start: int
    end: int
    cut: int


def from_messages(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    join: str = "\n",
    add_generation_prompt: bool = True,
) -> Prompt:
    """The prompt of a conversation: `{role, content}` or `{role, parts: [{name, text}]}` per message.

    BOS stands where the template writes it and nowhere else. Raises PromptError for messages that the template refuses,
    and for a model without a template; UnsupportedError for a template that is broken or not safe.
    """
    template = tokenizer.chat_template
    if template is None:
        raise PromptError(
            "this model has no chat template",
            "use raw text (--raw, or a plain string); in a case file, `text:` in place of `prompt:`",
        )
    turns = _turns(messages, join)
    plain, contents, dated = _rendered(tokenizer, template, turns, add_generation_prompt)
    stretches = list(_stretches(tokenizer, plain, turns, contents))
    pieces = tokenizer.pieces(plain, list(_gaps(contents, len(plain))))
    warnings = [
        *control_warnings(tokenizer, plain, stretches),
        *_not_typed(plain, stretches),
        *_about_date(dated),
        *_about_bos(tokenizer, pieces[0].id if pieces else None),
    ]
    return assemble(tokenizer, plain.encode(), pieces, stretches, warnings)


def _turns(messages: Sequence[Mapping[str, Any]], join: str) -> list[Message]:
    if not messages:
        raise PromptError("the conversation has no messages", "give at least one {role, content}")
    roles = [message.get("role") for message in messages]
    turns = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if not isinstance(role, str) or not _ROLE.fullmatch(role):
            raise PromptError(
                f"message {number}: role must be a word, found {role!r}", "for example system, user, assistant"
            )
        again = roles[:number].count(role)
        turns.append(Message(role, tuple(_parts(message, number, role if again == 0 else f"{role} {again + 1}")), join))
    check_names(part.name for turn in turns for part in turn.parts)
    return turns


def _parts(message: Mapping[str, Any], number: int, name: str) -> Iterator[Part]:
    match message:
        case {"content": str(text)}:
            yield Part(name, text)
        case {"parts": [*parts]} if parts:
            for part in parts:
                match part:
                    case Part():
                        yield part
                    case {"name": str(title), "text": str(text)}:
                        yield Part(title, text)
                    case _:
                        raise PromptError(f"message {number}: a part is {{name, text}}, found {part!r}")
        case _:
            raise PromptError(f"message {number}: expected content (a text) or parts, found {sorted(message)}")


def _rendered(
    tokenizer: Tokenizer, template: str, turns: Sequence[Message], answer: bool
) -> tuple[str, list[_Content], bool]:
    """The plain rendering, where its contents lie, and whether the template wrote a date."""
    texts = [turn.content for turn in turns]
    for text in texts:
        whole_characters(text)
    plain, dated = _render(tokenizer, template, turns, texts, answer)
    whole_characters(plain)
    marks = _marks(texts)

    def marked(given: Sequence[str]) -> str:
        try:
            return _render(tokenizer, template, turns, given, answer)[0]
        except WhyboxError:  # a template that reads its contents may take the real ones and not the marks
            return ""

    contents = _aligned(plain, marked(marks), marks, texts)
    if contents is None:
        contents = list(_one_by_one(tokenizer, plain, turns, marks, marked))
    return plain, contents, dated


def _render(
    tokenizer: Tokenizer, template: str, turns: Sequence[Message], texts: Sequence[str], answer: bool
) -> tuple[str, bool]:
    messages = [{"role": turn.role, "content": text} for turn, text in zip(turns, texts, strict=True)]
    names = tokenizer.blueprint.names
    given = {**names, "messages": messages, "add_generation_prompt": answer, "tools": None, "documents": None}
    return sandbox.render(template, given)


def _marks(texts: Sequence[str]) -> list[str]:
    """One private mark per content, such as no content holds."""
    everything, salt = "".join(texts), 0
    while f"\U000f0001{salt}." in everything:
        salt += 1
    return [f"\U000f0001{salt}.{number}\U000f0002" for number in range(len(texts))]


def _aligned(plain: str, marked: str, marks: Sequence[str], texts: Sequence[str]) -> list[_Content] | None:
    """Contents in the plain rendering, found by walking along the marked one; None where the two do not agree.

    A template may strip a content's outer blanks; whatever else it does to it, the walk does not follow.
    """
    fields = re.split("(" + "|".join(map(re.escape, marks)) + ")", marked)
    number_of = {mark: number for number, mark in enumerate(marks)}
    found, place = [], len(fields[0])
    if not plain.startswith(fields[0]):
        return None
    for mark, after in zip(fields[1::2], fields[2::2], strict=True):
        number = number_of[mark]
        shown = next((form for form in _forms(texts[number]) if plain.startswith(form + after, place)), None)
        if shown is None:
            return None
        found.append(_Content(number, place, place + len(shown), texts[number].find(shown)))
        place += len(shown) + len(after)
    return found if place == len(plain) else None


def _forms(text: str) -> list[str]:
    return [text, text.rstrip(), text.lstrip(), text.strip()]


def _one_by_one(
    tokenizer: Tokenizer, plain: str, turns: Sequence[Message], marks: Sequence[str], marked: Callable[[list[str]], str]
) -> Iterator[_Content]:
    """Contents found by marking one message at a time; a rewritten one is looked up, if that is safe."""
    texts, place = [turn.content for turn in turns], 0
    for number, (text, mark) in enumerate(zip(texts, marks, strict=True)):
        before, _, after = marked([*texts[:number], mark, *texts[number + 1 :]]).partition(mark)
        shown = plain[len(before) : len(plain) - len(after)]
        if plain == before + shown + after and shown in _forms(text) and len(before) >= place:
            start = len(before)
        else:
            shown = text.strip()
            start = _looked_up(tokenizer, plain, shown, place)
        if start < 0:
            raise PromptError(
                f"the chat template rewrites message {number} ({turns[number].role}): its text cannot be told apart",
                "use raw text, or take control-token text out of the message",
            )
        yield _Content(number, start, start + len(shown), max(text.find(shown), 0))
        place = start + len(shown)


def _looked_up(tokenizer: Tokenizer, plain: str, text: str, place: int) -> int:
    """Where a text stands after `place`: −1 if nowhere, in several places, or not safe to look up."""
    unsafe = tokenizer.control_text(text) or plain.count(text, place) != 1
    return -1 if unsafe else plain.find(text, place)


def _gaps(contents: Sequence[_Content], length: int) -> Iterator[tuple[int, int]]:
    """The trusted ranges: everything between contents."""
    place = 0
    for content in contents:
        yield place, content.start
        place = content.end
    yield place, length


def _stretches(
    tokenizer: Tokenizer, plain: str, turns: Sequence[Message], contents: Sequence[_Content]
) -> Iterator[Stretch]:
    """Contents by named part, template text between them; sentences that nobody typed stand apart.

    A content that the template writes a second time is untrusted text of the template, its parts are where it is first.
    """
    place, seen, number, own = 0, set[int](), 0, 0
    for content in [*contents, None]:
        end = len(plain) if content is None else content.start
        for stretch in _template_text(tokenizer, plain, place, end):
            number += 1
            own += stretch.name == NOT_TYPED
            name = f"{stretch.name} {number}"
            if stretch.name == NOT_TYPED:
                name = NOT_TYPED if own == 1 else f"{NOT_TYPED} {own}"
            yield Stretch(name, stretch.kind, stretch.role, stretch.start, stretch.end)
        if content is None:
            return
        place = content.end
        if content.message in seen:
            number += 1
            yield Stretch(
                f"repeated {number}", SegmentKind.TEMPLATE, turns[content.message].role, content.start, content.end
            )
        else:
            seen.add(content.message)
            yield from _part_stretches(turns[content.message], content)


def _part_stretches(turn: Message, content: _Content) -> Iterator[Stretch]:
    place = content.start - content.cut
    for number, part in enumerate(turn.parts):
        if number and turn.join:
            name = f"{JOIN}before {part.name}"
            yield _clipped(Stretch(name, SegmentKind.TEMPLATE, turn.role, place, place + len(turn.join)), content)
            place += len(turn.join)
        yield _clipped(Stretch(part.name, SegmentKind.PART, turn.role, place, place + len(part.text)), content)
        place += len(part.text)


def _clipped(stretch: Stretch, content: _Content) -> Stretch:
    start, end = (min(max(place, content.start), content.end) for place in (stretch.start, stretch.end))
    return Stretch(stretch.name, stretch.kind, stretch.role, start, end)


def _template_text(tokenizer: Tokenizer, plain: str, start: int, end: int) -> Iterator[Stretch]:
    """Template text cut at its sentences: `<|im_start|>system⏎ | You are a helpful … | <|im_end|>⏎`."""
    place = start
    for first, last in _between_controls(tokenizer, plain, start, end):
        header = re.match(r"\s*(?:(system|user|assistant|developer|model|tool)\b[^\S\n]*)?\s*", plain[first:last])
        assert header is not None
        begin = first + header.end()
        if len(plain[begin:last].split()) < _FEW_WORDS:
            continue
        stop = begin + len(plain[begin:last].rstrip())
        if place < begin:
            yield Stretch("template", SegmentKind.TEMPLATE, None, place, begin)
        yield Stretch(NOT_TYPED, SegmentKind.TEMPLATE, header[1], begin, stop)
        place = stop
    if place < end:
        yield Stretch("template", SegmentKind.TEMPLATE, None, place, end)


def _between_controls(tokenizer: Tokenizer, plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for match in tokenizer.control_text(plain[start:end]):
        yield place, start + match.start
        place = start + match.end
    yield place, end


def _not_typed(plain: str, stretches: Sequence[Stretch]) -> Iterator[Notice]:
    for stretch in stretches:
        if stretch.kind is SegmentKind.TEMPLATE and stretch.name.startswith("not typed"):
            span = (stretch.start, stretch.end)
            yield Notice(Code.NOT_TYPED, f"not typed by the user, added by the template: {plain[slice(*span)]!r}", span)


def _about_date(dated: bool) -> Iterator[Notice]:
    if dated:
        message = f"the template writes today's date; it is given {sandbox.TODAY:%d %B %Y} on every day"
        yield Notice(Code.FROZEN_DATE, message)


def _about_bos(tokenizer: Tokenizer, first: int | None) -> Iterator[Notice]:
    if tokenizer.add_bos and first != tokenizer.bos:
        yield Notice(Code.BOS, "the template writes no BOS, although raw text gets one; none was added")
