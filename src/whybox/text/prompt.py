"""A prompt as the model gets it: ids, the bytes of each, and named segments that share out the tokens."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from html import escape
from itertools import pairwise

from whybox.errors import PromptError
from whybox.text.codec import Piece
from whybox.text.tokenizer import Tokenizer, whole_characters
from whybox.text.view import Range, View, readable, view

JOIN = "join "  # how the names of what is written between the parts of a text begin
MOST_SHOWN = 256  # tokens that a notebook shows of a prompt


class SegmentKind(StrEnum):
    BOS = "bos"
    TEMPLATE = "template"
    PART = "part"
    GENERATED = "generated"


class Code(StrEnum):
    """What a warning is about."""

    STRADDLE = "straddle"
    NO_TOKENS = "no-tokens"
    CONTROL_TEXT = "control-text"
    NOT_TYPED = "not-typed"
    FROZEN_DATE = "frozen-date"
    BOS = "bos"


@dataclass(frozen=True)
class Notice:
    """span: the characters of the prompt's text that it speaks of."""

    code: Code
    message: str
    span: Range | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Token:
    """One id. place: its bytes in `Prompt.data`; span: the characters that they touch; both empty for an added BOS.

    part, of: of the first character that is cut across tokens, this token holds part k of n; 1 of 1 if none is cut.
    """

    id: int
    bytes: bytes
    control: bool
    place: Range
    span: Range
    text: str
    part: int = 1
    of: int = 1

    @property
    def label(self) -> str:
        """The token for display: `⏎` for a line break, `天 1/2` for the first half of a character."""
        shown = readable(self.text) or f"#{self.id}"
        return shown if self.of == 1 else f"{shown} {self.part}/{self.of}"


@dataclass(frozen=True)
class Segment:
    """Tokens start … end under one name. A named part owns the tokens whose first byte lies in it."""

    name: str
    kind: SegmentKind
    role: str | None
    start: int
    end: int


@dataclass(frozen=True)
class Part:
    """A named piece of content, untrusted: it never makes a control token."""

    name: str
    text: str


@dataclass(frozen=True)
class Stretch:
    """Characters start … end of a prompt's text and the segment that they will be."""

    name: str
    kind: SegmentKind
    role: str | None
    start: int
    end: int


@dataclass(frozen=True)
class Prompt:
    """ids and bytes are the truth; text is a view of them (`\\xF0` for a byte that belongs to no character)."""

    ids: tuple[int, ...]
    tokens: tuple[Token, ...]
    segments: tuple[Segment, ...]
    text: str
    data: bytes
    warnings: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def _repr_html_(self) -> str:
        """In a notebook: the tokens of each segment, ids at the pointer."""
        shown = [each for each in self.segments if each.start < MOST_SHOWN]
        rows = "".join(f"<tr><th>{escape(each.name)}</th><td>{self._chips(each)}</td></tr>" for each in shown)
        left_out = max(0, len(self) - MOST_SHOWN)
        foot = f"<p>{left_out} more tokens: <code>.tokens</code> has them all</p>" if left_out else ""
        return f"<table><tbody>{rows}</tbody></table>{foot}"

    def _chips(self, segment: Segment) -> str:
        tokens = self.tokens[segment.start : min(segment.end, MOST_SHOWN)]
        return " ".join(f'<code title="id {token.id}">{escape(token.label)}</code>' for token in tokens)

    def segment(self, name: str) -> Segment:
        """The segment of that name. PromptError lists the names that exist."""
        for segment in self.segments:
            if segment.name == name:
                return segment
        raise PromptError(f"no segment {name!r}; this prompt has {', '.join(s.name for s in self.segments)}")

    def segment_of(self, token: int) -> Segment:
        """The one segment that owns a token."""
        if not 0 <= token < len(self):
            raise PromptError(f"no token {token}; this prompt has {len(self)}")
        return next(segment for segment in self.segments if segment.start <= token < segment.end)

    def tokens_of_character(self, character: int) -> tuple[int, ...]:
        """Tokens that hold a part of one character of the text; a sum over the character adds them all."""
        first = bisect_right(self.tokens, character, key=lambda token: token.span[1])
        return tuple(range(first, bisect_right(self.tokens, character, key=lambda token: token.span[0])))


