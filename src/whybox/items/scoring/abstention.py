"""Phrases with which a text declines to answer, English and Chinese."""

import re

from whybox.items.scoring.quantities import find_quantities

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\S)[^.!?。！？\n]+)*")
_SAYING = (
    r"say|state|mention|specify|tell|give|contain|include|indicate|provide|cover|address|answer|list|describe|know|show"
    r"|have"
)
_SAID = (
    r"said|stated|mentioned|specified|given|provided|available|known|clear|sure|certain|possible to|enough|described"
)
_ABSTENTION = re.compile(
    rf"\b(?:do|does|did)(?:n't| not) (?:explicitly |actually |directly )?(?:{_SAYING})\b(?! (?:why|that) you)"
    rf"|\b(?:is|are|was|were|am|'m)(?:n't| not) (?:explicitly |directly )?(?:{_SAID})\b"
    rf"|\bisn't any (?:mention|information)\b|\bnot (?:specified|mentioned|stated|given|sure)\b"
    r"|\b(?:can't|cannot|can not|could not|couldn't) (?:be )?"
    r"(?:tell|say|provide|help|assist|confirm|determined?|answer(?:ed)?|find|found|know|known|inferred?)\b"
    r"|\bunable to (?:determine|answer|tell|find|say)\b|\bunknown\b|\bunclear\b|\bno idea\b"
    r"|\b(?:no|not enough|insufficient) (?:information|mention|data|evidence)\b"
    r"|(?:没有|未)(?:明确)?(?:提到|提及|说明|写明|给出|提供|注明|规定|说|写|指出|涉及|透露|相关|足够|提)"
    r"|没有[^，。！？；\n]{0,8}(?:信息|说明|内容|规定|记载)"
    r"|无法(?:从中)?(?:确定|得知|判断|回答|知道|确认|推断|获知|看出)|无从得知|不得而知|未知"
    r"|不(?:知道|清楚|确定|明确|详|了解)(?!你为什么)|看不出|信息不足"
)


def abstains(text: str) -> tuple[int, int] | None:
    """Span of the first abstention in folded text whose sentence holds no quantity; None if there is none."""
    for sentence in _SENTENCE.finditer(text):
        phrase = _ABSTENTION.search(sentence[0])
        if phrase is None or any(quantity.unit for quantity in find_quantities(sentence[0], words=True)):
            continue
        return sentence.start() + phrase.start(), sentence.start() + phrase.end()
    return None
