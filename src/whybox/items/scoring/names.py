"""How a name is found: in its own capitals, where it ends as a name ends.

Folded, many names are common words (Will, May, Mark, IT, US). A capital tells them apart, except at the beginning of a
sentence, where it is grammar; a text in one case tells nothing. A longer name (Anna Berg-Mann, 李明华) and a relative
(Anna Berg's sister, 李明的妹妹) are somebody else.
"""

import re
import unicodedata
from collections.abc import Sequence

from whybox.items.scoring.finders import find_phrases, is_continued, longest, phrase_pattern, spaced
from whybox.items.scoring.folding import HAN, Folded, fold_text, is_han, stands_alone
from whybox.items.scoring.score import Mention

ENGLISH_KINDS = ("depot", "office", "device", "station", "model", "warehouse", "unit")
CHINESE_KINDS = ("仓库", "办公室", "站", "所", "型")
# What may follow a Chinese name; any other character may make it another word (维岚山, 李明华).
_PARTICLES = (
    "的是和与或在有也都里中把将为会能可说称及并来去做让给请从到对向被"
    "已就才则还又只要不没所以了着过吗呢吧啊卖买写画拿住想"
)
_FOLLOWING = "负责|带领|带队|带着|领导|领队|主持|主管|管理|管|担任|先生|女士|小姐|老师|同学|教授|博士|医生|经理|主任"
_QUOTES = "[\"'“”‘’「」『』《》]*"
_PEOPLE = (
    "sister|brother|mother|father|son|daughter|wife|husband|child|parent|friend|assistant|deputy|colleague|boss|partner"
)
_CHINESE_PEOPLE = (
    "妹妹|姐姐|哥哥|弟弟|父亲|母亲|爸爸|妈妈|儿子|女儿|妻子|丈夫|助手|助理|同事|朋友|老板|秘书|徒弟|学生|老师"
)
_CHINESE_KIN = re.compile(rf"的?(?!老师)(?:{_CHINESE_PEOPLE})|的老师")
_HYPHENATED = re.compile(r"(?:[-_][^\W_]+)+")
_KIN_BEFORE = re.compile(rf"\b(?:{_PEOPLE})s? of (?:the )?\Z")
_OWNER = re.compile(r"['’]s?[ \t]+(?P<owned>[^\W\d_]+)")
_ANSWERING = re.compile(r"[\W_]*(?:(?:the |final )*answer(?: is)?|答案)?[是为\W_]*")
_LAST_WORD = re.compile(r"[^\W_](?P<gap>[\W_]*)\Z")
_SENTENCE_END = re.compile(r"[.!?:。！？：\n]")
_NEAR = 200  # characters around a mention that are looked at
# Behind a word with a sentence's capital: it was a verb (Will you, May I, Mark the box), and no name.
_AS_A_VERB = re.compile(
    r"[ \t]+(?:i|you|he|she|it|we|they|one|there|the|an?|this|that|these|those|your|my|our|his|her|their|its|me|us|him"
    r"|them|be|not|any|all|each|every|some|no)\b"
)
_WORD = re.compile(r"[^\W_]+")
# Names that are verbs and the like as well, so that a sentence may hold the word and mean no name.
_COMMON_WORDS = frozenset({"chase", "drew", "mark", "may", "nice", "pat", "reading", "rob", "sue", "will"})


def find_names(folded: Folded, names: Sequence[str], follows: str = "") -> list[Mention]:
    """Mentions of names, with or without their kind word: `the Velmora depot`, `“维岚”仓库`.

    follows: characters that stand behind a Chinese name in its own document, where they do not continue it.
    """
    found = (
        Mention(name, match.start(), match.end())
        for name in names
        for match in _name_pattern(name, names).finditer(folded.text)
    )
    alone = (mention for mention in found if stands_alone(folded.text, mention.start, mention.end))
    written = [mention for mention in longest(alone) if _is_in_its_case(folded, mention)]
    kinds = kinds_of(names)
    known = [_as_it_goes_on(folded.text, one, follows) for one in written if not _is_kin(folded, one, kinds)]
    return [one for one in known if one is not None]


def find_words(folded: Folded, words: Sequence[str]) -> list[Mention]:
    """Mentions of words or phrases; an abbreviation in capitals (IT, US) and a name that is a common word as well (May,
    Will) only in their own case.
    """
    return [
        mention
        for mention in find_phrases(folded, words)
        if not is_continued(folded.text, mention.start, mention.end)
        and (not _needs_its_case(mention.candidate) or _is_in_its_case(folded, mention))
    ]


def split_kind(name: str) -> tuple[str, str]:
    """A folded name parted into its own word and its kind: (维岚, 仓库), (velmora, depot), (paris, "")."""
    folded = fold_text(name).strip().removeprefix("the ")
    for kind in CHINESE_KINDS:
        if folded.endswith(kind) and len(folded) > len(kind) + 1:
            return folded.removesuffix(kind), kind
    base, _, last = folded.rpartition(" ")
    return (base, last) if base and last in ENGLISH_KINDS else (folded, "")


def kinds_of(names: Sequence[str]) -> frozenset[str]:
    """What a name may own and still be meant: VELMORA's depot."""
    return frozenset((*ENGLISH_KINDS, *(split_kind(name)[1] for name in names)))


def followers(name: str, texts: Sequence[str]) -> str:
    """The characters right behind a Chinese name in its own documents."""
    if not name or not is_han(name[-1]):
        return ""
    return "".join({m[1] for text in texts for m in re.finditer(rf"{re.escape(name)}([{HAN}])", text)})


