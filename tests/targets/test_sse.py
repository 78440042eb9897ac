"""Streams of events: every way to cut the bytes gives the same events."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from whybox.targets.sse import EventStream

STREAM = (
    '\ufeff: comment\n\nevent: x\nid: 7\ndata: {"t": "天氣😊"}\n\n'
    "data: one\ndata: two\n\ndata:tight\r\n\r\ndata: bare\r\rdata: sep\u2028inside\n\n: ping\n\ndata: [DONE]\n\n"
).encode()
EVENTS = ['{"t": "天氣😊"}', "one\ntwo", "tight", "bare", "sep\u2028inside", "[DONE]"]


def read(pieces: list[bytes]) -> list[str]:
    stream = EventStream()
    return [event for piece in pieces for event in stream.feed(piece)] + list(stream.end())


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_cuts_do_not_matter(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(STREAM)})
    assert read([STREAM[a:b] for a, b in pairwise(places)]) == EVENTS


def test_byte_by_byte() -> None:
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == EVENTS


def test_the_last_event_needs_no_empty_line() -> None:
    assert read([b"data: a\n\ndata: b"]) == ["a", "b"]
    assert read([b"data: a\n\n\n\n", b"\r\n"]) == ["a"]
    assert read([b""]) == []


def test_a_character_that_never_ends_is_marked() -> None:
    assert read([b"data: \xe5\xa4"]) == ["\ufffd"]
