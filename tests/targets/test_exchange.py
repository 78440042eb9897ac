"""HTTP as endpoints speak it: how a body ends, what is no HTTP, when a connection is kept, and proxies."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from tests.targets.certificates import CERTIFICATE, PRIVATE_KEY
from tests.targets.scripted import Script, Scripted, http
from whybox.errors import UsageError
from whybox.targets.exchange import MOST_BYTES, Broken, Lanes, Route, Unreached

T = TypeVar("T")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def bodies(lanes: Lanes, url: str, count: int) -> list[bytes]:
    found = []
    for _ in range(count):
        async with lanes.exchange("POST", url, b"{}", b"") as (_, connection):
            found.append(await connection.whole())
    lanes.close()
    return found


def asked(answers: Script, count: int = 1, close: bool = False) -> tuple[list[bytes], Scripted]:
    """Bodies of so many exchanges, one behind the other, and the server."""
    server = Scripted(answers, close)

    async def run() -> list[bytes]:
        async with server.serving() as url:
            return await bodies(Lanes(Route.to(url, None), {}), url, count)

    return asyncio.run(run()), server


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    body = b"".join(b"%x;x=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n" + trailer + b"\r\n"


LONG = bytes(range(256)) * 1000


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (http("7 days"), b"7 days"),
        (http(""), b""),
        (http(LONG), LONG),
        (chunked(b"7", b" days"), b"7 days"),
        (chunked(LONG, b"\r\n", trailer=b"X-Sum: 3\r\n"), LONG + b"\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + http("7"), b"7"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200\r\ncontent-length:1\r\n\r\n7", b"7"),
    ],
)
def test_the_end_of_a_body_is_found_and_the_connection_kept(answer: bytes, body: bytes) -> None:
    found, server = asked([answer], 3)
    assert found == [body] * 3
    assert len(server.peers) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n\r\n7 days",
        http("7 days", headers="Connection: close\r\n"),
        http("7 days").replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
def test_a_connection_that_ends_with_its_answer_is_not_used_again(answer: bytes) -> None:
    found, server = asked([answer], 2, close=True)
    assert found == [b"7 days"] * 2
    assert len(server.peers) == 2


def test_a_connection_that_was_closed_meanwhile_is_not_used_again() -> None:
    async def run() -> list[bytes]:
        async with Scripted([http("7")], close=True).serving() as url:
            lanes = Lanes(Route.to(url, None), {})
            found = await bodies_slowly(lanes, url)
            lanes.close()
            return found

    async def bodies_slowly(lanes: Lanes, url: str) -> list[bytes]:
        found = []
        for _ in range(2):
            async with lanes.exchange("POST", url, b"", b"") as (_, connection):
                found.append(await connection.whole())
            await asyncio.sleep(0.02)  # the end of the connection arrives
        return found

    assert asyncio.run(run()) == [b"7", b"7"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "it ended before"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "it ended before"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n7", "it ended before"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n7", "a length of '-7'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n77", "two lengths"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "comes as 'gzip, chunked'"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n7", "packed as 'br'"),
        (chunked(b"7").replace(b"1;", b"-1;"), "no size"),
        (chunked(b"7 days").replace(b"6;", b"2;"), "longer than it says"),
        (chunked(b"7")[:-3], "it ended before"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 17), "a head or a line of more than 65536"),
        (f"HTTP/1.1 200 OK\r\nContent-Length: {MOST_BYTES + 1}\r\n\r\n".encode(), "bytes in one answer"),
    ],
)
def test_what_is_no_whole_answer_is_told(answer: bytes, said: str) -> None:
    with pytest.raises(Broken) as raised:
        asked([answer], close=True)
    assert said in str(raised.value)


def test_a_body_without_an_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whybox.targets.exchange.MOST_BYTES", 100_000)
    with pytest.raises(Broken, match="bytes in one answer"):
        asked([[b"HTTP/1.1 200 OK\r\n\r\n", *[LONG] * 4]], close=True)


def test_names_as_they_stand_in_a_head() -> None:
    head = Route.to("http://127.0.0.1:8000/v1", None).head("POST", "http://127.0.0.1:8000/v1/a b/ü", {"X": "1"})
    assert head == b"POST /v1/a%20b/%C3%BC HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nX: 1\r\n"
    assert Route.to("http://[::1]:8000", None).name == "[::1]:8000"
    assert Route.to("http://bücher.example", None).name == "xn--bcher-kva.example"
    assert Route.to("https://example.org", ssl.create_default_context()).name == "example.org"


def test_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for the whole address, told who we are, and has no part in what stays on this machine."""

    async def run() -> tuple[list[bytes], Scripted]:
        proxy = Scripted([http("through")])
        async with proxy.serving() as url:
            monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/v1").replace("http://", "http://me:se%20cret@"))
            found = await bodies(Lanes(Route.to("http://models.example/v1", None), {}), "http://models.example/v1/x", 1)
            assert Route.to("http://127.0.0.1:8000", None).proxy is None
            monkeypatch.setenv("NO_PROXY", "models.example")
            assert Route.to("http://models.example", None).proxy is None
            return found, proxy

    found, proxy = asyncio.run(run())
    assert found == [b"through"]
    assert proxy.heads[0].startswith("POST http://models.example/v1/x HTTP/1.1\r\nHost: models.example\r\n")
    assert "Proxy-Authorization: Basic bWU6c2UgY3JldA==\r\n" in proxy.heads[0]


def test_a_tunnel_through_a_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is encrypted goes through as it is; the key is shown to the endpoint alone."""
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    for name, text in (("ca.pem", CERTIFICATE), ("key.pem", PRIVATE_KEY)):
        (tmp_path / name).write_text(text)
    theirs.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    ours = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    monkeypatch.setattr("whybox.targets.exchange.OWN_HOSTS", frozenset())

    async def run() -> tuple[list[bytes], list[bytes]]:
        async with Scripted([http("secret")], close=False).serving(theirs) as url, tunnel() as (proxy, seen):
            monkeypatch.setenv("HTTPS_PROXY", proxy)
            route = Route.to(url, ours)
            return await bodies(Lanes(route, {"Authorization": "Bearer k"}), url, 2), seen

    found, seen = asyncio.run(run())
    assert found == [b"secret"] * 2
    assert len(seen) == 1
    assert seen[0].startswith(b"CONNECT 127.0.0.1:")
    assert b"Bearer" not in seen[0]


@asynccontextmanager
async def tunnel() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that connects what it is asked to connect: its address, and the heads that it saw."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        host, _, port = seen[-1].split()[1].decode().rpartition(":")
        there = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copied(reader, there[1]), _copied(there[0], writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    finally:
        server.close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.close()


def test_a_proxy_that_refuses_and_one_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with Scripted([http("no", "403 Forbidden")]).serving() as url:
            monkeypatch.setenv("HTTPS_PROXY", url.removesuffix("/v1"))
            await Route.to("https://models.example", ssl.create_default_context()).connect()

    with pytest.raises(Unreached, match=r"refused it \(HTTP 403\)"):
        asyncio.run(run())
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="socks5"):
        Route.to("https://models.example", ssl.create_default_context())
