"""SentencePiece BPE from pieces and scores alone: the adjacent pair whose union scores best is joined first.

A GGUF of this kind carries no merges, and deriving them (half a million for Gemma) costs far more than merging by
score, which is what SentencePiece itself does (arXiv 1808.06226). Characters without a piece fall back to their bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

from whybox.errors import UnsupportedError
from whybox.text.codec import Piece
from whybox.text.vocabulary import SPACE_MARK, Finder


@dataclass(frozen=True)
class SentencePieceCodec:
    """ids: piece → id, without control and byte tokens. cost: piece → −score. whole: tokens cut out before merging."""

    ids: Mapping[str, int]
    cost: Mapping[str, float]
    byte_ids: Mapping[int, int]
    unknown: int | None
    whole: Finder
    space_prefix: bool

    def pieces(self, text: str, opening: bool) -> list[Piece]:
        """A space is put before every run of text, not only the opening one, where the file asks for one."""
        found: list[Piece] = []
        done = place = 0
        for match in self.whole.find(text):
            found += self._run(text[done : match.start], place)
            place += len(text[done : match.start].encode())
            width = len(text[match.start : match.end].encode())
            found.append(Piece(match.id, place, place + width))
            done, place = match.end, place + width
        return found + self._run(text[done:], place)

    def content(self) -> str:
        """Pieces, costs and bytes in the order of the file, and what is cut out before."""
        parts = (self.ids, self.cost, self.byte_ids, self.unknown, self.whole.controls, self.space_prefix)
        return "\n".join(map(repr, parts))

    def _run(self, text: str, place: int) -> list[Piece]:
        if not text:
            return []
        marked = text.replace(" ", SPACE_MARK)
        added = 1 if self.space_prefix else 0
        symbols = join_by_cost(SPACE_MARK * added + marked, self.cost)
        return list(self._with_spans(symbols, text, place, added))

    def _with_spans(self, symbols: list[str], text: str, place: int, added: int) -> Iterator[Piece]:
        character = -added
        for symbol in symbols:
            source = text[max(character, 0) : character + len(symbol)]
            end = place + len(source.encode())
            yield from self._ids_of(symbol, place, end)
            character, place = character + len(symbol), end

    def _ids_of(self, symbol: str, start: int, end: int) -> Iterator[Piece]:
        if symbol in self.ids:
            yield Piece(self.ids[symbol], start, end)
            return
        # A symbol without a piece is one character of the text itself, or the mark that stands for a space.
        data = symbol.encode()
        if all(byte in self.byte_ids for byte in data):
            shown = len(data) == end - start
            for offset, byte in enumerate(data):
                yield Piece(self.byte_ids[byte], start + offset * shown, start + offset + 1 if shown else end)
        elif self.unknown is not None:
            yield Piece(self.unknown, start, end)
        else:
            raise UnsupportedError(
                f"the vocabulary has neither a piece, nor bytes, nor an unknown token for {symbol!r}"
            )


def join_by_cost(text: str, cost: Mapping[str, float]) -> list[str]:
    """Characters of `text`, joined pair by pair, cheapest union first and leftmost among equals. O(n log n).

    `cost` {"ab": 1, "bc": 0}: "abc" → ["a", "bc"].
    """
    symbols = list(text)
    count = len(symbols)
    before, after = list(range(-1, count - 1)), list(range(1, count + 1))
    queue = [
        (cost[pair], left, left + 1, pair) for left, pair in enumerate(map("".join, pairwise(text))) if pair in cost
    ]
    heapify(queue)

    def offer(left: int, right: int) -> None:
        if left >= 0 and right < count and (union := symbols[left] + symbols[right]) in cost:
            heappush(queue, (cost[union], left, right, union))

    while queue:
        _, left, right, union = heappop(queue)
        # An offer is stale once either side was joined elsewhere: emptied, or grown.
        if not symbols[left] or not symbols[right] or len(symbols[left]) + len(symbols[right]) != len(union):
            continue
        symbols[left], symbols[right] = union, ""
        after[left] = after[right]
        if after[right] < count:
            before[after[right]] = left
        offer(before[left], left)
        offer(left, after[left])
    return [symbol for symbol in symbols if symbol]
