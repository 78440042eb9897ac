"""Keys: read from the environment, sent to the endpoint, and shown to nobody."""

import json
import os
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn
from urllib.parse import quote

from whybox.errors import UsageError

HIDDEN = "[secret]"
BEGUN = 12  # so many first characters of a longer secret are hidden as well: `sk-proj-` alone is none
SHORTEST = 4  # a shorter "secret" is a word of ordinary text, and hides nothing


class Key:
    """A key and where it came from. It cannot be printed, compared with a text, copied into another process or stored.

    The secret leaves this object at one place, `Secrets.headers`.
    """

    __slots__ = ("_secret", "source")

    def __init__(self, secret: str, source: str) -> None:
        if not secret.isascii() or not secret.isprintable() or " " in secret:
            raise UsageError(
                f"the key in {source} holds a blank, a line end or a character that no header can carry",
                f"set {source} again, without quotes around it",
            )
        self._secret, self.source = secret, source

    @classmethod
    def from_environment(cls, name: str = "OPENAI_API_KEY") -> "Key | None":
        """The key in that variable, blanks around it removed; None where there is none."""
        found = os.environ.get(name, "").strip()
        return cls(found, name) if found else None

    def __repr__(self) -> str:
        return f"<key from {self.source}>"

    def __deepcopy__(self, memo: object) -> "Key":
        return self

    def __copy__(self) -> "Key":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: each process reads it from its own environment")


class Secrets:
    """All that an endpoint is sent and nobody may see: the key, and the values of extra headers."""

    __slots__ = ("_extra", "_hidden", "_key")

    def __init__(self, key: Key | None = None, extra_headers: Mapping[str, str] | None = None) -> None:
        self._key = key
        self._extra = dict(extra_headers or {})
        for name, value in self._extra.items():
            if not (name.isascii() and name.isprintable() and value.isascii() and value.isprintable()):
                raise UsageError(f"extra header {name!r} holds a character that no header can carry")
        self._hidden = tuple(_spellings([*([key._secret] if key else []), *self._extra.values()]))

    def headers(self) -> dict[str, str]:
        """What is sent with every request."""
        own = {"Authorization": f"Bearer {self._key._secret}"} if self._key else {}
        return own | self._extra

    def hide(self, text: str) -> str:
        """The text with every secret in it blotted out: plain, quoted, percent-encoded or in base64, whole or begun."""
        for secret in self._hidden:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        for secret in (each for each in self._hidden if len(each) > BEGUN):
            while (start := text.find(secret[:BEGUN])) >= 0:
                text = text[:start] + HIDDEN + text[start + _shared(text[start:], secret) :]
        return text

    def __repr__(self) -> str:
        return f"<{len(self._hidden)} secrets>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not pickled: each process reads them from its own environment")


def _spellings(secrets: Iterable[str]) -> list[str]:
    """Every way in which a secret may come back, longest first: `Bearer x` as a whole before x."""
    known = {secret for secret in secrets if len(secret) >= SHORTEST}
    known |= {word for secret in known for word in secret.split() if len(word) >= 2 * SHORTEST}
    ways = {way for secret in known for way in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))}
    ways |= {way for secret in known for way in _encoded(secret) if len(way) >= 2 * SHORTEST}
    return sorted(ways, key=lambda way: (-len(way), way))


def _shared(text: str, secret: str) -> int:
    """How many characters both begin with."""
    return next((n for n, (a, b) in enumerate(zip(text, secret, strict=False)) if a != b), min(len(text), len(secret)))


def _encoded(secret: str) -> Iterator[str]:
    """In base64 behind any text (`user:key`): the characters that no neighbour has a part in."""
    for before in range(3):
        data = b" " * before + secret.encode()
        start, stop = (0, 2, 3)[before], len(data) * 8 // 6
        yield from (encode(data).decode()[start:stop] for encode in (b64encode, urlsafe_b64encode))
