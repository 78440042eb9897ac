"""Server-sent events: bytes in pieces of any size → the data of each event. Characters may be cut across pieces."""

import codecs
from collections.abc import Iterator


class EventStream:
    """Reads a stream piece by piece. Comments, names and ids of events are passed over; data lines are joined.

    Lines end with CR, LF or both, as the standard says; bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[str]:
        """The events that are whole with this piece."""
        text = self._rest + self._decoder.decode(piece)
        held = "\r" if text.endswith("\r") else ""  # its line feed may still come
        *lines, self._rest = _lines(text.removesuffix(held))
        self._rest += held
        yield from self._events(lines)

    def end(self) -> Iterator[str]:
        """The event that was under way when the stream ended without an empty line behind it."""
        lines = _lines(self._rest + self._decoder.decode(b"", True))
        self._rest = ""
        yield from self._events([*lines, ""])

    def _events(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            if line == "" and self._data:
                yield "\n".join(self._data)
                self._data = []
            elif line.startswith("data:"):
                self._data.append(line[5:].removeprefix(" "))


def _lines(text: str) -> list[str]:
    """Only CR, LF and CRLF end a line: `str.splitlines` would also cut at U+2028, which may stand inside JSON."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
