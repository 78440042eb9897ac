"""A code word at the very start of a long prompt and one at its end, asked back: a truncated prompt loses one."""

from dataclasses import dataclass

from whybox.items.generate.kinds import draw_code
from whybox.items.generate.vocabulary import Language
from whybox.items.scoring.finders import find_codes
from whybox.items.scoring.folding import fold
from whybox.items.scoring.score import asserted_mentions
from whybox.items.seeds import item_generator

_SENTENCES: dict[Language, tuple[str, str, str]] = {
    "en": ("The first code is {code}.", "The last code is {code}.", "Repeat the first code and the last code."),
    "zh": ("第一个代码是{code}。", "最后一个代码是{code}。", "请重复第一个代码和最后一个代码。"),
}


@dataclass(frozen=True)
class Canary:
    """`head` opens the prompt, `tail` stands before `question`; the two codes are what must come back."""

    head: str
    tail: str
    question: str
    first: str
    last: str

    def lost(self, answer: str) -> tuple[str, ...]:
        """Which ends did not come back: `start`, `end`, both or none. Both are asked for, so one beside the other is
        no hedge.
        """
        folded = fold(answer)
        ends = (("start", self.first), ("end", self.last))
        return tuple(end for end, code in ends if not asserted_mentions(folded.text, find_codes(folded, [code])))


def canary_pair(language: Language, seed: int) -> Canary:
    """Two codes with different beginnings, always the same for a seed."""
    generator = item_generator(seed, "canary", language)
    first = draw_code(generator)
    last = next(code for code in iter(lambda: draw_code(generator), None) if code[:2] != first[:2])
    head, tail, question = _SENTENCES[language]
    return Canary(head.format(code=first), tail.format(code=last), question, first, last)