def from_text(tokenizer: Tokenizer, text: str) -> Prompt:
    """Raw text without template, BOS first where the tokenizer adds one."""
    return from_parts(tokenizer, [Part("prompt", text)])


def from_parts(tokenizer: Tokenizer, parts: Sequence[Part], join: str = "\n") -> Prompt:
    """Raw text made of named parts with `join` between them, encoded as one text."""
    check_names(part.name for part in parts)
    text = join.join(part.text for part in parts)
    whole_characters(text)
    if not text:
        raise PromptError("the prompt is empty", "give it some text")
    stretches = list(_laid_out(parts, len(join)))
    pieces = tokenizer.pieces(text)
    return assemble(
        tokenizer, text.encode(), _with_bos(tokenizer, pieces), stretches, control_warnings(tokenizer, text, stretches)
    )


def from_ids(tokenizer: Tokenizer, ids: Sequence[int]) -> Prompt:
    """Ids as given; nothing is decoded and encoded again, nothing is added."""
    if not ids:
        raise PromptError("the prompt is empty", "give it some ids")
    leading = 1 if ids[0] == tokenizer.bos else 0
    parts = [b"" if i < leading else tokenizer.token_bytes(token) for i, token in enumerate(ids)]
    data = b"".join(parts)
    stretch = Stretch("prompt", SegmentKind.PART, None, 0, len(view(data).text))
    return assemble(tokenizer, data, list(_end_to_end(ids, parts, 0)), [stretch])


def extend(tokenizer: Tokenizer, prompt: Prompt, ids: Sequence[int], name: str = "generated") -> Prompt:
    """The prompt with ids behind it as a segment of their own; a character that they complete is shown whole."""
    added = list(_end_to_end(ids, [tokenizer.token_bytes(token) for token in ids], len(prompt.data)))
    pieces = [*(Piece(token.id, *token.place) for token in prompt.tokens), *added]
    data = prompt.data + tokenizer.decode_bytes(ids)
    segment = Segment(name, SegmentKind.GENERATED, None, len(prompt), len(pieces))
    check_names([*(s.name for s in prompt.segments), name])
    seen = view(data)
    return replace(
        prompt,
        ids=(*prompt.ids, *ids),
        tokens=tokens_of(tokenizer, pieces, seen),
        segments=(*prompt.segments, segment),
        text=seen.text,
        data=data,
    )


def assemble(
    tokenizer: Tokenizer,
    data: bytes,
    pieces: Sequence[Piece],
    stretches: Sequence[Stretch],
    warnings: Iterable[Notice] = (),
) -> Prompt:
    """A prompt from pieces and from stretches that cover the whole text in order."""
    seen = view(data)
    tokens = tokens_of(tokenizer, pieces, seen)
    # A token that also opens every turn (`<|im_start|>` in some models) belongs to the template, not to BOS.
    bos = 1 if [piece.id for piece in pieces].count(tokenizer.bos) == 1 and pieces[0].id == tokenizer.bos else 0  # type: ignore[arg-type]
    opening = [Segment("bos", SegmentKind.BOS, None, 0, 1)] * bos
    segments = (*opening, *_share_out(tokens, stretches, seen, bos))
    found = (
        *warnings,
        *_straddling(tokens, stretches),
        *_bos_twice(tokenizer, pieces),
        *_without_tokens(segments, stretches),
    )
    return Prompt(tuple(piece.id for piece in pieces), tokens, segments, seen.text, data, found)


def tokens_of(tokenizer: Tokenizer, pieces: Sequence[Piece], seen: View) -> tuple[Token, ...]:
    """Tokens with character spans; those that cut a character know which part of it they hold."""
    holders: dict[Range, list[int]] = defaultdict(list)
    cuts = [seen.cut((piece.start, piece.end)) for piece in pieces]
    for index, cut in enumerate(cuts):
        for character in cut:
            holders[character].append(index)
    tokens = []
    for index, (piece, cut) in enumerate(zip(pieces, cuts, strict=True)):
        place = (piece.start, piece.end)
        span = seen.characters(place)
        spelled = tokenizer.token_bytes(piece.id)
        among = holders[cut[0]] if cut else [index]
        text = _text_of(spelled, seen.text[slice(*span)])
        control = tokenizer.is_control(piece.id)
        tokens.append(Token(piece.id, spelled, control, place, span, text, among.index(index) + 1, len(among)))
    return tuple(tokens)


