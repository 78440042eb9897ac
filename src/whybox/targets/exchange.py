"""HTTP/1.1 as far as an endpoint needs it: one connection, one exchange at a time, straight on asyncio.

A general client spends most of a millisecond of processor time on an exchange, as much as many calls against a quick
server may cost in all; this one a tenth of it (docs/decisions/runs.md). Redirects, cookies and encodings are
none of its business: an endpoint that needs them is told so.
"""

import asyncio
import re
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from whybox.errors import UsageError

MOST_HEAD = 64 << 10
MOST_BYTES = 64 << 20
TOO_MUCH = f"more than {MOST_BYTES} bytes in one answer"
PIECE = 64 << 10
END = b"\r\n"
OWN_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")
_PORTS = {"http": 80, "https": 443}


class Unreached(Exception):
    """No connection came about."""


class Broken(Exception):
    """A connection ended, or carried what is no HTTP, before the answer was whole."""


@dataclass(frozen=True)
class Answer:
    """Status of an answer, and its headers by their names in lower case. Its body comes from the connection."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Route:
    """How a host is reached: its address, its proxy where the environment names one, and whom to trust."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    proxy: SplitResult | None = None

    @classmethod
    def to(cls, url: str, tls: ssl.SSLContext | None) -> "Route":
        """The route to an address. UsageError for a proxy of a kind that is not spoken."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        return cls(host, parts.port or _PORTS[parts.scheme], tls, _proxy(parts.scheme, host))

    @property
    def name(self) -> str:
        """The host as it stands in a head, with its port where that is not the usual one."""
        name = self.host if self.host.isascii() else self.host.encode("idna").decode()
        name = f"[{name}]" if ":" in name else name
        return name if self.port == (443 if self.tls else 80) else f"{name}:{self.port}"

    def head(self, method: str, url: str, headers: Mapping[str, str]) -> bytes:
        """A head without its end: more lines may follow. A proxy that is to fetch it is told the whole address."""
        path = quote(urlsplit(url).path or "/", safe="/%:@!$&'()*+,;=-._~")
        fetched = self.proxy is not None and self.tls is None
        target, more = (f"http://{self.name}{path}", self._known) if fetched else (path, {})
        return _lines(f"{method} {target} HTTP/1.1", {"Host": self.name, **more, **headers})

    async def connect(self) -> "Connection":
        """A new connection. Unreached says why there is none."""
        try:
            if self.proxy is None:
                return Connection(*await asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=MOST_HEAD))
            through = Connection(
                *await asyncio.open_connection(self.proxy.hostname, self.proxy.port or 80, limit=MOST_HEAD)
            )
            return await self._tunnelled(through) if self.tls else through
        except (OSError, UnicodeError) as problem:  # a certificate that is not trusted, a name that nobody knows
            raise Unreached(str(problem) or type(problem).__name__) from problem

    @property
    def _known(self) -> dict[str, str]:
        """Who we are to the proxy, where it asks."""
        if self.proxy is None or self.proxy.username is None:
            return {}
        known = f"{unquote(self.proxy.username)}:{unquote(self.proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {b64encode(known.encode()).decode()}"}

    async def _tunnelled(self, through: "Connection") -> "Connection":
        place = f"{self.name.removesuffix(f':{self.port}')}:{self.port}"
        try:
            answer = await through.send(_lines(f"CONNECT {place} HTTP/1.1", {"Host": place, **self._known}) + END)
            if answer.status != 200:
                raise Unreached(f"the proxy refused it (HTTP {answer.status})")
            await through.writer.start_tls(self.tls, server_hostname=self.host)  # type: ignore[arg-type]
        except BaseException:
            through.close()
            raise
        return through


def _proxy(scheme: str, host: str) -> SplitResult | None:
    """What the environment says; a proxy has no part in what stays on this machine."""
    found = getproxies()
    named = found.get(scheme) or found.get("all")
    if host in OWN_HOSTS or not named or proxy_bypass(host):
        return None
    parts = urlsplit(named if "://" in named else f"http://{named}")
    if parts.scheme != "http" or not parts.hostname:
        raise UsageError(
            f"the proxy of the environment is of kind {parts.scheme!r}; only http is spoken",
            f"name an http:// proxy, or {host} in NO_PROXY",
        )
    return parts


def _lines(first: str, headers: Mapping[str, str]) -> bytes:
    """Lines of a head. What stands in them was checked where it was set (`secrets.py`, `openai.py`)."""
    return "".join([f"{first}\r\n", *(f"{name}: {value}\r\n" for name, value in headers.items())]).encode("latin-1")


@dataclass(eq=False)
class Connection:
    """One connection. After `send`, the body is read with `pieces` or `whole`; only then may the next be sent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _length: int | None = field(default=0, init=False)  # of the body that is to be read; None: until the end
    _chunked: bool = field(default=False, init=False)
    _stays: bool = field(default=True, init=False)
    _whole: bool = field(default=True, init=False)

    @property
    def is_usable(self) -> bool:
        """Whether another exchange can begin: the last was whole, and the other side has not hung up."""
        return self._whole and self._stays and not self.reader.at_eof() and not self.writer.is_closing()

    def close(self) -> None:
        self.writer.close()

    async def send(self, data: bytes) -> Answer:
        """Sends a request whole, and reads the head of the answer. Broken where there is none."""
        self._whole = False
        try:
            self.writer.write(data)
            status, headers = 100, dict[str, str]()
            while 100 <= status < 200:  # interim answers
                version, status, headers = _head(await self.reader.readuntil(b"\r\n\r\n"))
        except (OSError, EOFError, asyncio.LimitOverrunError) as problem:
            raise Broken(_said(problem)) from problem
        self._expect(status, headers)
        ends = self._length is None and not self._chunked
        self._stays = not ends and version == "1.1" and "close" not in headers.get("connection", "").lower()
        return Answer(status, headers)

    def _expect(self, status: int, headers: Mapping[str, str]) -> None:
        """How the body ends: by its length, by its last chunk, or with the connection."""
        coding, length = headers.get("transfer-encoding", ""), headers.get("content-length")
        self._chunked = coding.lower() == "chunked"
        if coding and not self._chunked:
            raise Broken(f"the answer comes as {coding!r}, which nobody asked for")
        if headers.get("content-encoding", "identity") != "identity":
            raise Broken(f"the answer is packed as {headers['content-encoding']!r}, which nobody asked for")
        if length is not None and not length.isdecimal():
            raise Broken(f"the answer has a length of {length!r}")
        if length is not None and int(length) > MOST_BYTES:
            raise Broken(TOO_MUCH)
        self._length = 0 if status in (204, 304) else None if length is None else int(length)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Broken where it ends too early, or where no end is near."""
        read = 0
        try:
            async for piece in self._chunks() if self._chunked else self._plain():
                read += len(piece)
                if read > MOST_BYTES:
                    raise Broken(TOO_MUCH)
                yield piece
        except (OSError, EOFError, asyncio.LimitOverrunError) as problem:
            raise Broken(_said(problem)) from problem
        self._whole = True

    async def whole(self) -> bytes:
        """The body in one."""
        if self._chunked or self._length is None or self._length > PIECE:
            return b"".join([piece async for piece in self.pieces()])
        try:
            body = await self.reader.readexactly(self._length)
        except (OSError, EOFError) as problem:
            raise Broken(_said(problem)) from problem
        self._whole = True
        return body

    async def _plain(self) -> AsyncIterator[bytes]:
        left = self._length
        while left is None or left > 0:
            piece = await self.reader.read(PIECE if left is None else min(PIECE, left))
            if not piece and left is not None:
                raise EOFError
            if not piece:
                return
            left = None if left is None else left - len(piece)
            yield piece

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := _size(await self.reader.readuntil(b"\r\n")):
            while size > 0:
                if not (piece := await self.reader.read(min(size, PIECE))):
                    raise EOFError
                size -= len(piece)
                yield piece
            if await self.reader.readexactly(2) != b"\r\n":
                raise Broken("a chunk is longer than it says")
        while await self.reader.readuntil(b"\r\n") != b"\r\n":  # trailers
            pass


@dataclass(eq=False)
class Lanes:
    """Connections to one host: each carries one exchange at a time, and is kept for the next.

    headers: what stands in every head.
    """

    route: Route
    headers: Mapping[str, str]
    _free: list[Connection] = field(default_factory=list, init=False, repr=False)
    _heads: dict[tuple[str, str], bytes] = field(default_factory=dict, init=False, repr=False)

    @asynccontextmanager
    async def exchange(
        self, method: str, url: str, content: bytes, more: bytes
    ) -> AsyncIterator[tuple[Answer, Connection]]:
        """One request and its answer. more: further lines of the head. Unreached, Broken."""
        place = (method, url)
        if place not in self._heads:
            self._heads[place] = self.route.head(method, url, self.headers)
        connection = self._waiting() or await self.route.connect()
        try:
            head = b"%b%bContent-Length: %d\r\n\r\n" % (self._heads[place], more, len(content))
            yield await connection.send(head + content), connection
        finally:
            if connection.is_usable:
                self._free.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Gives all connections back."""
        while self._free:
            self._free.pop().close()

    def _waiting(self) -> Connection | None:
        """One that is open still; those that the other side has closed are let go."""
        while self._free:
            if (found := self._free.pop()).is_usable:
                return found
            found.close()
        return None


def _head(data: bytes) -> tuple[str, int, dict[str, str]]:
    """Version, status and headers. Of a name that comes twice the last counts, but for lengths that disagree."""
    first, *lines = data[:-4].decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
        raise Broken("what came back is no HTTP")
    headers: dict[str, str] = {}
    for name, _, value in (line.partition(":") for line in lines):
        name, value = name.strip().lower(), value.strip()
        if name == "content-length" and headers.get(name, value) != value:
            raise Broken("the answer has two lengths")
        headers[name] = value
    return version[5:], int(rest[:3]), headers


def _size(line: bytes) -> int:
    found = line[:-2].partition(b";")[0].strip()
    if not _SIZE.fullmatch(found):
        raise Broken("a chunk has no size")
    return int(found, 16)


def _said(problem: BaseException) -> str:
    match problem:
        case asyncio.LimitOverrunError():
            return f"a head or a line of more than {MOST_HEAD} bytes"
        case EOFError():
            return "it ended before the answer was whole"
        case _:
            return str(problem) or type(problem).__name__
