"""How two sides feed one text otherwise, by name. A name is given where undoing it gives the other side's ids exactly.

Texts of chat templates are told in the same way.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

from whybox.errors import PromptError, UnsupportedError
from whybox.text import chat
from whybox.text.tokenizer import Tokenizer

SIDES = ("first", "second")
FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")
SHOWN = 24  # characters of a difference


def ids_apart(mine: Sequence[int], theirs: Sequence[int], tokenizer: Tokenizer) -> str:
    """Of one text: the name of what one side did to the other's ids, else the first id that differs."""
    pair = (list(mine), list(theirs))
    named = (what for more in (1, 0) for what in _more(pair[1 - more], pair[more], SIDES[more], tokenizer))
    return next(chain(named, _spelled(*pair, tokenizer), _shifted(*pair)), _first(*pair))


def _more(less: list[int], more: list[int], side: str, tokenizer: Tokenizer) -> Iterator[str]:
    """What `more` has beside all of `less`."""
    count = len(more) - len(less)
    if count <= 0:
        return
    before, behind = more[:count], more[len(less) :]
    if more[count:] == less:
        if before == [tokenizer.bos]:
            yield f"BOS twice on the {side} side" if less[:1] == before else f"BOS on the {side} side alone"
        elif _padding(before, tokenizer):
            yield f"{count} × {tokenizer.label(before[0])} before the text on the {side} side: padding that is seen"
        else:
            yield f"the first {count} tokens are cut off on the {_opposite(side)} side"
    if more[: len(less)] == less:
        if behind in [[stop] for stop in tokenizer.stop_ids]:
            yield f"an end of text behind the prompt on the {side} side alone"
        elif _padding(behind, tokenizer):
            yield f"{count} × {tokenizer.label(behind[0])} behind the text on the {side} side: padding that is seen"
        else:
            yield f"the last {count} tokens are cut off on the {_opposite(side)} side"


def _opposite(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


def _padding(ids: list[int], tokenizer: Tokenizer) -> bool:
    return len(set(ids)) == 1 and tokenizer.is_control(ids[0])


def _spelled(mine: list[int], theirs: list[int], tokenizer: Tokenizer) -> Iterator[str]:
    """The same text in other tokens, or nearly the same text."""
    try:
        one, other = (tokenizer.decode_bytes(ids) for ids in (mine, theirs))
    except PromptError:
        return
    controls = [sum(map(tokenizer.is_control, ids)) for ids in (mine, theirs)]
    if one == other and controls[0] != controls[1]:
        side = SIDES[controls.index(min(controls))]
        yield f"control tokens spelled as ordinary characters on the {side} side"
    elif one == other:
        at = _place(mine, theirs)
        cuts = " and ".join("|".join(tokenizer.label(token) for token in ids[at : at + 3]) for ids in (mine, theirs))
        yield f"the same text cut into other tokens, from token {at} on: {cuts}"
    else:
        yield from _rewritten(one.decode(errors="replace"), other.decode(errors="replace"))


def _rewritten(one: str, other: str) -> Iterator[str]:
    for text, changed, side in ((one, other, "second"), (other, one, "first")):
        if changed == f" {text}":
            yield f"a blank before the text on the {side} side alone"
        for form in FORMS:
            if changed == unicodedata.normalize(form, text):
                yield f"the text normalised to {form} on the {side} side"
        if changed == text.lower():
            yield f"the text in small letters on the {side} side"
        if changed == text.strip():
            yield f"blanks at the ends of the text taken off on the {side} side"


def _shifted(mine: list[int], theirs: list[int]) -> Iterator[str]:
    by = {b - a for a, b in zip(mine, theirs, strict=False)}
    if len(mine) == len(theirs) and len(by) == 1:
        yield f"every id {by.pop():+d} on the second side: rows of the vocabulary shifted"


def _first(mine: list[int], theirs: list[int]) -> str:
    at = _place(mine, theirs)
    return f"token {at}: {mine[at : at + 1]} and {theirs[at : at + 1]}, {len(mine)} and {len(theirs)} tokens"


def _place(one: Sequence[object], other: Sequence[object]) -> int:
    apart = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(apart, min(len(one), len(other)))


MESSAGES = ({"role": "user", "content": "How long does a refund take?"},)


def templates_apart(one: Tokenizer, other: Tokenizer) -> str | None:
    """How two templates render one message: "" alike, None where a side has none or refuses it."""
    try:
        mine, theirs = (chat.from_messages(side, MESSAGES) for side in (one, other))
        unopened = [chat.from_messages(side, MESSAGES, add_generation_prompt=False).text for side in (one, other)]
    except (PromptError, UnsupportedError):
        return None
    if mine.text == theirs.text:
        return ""
    for text, bare, side in ((theirs.text, unopened[0], "second"), (mine.text, unopened[1], "first")):
        if text == bare:
            return f"the answer is not opened on the {side} side"
    return _texts_apart(mine.text, theirs.text)


def _texts_apart(one: str, other: str) -> str:
    at = _place(one, other)
    rest = [one[at:], other[at:]]
    behind = min(_place(rest[0][::-1], rest[1][::-1]), *map(len, rest))
    middles = [text[: len(text) - behind] for text in rest]
    shown = [repr(middle if len(middle) <= SHOWN else f"{middle[:SHOWN]}…") for middle in middles]
    if not "".join(middles).strip():
        return f"blanks differ at character {at}: {shown[0]} and {shown[1]}"
    for less, side in ((0, "second"), (1, "first")):
        if not middles[less]:
            kind = "a system message" if "system" in middles[1 - less] else "text"
            return f"{kind} at character {at} on the {side} side alone: {shown[1 - less]}"
    return f"other text at character {at}: {shown[0]} and {shown[1]}"