def control_warnings(tokenizer: Tokenizer, text: str, stretches: Iterable[Stretch]) -> Iterator[Notice]:
    """Where content spells a control token: it was kept as ordinary characters, another program may not do so."""
    for stretch in stretches:
        if stretch.kind is not SegmentKind.PART:
            continue
        for match in tokenizer.control_text(text[stretch.start : stretch.end]):
            span = (stretch.start + match.start, stretch.start + match.end)
            yield Notice(
                Code.CONTROL_TEXT,
                f"{stretch.name}: {text[slice(*span)]!r} would have become a control token; it is ordinary text here",
                span,
            )


def check_names(names: Iterable[str]) -> None:
    """Every segment has a name of its own. PromptError otherwise."""
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            raise PromptError(
                f"two parts named {name!r}" if name else "a part without a name", "give each its own name"
            )
        seen.add(name)


def _laid_out(parts: Sequence[Part], gap: int) -> Iterator[Stretch]:
    place = 0
    for number, part in enumerate(parts):
        if number and gap:
            yield Stretch(f"{JOIN}{number}", SegmentKind.TEMPLATE, None, place, place + gap)
            place += gap
        yield Stretch(part.name, SegmentKind.PART, None, place, place + len(part.text))
        place += len(part.text)


def _with_bos(tokenizer: Tokenizer, pieces: list[Piece]) -> list[Piece]:
    return [Piece(tokenizer.bos, 0, 0), *pieces] if tokenizer.add_bos and tokenizer.bos is not None else pieces


def _end_to_end(ids: Sequence[int], parts: Sequence[bytes], place: int) -> Iterator[Piece]:
    for token, part in zip(ids, parts, strict=True):
        yield Piece(int(token), place, place + len(part))
        place += len(part)


def _text_of(spelled: bytes, touched: str) -> str:
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return touched


def _share_out(tokens: Sequence[Token], stretches: Sequence[Stretch], seen: View, first: int) -> Iterator[Segment]:
    """Segments in order; each token goes to the stretch that holds the first character that it touches."""
    start = first
    for number, stretch in enumerate(stretches):
        last = number == len(stretches) - 1
        end = start
        while end < len(tokens) and (last or tokens[end].span[0] < stretch.end):
            end += 1
        if end > start or stretch.kind is SegmentKind.PART:
            yield Segment(stretch.name, stretch.kind, stretch.role, start, end)
        start = end


def _straddling(tokens: Sequence[Token], stretches: Sequence[Stretch]) -> Iterator[Notice]:
    named = [stretch for stretch in stretches if stretch.kind is SegmentKind.PART and stretch.start < stretch.end]
    for before, after in pairwise(named):
        index = bisect_left(tokens, before.end, key=lambda token: token.span[0]) - 1
        if index >= 0 and tokens[index].span[1] > after.start:
            token = tokens[index]
            message = f"token {index} {token.label!r} lies in {before.name} and in {after.name}; the first one owns it"
            yield Notice(Code.STRADDLE, message, token.span)


def _without_tokens(segments: Sequence[Segment], stretches: Sequence[Stretch]) -> Iterator[Notice]:
    empty = {segment.name for segment in segments if segment.start == segment.end}
    for stretch in stretches:
        if stretch.name in empty:
            reason = "is empty" if stretch.start == stretch.end else "is wholly inside a token of the part before it"
            yield Notice(Code.NO_TOKENS, f"{stretch.name} {reason}: it owns no token", (stretch.start, stretch.end))


def _bos_twice(tokenizer: Tokenizer, pieces: Sequence[Piece]) -> Iterator[Notice]:
    count = 0
    for piece in pieces:
        if piece.id != tokenizer.bos:
            break
        count += 1
    if count > 1:
        yield Notice(Code.BOS, f"the prompt starts with {count} BOS tokens (id {tokenizer.bos}); models expect one")
