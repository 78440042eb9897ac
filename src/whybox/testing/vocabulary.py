"""The small language of planted models: one word, one id, so that every mechanism can be worked out by hand.

`DOC1 Aldova Quorlan . DOC2 Brintow Rimbleth . … Q Aldova` asks for the value that stands behind the entity. The words
are invented: nothing in them can be known, and the scorers of `items` find them like any other name.
"""

import re
from dataclasses import dataclass
from functools import cache

from whybox.text.blueprint import Blueprint, Specials
from whybox.text.codec import Piece
from whybox.text.tokenizer import Tokenizer
from whybox.text.vocabulary import SPACE_MARK, Control, Spelling, Vocabulary

BOS = "<bos>"
UNKNOWN = "<unk>"
DOCS = ("DOC1", "DOC2", "DOC3", "DOC4", "DOC5")
QUESTION = "Q"
JSON = "JSON"
BRACE = "{"
END = "."
ANSWER = "Answer:"
ENTITIES = (
    "Aldova", "Brintow", "Cardeth", "Dornwick", "Elstane", "Fenmark", "Gorrick", "Hollowby",
    "Istrany", "Jorvale", "Kestwin", "Lymoor", "Marrowe", "Nethby", "Ostrel", "Pelgate",
)  # fmt: skip
VALUES = (
    "Quorlan", "Rimbleth", "Sorvane", "Tuvella", "Umbrith", "Vandoor", "Wexley", "Xanthel",
    "Yorvick", "Zelmara", "Ambrose", "Bellweth", "Corvant", "Drummel", "Everlyn", "Faldane",
)  # fmt: skip
FILLERS = ("the", "of", "and", "to", "in", "a", "that", "on", "as", "with", "by", "from", "at", "or", "it", "for")
SOURCES = ("Herald", "Gazette", "Tribune", "Ledger", "Bulletin")

WORDS = (BOS, UNKNOWN, *DOCS, QUESTION, JSON, BRACE, END, ANSWER, *ENTITIES, *VALUES, *FILLERS, *SOURCES)
IDS = {word: token for token, word in enumerate(WORDS)}
_PLAIN = {word: token for word, token in IDS.items() if word not in (BOS, UNKNOWN)}


def ids_of(words: tuple[str, ...]) -> tuple[int, ...]:
    """The ids of words of this vocabulary. KeyError for any other word."""
    return tuple(IDS[word] for word in words)


@dataclass(frozen=True)
class WordCodec:
    """A word with the blanks before it is one id; what is no word of the language is `<unk>` up to the next blank."""

    pattern: re.Pattern[str]

    def pieces(self, text: str, opening: bool) -> list[Piece]:
        """Longest word first: `AldovaQuorlan`, an answer put straight behind a prompt, is two words."""
        return [_piece(text, match) for match in self.pattern.finditer(text)]

    def content(self) -> str:
        """The pattern; ids are places in the vocabulary."""
        return self.pattern.pattern


def _piece(text: str, match: re.Match[str]) -> Piece:
    start = len(text[: match.start()].encode())
    return Piece(_PLAIN.get(match["word"], IDS[UNKNOWN]), start, start + len(match[0].encode()))


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of every planted model: BOS first, a sentence end stops an answer, no chat template."""
    plain = sorted(_PLAIN, key=len, reverse=True)
    pattern = re.compile(rf"\s*(?P<word>{'|'.join(map(re.escape, plain))}|\S+)")
    spelled = tuple(word if word in (BOS, UNKNOWN) else SPACE_MARK + word for word in WORDS)
    vocabulary = Vocabulary(spelled, Spelling.SPACE_MARK, (Control(BOS, IDS[BOS]),), frozenset({IDS[BOS]}))
    specials = Specials(IDS[BOS], IDS[END], None, IDS[UNKNOWN], add_bos=True, stop=frozenset({IDS[END]}))
    return Tokenizer(Blueprint(vocabulary, WordCodec(pattern), specials, chat_template=None))