def _name_pattern(name: str, names: Sequence[str]) -> re.Pattern[str]:
    base, kind = split_kind(name)
    if kind == "" or [split_kind(other)[0] for other in names].count(base) > 1:
        return phrase_pattern(name)
    if base[-1:].isascii():
        return re.compile(rf"{spaced(base)}(?:{_QUOTES}\s+{re.escape(kind)}(?![^\W_]))?")
    return re.compile(rf"{spaced(base)}(?:{_QUOTES}{re.escape(kind)}|(?![^\W{_PARTICLES}]))")


def _as_it_goes_on(text: str, mention: Mention, follows: str) -> Mention | None:
    """The name, or the longer one that it begins (Anna Berg-Mann, 李明华), which is nobody known. None where another
    begins before it.
    """
    if not is_continued(text, mention.start, mention.end):
        kind = split_kind(mention.candidate)[1]
        end = mention.end + (not kind and _goes_on_in_chinese(text[mention.end - 1 : mention.end + 8], follows))
    elif (rest := _HYPHENATED.match(text, mention.end)) is not None:
        end = rest.end()
    else:
        return None
    return mention if end == mention.end else Mention(text[mention.start : end], mention.start, end)


def _goes_on_in_chinese(near: str, follows: str) -> bool:
    """Of the last character of a name and what stands behind it: whether that may belong to the name."""
    if len(near) < 2 or not (is_han(near[0]) and is_han(near[1])):
        return False
    return not (near[1] in _PARTICLES + follows or re.match(_FOLLOWING, near[1:]))


def _is_kin(folded: Folded, mention: Mention, kinds: frozenset[str]) -> bool:
    """Somebody or something that belongs to the one that is named; or a name with one more word."""
    text, end = folded.text, mention.end
    if _KIN_BEFORE.search(text[max(0, mention.start - 24) : mention.start]):
        return True
    if is_han(text[end - 1]):
        return _CHINESE_KIN.match(text, end) is not None
    owner = _OWNER.match(text, end)
    if owner is not None:
        return owner["owned"] not in kinds
    return _goes_on_with_a_capital(folded, end, kinds)


def _goes_on_with_a_capital(folded: Folded, end: int, kinds: frozenset[str]) -> bool:
    """`Anna Berg Mann` in a text that is not all written so."""
    word = re.compile(r"[ \t]+([^\W\d_]{2,})").match(folded.text, end)
    if word is None or word[1] in kinds:
        return False
    around = "".join(_line_around(folded, *word.span(1)))
    return _written(folded, *word.span(1)).istitle() and not around.istitle()


def _is_in_its_case(folded: Folded, mention: Mention) -> bool:
    """Whether the letters are those of a name; where a text has one case, whether it says nothing but the name."""
    start, end = mention.start, mention.end
    written, known = _written(folded, start, end), _words_of(mention.candidate)
    words = [word for word in _WORD.findall(written) if any(map(str.isupper, known.get(fold_text(word), "")))]
    if not words:
        return True
    before, behind = _line_around(folded, start, end)
    cased = [letter for letter in before + behind if letter.lower() != letter.upper()]
    if not cased or (_ANSWERING.fullmatch(fold_text(before)) and not _WORD.search(behind)):
        return True
    if all(known[fold_text(word)] == word for word in words):
        if all(word.isupper() for word in words):
            return any(map(str.islower, cased))
        return len(words) > 1 or not _is_grammar(folded, mention)
    if all(word.isupper() and len(word) > 1 for word in words) and not _is_abbreviation(mention.candidate):
        return any(map(str.islower, cased))
    return len(words) > 1 and written.islower() and not any(map(str.isupper, cased))


def _is_grammar(folded: Folded, mention: Mention) -> bool:
    """Whether the capital of a single word may be that of its sentence alone: Will you …, May I …, Mark the …"""
    text, end = folded.text, mention.end
    last = _LAST_WORD.search(text[max(0, mention.start - 40) : mention.start])
    if last is not None and not _SENTENCE_END.search(last["gap"]):
        return False
    if _AS_A_VERB.match(text, end):
        return True
    rest = re.compile(r"[^.!?。！？\n]*[.!?。！？]?").match(text[: end + _NEAR], end)
    return rest is not None and rest[0].endswith(("?", "？")) and re.match(r"[ \t]+[^\W\d_]", rest[0]) is not None


def _needs_its_case(word: str) -> bool:
    return _is_abbreviation(word) or (word[:1].isupper() and word.strip(" .").lower() in _COMMON_WORDS)


def _is_abbreviation(name: str) -> bool:
    """Capitals only, two letters or more: IT, US."""
    return len(name) > 1 and name.isupper() and name.isalpha() and name.isascii()


def _words_of(name: str) -> dict[str, str]:
    return {fold_text(word): word for word in _WORD.findall(unicodedata.normalize("NFKC", name))}


def _line_around(folded: Folded, start: int, end: int) -> tuple[str, str]:
    """What is written before and behind, near by on the same line."""
    head = max(folded.text.rfind("\n", 0, start) + 1, start - _NEAR)
    tail = folded.text.find("\n", end)
    return _written(folded, head, start), _written(folded, end, min(tail % (len(folded.text) + 1), end + _NEAR))


def _written(folded: Folded, start: int, end: int) -> str:
    """The letters as they were written, without marks."""
    return "".join(folded.written(i) for i in range(start, end))
