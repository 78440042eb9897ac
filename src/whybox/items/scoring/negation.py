"""Negation scope, English and Chinese: whether a mention is denied rather than asserted.

English: a negator at most three words before the mention, in its clause, "not only" excepted. Chinese: at most four
characters before, 不仅 and 不只 excepted. Doubt ("I doubt it is", "does not say that", 是否) reaches over its whole
clause. Right before the mention: "anything but", "unlike", "wrong:". Behind it: "… is wrong", "… isn't it",
…是错的, …不是答案. A scope ends at another mention unless the two are joined ("not 7 or
30", but "不是30天是7天").
"""

import re
from collections.abc import Sequence

_CLAUSE_END = re.compile(
    r"[!?;。！？；，、\n—]|[.,:](?![0-9])|\b(?:but|however|it's|yet)\b|而是|但是?|不过|可是|instead(?! of)"
)
_ENGLISH_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_NEGATORS = {"not", "never", "neither", "nor", "except", "cannot"}
_PAIRS = {("rather", "than"), ("instead", "of")}
_CHINESE_NEGATOR = re.compile(
    r"(?:不(?:是|能|在|选|去|属于|应|该|会|等于|叫|用|要|可能|再|算|指|建议|推荐|对应)|没(?:有|在|去|选)|未(?:在|选|去|曾)"
    r"|[并绝决而更](?:非|不)|(?<![除是无])非(?=\Z)|除了|除去|除开|排除|避开|避免|切勿"
    r"|(?<![分特区级类性个辨鉴差告识])别(?:选|去|用|是|填|写|答|说))"
    r"(?![只仅但]|[^，。；]{0,2}(?:超|多于|大于|高于|晚于|迟于|长于|少于|小于|低于|短于|早于|仅|只))"
)
# Right before the mention; the reach of a word is its own.
_DENIED_BEFORE = re.compile(
    r"(?:≠|!=|=/=|<>|\b(?:anything|everything|all|anyone|anywhere|nothing) (?:but|except)(?: for)?(?: the)?"
    r"|\b(?:unlike|avoid|avoids|avoiding|excluding|exclude|excludes|excluded|without|far from|apart from|aside from"
    r"|other than|no longer|no)(?: the| option| answer)*"
    r"|\b(?:wrong|incorrect|false|mistaken)(?: answer)?(?: is|:| to (?:say|choose|pick|think|answer))*"
    r"(?: the| that| it is| it's)*)"
    r"[ \t\"“(]*\Z"
)
_JOINED = re.compile(r"[\s,，、/]*(?:or|and|nor|或者?|和|与|及)?\s*(?:the |an? )?")
_DENIED_BEHIND = re.compile(
    r"[\s\"”’)]*(?:(?:is|are|was|were|'s)\s+(?:wrong|incorrect|false|not (?:right|correct|true|the answer))\b"
    r"|(?:isn't|aren't|wasn't|is not|was not|can't be|cannot be)\s+"
    r"(?:it|right|correct|true|the (?:right |correct )?(?:answer|one))\b"
    r"|(?:isn't|aren't|wasn't|doesn't|didn't|(?:is|are|was|were|does|did) not|not)[ \t]*(?:[.!;\n]|\Z)"
    r"|(?:is|are|was|were|can be|has been)\s+(?:excluded|ruled out|rejected|impossible|out of the question)\b"
    r"|(?:[?？][\s?？\"”]*|,[ \t]*)(?:no|nope|not)[ \t]*(?:[.,!;\n]|\Z)"
    r"|吗?[?？][\s?？]*(?:不是|不对|并不是|并非|错|否)"
    r"|[是都也]*(?:错(?![过开综])|不对(?!外)|不正确|不可能|不成立|不符合)"
    r"|(?:并不|也不|都不|不)是(?:正确|对的?|答案|它|他|她|这个)|(?:并不|也不|都不|不)是[ \t]*(?:[。.，,；;！!\n]|\Z)"
    r"|(?:已|应|可以)?被?排除|除外|以外|之外)"
)

_DOUBT = re.compile(
    r"(?<!\bno )(?<!\ba )(?<!\bwithout )\bdoubt(?:s|ed|ful|fully)?\b"
    r"|\b(?:unlikely|hardly|scarcely|whether|den(?:y|ies|ied)|wonders?|unsure|uncertain)\b"
    r"|(?:\bnot|n't)(?: \w+)? (?:think|believe|suppose|expect|say|state|mention|claim|sure|certain|clear|know)\b"
    r"|怀疑|未必|不一定|不见得|是否|不(?:认为|觉得|相信|确定)"
)

_NEAR = 48
# No scope reaches further back than this; it keeps endless repetitions cheap.
_FURTHEST = 200

Span = tuple[int, int]


def is_negated(text: str, mention: Span, others: Sequence[Span]) -> bool:
    """Whether the mention at [start, end) of folded text is denied; `others` are the mentions just before."""
    start, end = mention
    if _DENIED_BEHIND.match(text, end) or _DENIED_BEFORE.search(text[max(0, start - _NEAR) : start]):
        return True
    head = _scope_start(text, start, others)
    clause = text[head:start]
    return _denied_in_english(clause) or _denied_in_chinese(clause) or _DOUBT.search(clause) is not None


def clause_start(text: str, at: int) -> int:
    """Where the clause that holds position `at` begins."""
    window = max(0, at - _FURTHEST)
    ends = [match.end() for match in _CLAUSE_END.finditer(text, window, at)]
    return ends[-1] if ends else window


def _scope_start(text: str, start: int, others: Sequence[Span]) -> int:
    head, at = clause_start(text, start), start
    for other_start, other_end in sorted(others, reverse=True):
        if not head <= other_start < other_end <= at:
            continue
        if not _JOINED.fullmatch(text[other_end:at]):
            return other_end
        at = other_start
    return head


def _denied_in_english(clause: str) -> bool:
    words = [match[0] for match in _ENGLISH_WORD.finditer(clause)]
    for i in range(max(0, len(words) - 3), len(words)):
        if words[i : i + 2] == ["not", "only"]:
            continue
        if words[i] in _NEGATORS or words[i].endswith("n't") or tuple(words[i - 1 : i + 1]) in _PAIRS:
            return True
    return False


def _denied_in_chinese(clause: str) -> bool:
    return any(len(clause) - match.end() <= 4 for match in _CHINESE_NEGATOR.finditer(clause))
