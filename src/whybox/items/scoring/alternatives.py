"""Names that nobody listed, offered in one breath with a known one: Velmora or Zumra, 维岚或青木, a list of names.

Who names everything names nothing, so such a name is a mention of its own and the answer is hedged. A pair parted by a
comma alone is none (Paris, France); nor is a pair joined by `and`, which adds and does not waver.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from whybox.items.scoring.folding import HAN, Folded, is_han
from whybox.items.scoring.score import Mention

Place = tuple[int, int]
_NEAR = 60

_WORD = r"[^\W\d_][^\W_]*(?:['-][^\W_]+)*"
_CODE = r"(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+"
_LEADS = "either|maybe|perhaps|possibly|probably|also|it's|it is|it could be|it may be|the|in|at|an?"
_KIND = r"(?:[ \t]+(?:depot|office|device|station|model|warehouse|unit))?"
_HAN_KIND = "(?:仓库|办公室|站|所|型)"
_OR = r"(?:[ \t]*[,，;；.。?？]?\s*\b(?:or|nor)\b[ \t]*|[ \t]*[/\\|][ \t]*)"
_HAN_OR = r"[ \t]*[，。？?]?(?:抑?或(?!许|则)者?|还是|要么|要不|也可能是?|[、/|])(?:是|在)?"

_LATIN_BEHIND = re.compile(
    rf"{_KIND}{_OR}(?:(?:{_LEADS})[ \t]+)*(?P<item>{_CODE}|{_WORD})(?P<last>[ \t]*(?:[.,;!?\n]|\Z))?", re.IGNORECASE
)
_LATIN_BEFORE = re.compile(rf"(?P<item>{_CODE}|{_WORD}){_KIND}{_OR}(?:(?:{_LEADS})[ \t]+)*\Z", re.IGNORECASE)
_HAN_BEHIND = re.compile(
    rf"{_HAN_KIND}?{_HAN_OR}(?P<item>[{HAN}]{{2,6}}?(?:{_HAN_KIND}|(?<!的)(?=[，。；！？、\s]|\Z)))"
)
_HAN_BEFORE = re.compile(rf"(?P<item>[{HAN}]{{2,8}}){_HAN_OR}\Z")

_PARTED = (
    r"\n[ \t]*[0-9]{1,2}[.)][ \t]|[,;/|\n.!?、，；。！？&]|(?<![^\W_])(?:or|and|Or|And)(?![^\W_])|或(?!许|则)者?|还是"
)
_PART = re.compile(rf"(?:{_PARTED})(?:[ \t]*(?:{_PARTED}))*")
_ITEM = re.compile(
    rf"[ \t\W]*(?:[0-9]{{1,2}}[.)][ \t]+)?(?:(?i:or|and|then|{_LEADS})[ \t]+)*"
    rf"(?P<item>{_CODE}|{_WORD}(?:[ \t]+{_WORD})?{_KIND}|[{HAN}]{{2,6}})[ \t\W]*"
)
_WEAK = re.compile(r"(?:[,，& \t]|and)+")
_WEAK_HAN = re.compile(r"[,，.。!！?？\s]+")
_SAID_BESIDE = (
    "yes yeah yep no sure well ok okay right correct exactly indeed certainly answer final thanks thank hello hi note"
    " source explanation reason done end true false here it this that nothing none nobody see also please only so now"
    " today rather else not more less and whether"
    " 是 是的 对的 没错 好的 答案 谢谢 正确 当然 可以 根据 因此 所以 来源 说明 理由 解释 回答 完毕 确实"
)
_NO_NAMES = frozenset(_SAID_BESIDE.split())


def with_unlisted(
    find: Callable[[Folded], list[Mention]], rivals: frozenset[str] = frozenset()
) -> Callable[[Folded], list[Mention]]:
    """A finder that finds what is offered beside its mentions, too. rivals: other names that the documents state in the
    place of the right one (`framed`), which count wherever they stand bare.
    """
    return partial(_found, find=find, rivals=rivals)


def _found(folded: Folded, find: Callable[[Folded], list[Mention]], rivals: frozenset[str]) -> list[Mention]:
    mentions = find(folded)
    if not mentions:
        return mentions
    written = folded.as_written()
    known = frozenset(i for m in mentions for i in range(m.start, m.end))
    listed = _listed(written, known, rivals)
    places = {*_either(written, mentions), *listed, *_in_a_row(written, mentions)}
    free = sorted(place for place in places if known.isdisjoint(range(*place)))
    return [*mentions, *(Mention(folded.text[start:end], start, end) for start, end in free)]


def _either(text: str, mentions: Sequence[Mention]) -> list[Place]:
    """What an `or` joins to a mention, in its script: a name by its capital, or a word that ends the clause."""
    found: list[Place] = []
    for one in mentions:
        in_han, head = is_han(text[one.end - 1]), max(0, one.start - _NEAR)
        behind = (_HAN_BEHIND if in_han else _LATIN_BEHIND).match(text, one.end)
        before = (_HAN_BEFORE if in_han else _LATIN_BEFORE).search(text[head : one.start])
        if behind is not None and (in_han or behind["item"][0].isupper() or behind["last"] is not None):
            found.append(behind.span("item"))
        if before is not None:
            found.append((head + before.start("item"), head + before.end("item")))
    return [place for place in found if text[slice(*place)].lower() not in _NO_NAMES]


def _listed(text: str, known: frozenset[int], rivals: frozenset[str]) -> Iterator[Place]:
    """Bare items next to a bare mention; two besides it, where commas and `and` alone part them. A rival counts by
    itself, and before the first mention: what is said first was answered.
    """
    parts, items = _items(text)
    for run in _runs(items):
        stated = [place for _, place in run if text[slice(*place)].casefold() in rivals]
        yield from (place for place in stated if place[0] < min(known))
        own = [place for _, place in run if not known.isdisjoint(range(*place))]
        if not own:
            continue
        yield from stated
        others = [p for _, p in run if known.isdisjoint(range(*p)) and _is_like(text[slice(*own[0])], text[slice(*p)])]
        weak = _WEAK_HAN if is_han(text[own[0][0]]) else _WEAK
        commas = all(weak.fullmatch(text[slice(*parts[i])]) for i, _ in run[:-1])
        codes = re.fullmatch(_CODE, text[slice(*own[0])]) is not None
        if len(others) > (1 if commas and not codes else 0):
            yield from others


def _items(text: str) -> tuple[list[Place], list[Place | None]]:
    """What parts a text, and the bare items between, before and behind."""
    parts = [match.span() for match in _PART.finditer(text)]
    any_case = not any(map(str.isupper, text[1:]))
    bounds = [(0, 0), *parts, (len(text), len(text))]
    return parts, [_item(text, left[1], right[0], any_case) for left, right in pairwise(bounds)]


def gives(folded: Folded, rivals: frozenset[str]) -> bool:
    """Whether a text gives one of these names, bare and with something behind it, so that no limit cut it."""
    text = folded.as_written()
    found = [place for place in _items(text)[1] if place is not None] if rivals else []
    return any(text[slice(*place)].casefold() in rivals and place[1] < len(text.rstrip()) for place in found)


def _item(text: str, start: int, end: int, any_case: bool) -> Place | None:
    """The name that stands alone there; None for a sentence, a small letter, an interjection."""
    item = _ITEM.fullmatch(text, start, end) if end - start <= _NEAR else None
    if item is None:
        return None
    words = item["item"].split()
    is_name = any_case or not words[0][0].islower()
    return item.span("item") if is_name and words[0].lower() not in _NO_NAMES else None


def _is_like(own: str, other: str) -> bool:
    """Whether two items are of one sort: codes, words, or Chinese names of one kind or length."""
    if is_han(own[0]) or is_han(other[0]):
        of_a_kind = len(own) == len(other) or re.search(rf"{_HAN_KIND}\Z", other) is not None
        return is_han(own[0]) and is_han(other[0]) and of_a_kind
    return bool(re.fullmatch(_CODE, own)) == bool(re.fullmatch(_CODE, other))


def _runs(items: Sequence[Place | None]) -> Iterator[list[tuple[int, Place]]]:
    """Neighbours that are items, each with its index."""
    run: list[tuple[int, Place]] = []
    for i, item in enumerate([*items, None]):
        if item is not None:
            run.append((i, item))
        elif run:
            yield run
            run = []


_ROW = re.compile(rf"\W*{_WORD}(?:[ \t]+{_WORD}){{1,7}}\W*")
_NOT_IN_A_ROW = re.compile(
    r"(?i:\b(?:the|is|was|are|it|of|in|at|on|by|to|and|or|for|has|will|depot|office|device|station|model|warehouse|unit"
    r"|answer)\b)"
)


def _in_a_row(text: str, mentions: Sequence[Mention]) -> Iterator[Place]:
    """Capitalised words are all that is said, a name and others behind it: Velmora Zumra Aldor."""
    if len(text) > 2 * _NEAR or not _ROW.fullmatch(text) or _NOT_IN_A_ROW.search(text):
        return
    words = [match.span() for match in re.finditer(_WORD, text)]
    if all(text[start].isupper() and not text[start:end].isupper() for start, end in words):
        last = max(one.end for one in mentions)
        if words[-1][0] >= last or len([1 for _, end in words if end <= mentions[0].start]) > 1:
            yield words[-1] if words[-1][0] >= last else words[0]
