"""Who may ask: only this server's own pages, opened with its token.

A request must name an address that the server goes by (else a foreign name was pointed at this machine: DNS
rebinding), must not come from another site's page, and must carry the token. What it sends has a largest size.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whybox.errors import UsageError
from whybox.report.error_words import said
from whybox.web.language import asked_language

COOKIE = "whybox"
MOST_BYTES = 4_000_000
OPEN = ("/api/health",)
UNKNOWN_NAME = UsageError("this server does not go by that name", "open the address that whybox serve printed")
SIGNED_OUT = UsageError("this page is not signed in", "open the whole address that whybox serve printed")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """256 bits that nobody guesses."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Address:
    """Where the server listens. names: hosts that it goes by, besides this machine's own."""

    port: int
    names: tuple[str, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the Host header that mean this server."""
        own = ("127.0.0.1", "localhost", "[::1]", *self.names)
        return frozenset(f"{name}:{self.port}" for name in own) | (frozenset(own) if self.port == 80 else frozenset())


@dataclass(frozen=True)
class Guard:
    """An application behind the rules above."""

    app: ASGIApp
    token: str
    address: Address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        await self.app(scope, _bounded(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.address.hosts:
            return _refused(headers, 421, UNKNOWN_NAME)
        if not _own_page(headers, self.address.hosts):
            return _refused(headers, 403, UsageError("another site's page may not ask this server"))
        if _length(headers) > MOST_BYTES:
            return _refused(headers, 413, UsageError(f"a request has at most {MOST_BYTES:,} bytes"))
        if scope["path"] in OPEN:
            return None
        return self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A page that is opened with the token keeps it in a cookie, and loses it from its address."""
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(asked):
            page = RedirectResponse("/", status_code=303)
            page.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return page
        if self._is_token(cookie_parser(headers.get("cookie", "")).get(self.cookie, "")):
            return None
        if self._is_token(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        return _refused(headers, 401, SIGNED_OUT)

    @property
    def cookie(self) -> str:
        """Cookies know no ports: two servers of one machine keep theirs apart by name."""
        return f"{COOKIE}-{self.address.port}"

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())


def _own_page(headers: Headers, hosts: Iterable[str]) -> bool:
    """Whether a request comes from this server's own page, or from no page at all."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() in hosts


def _length(headers: Headers) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isascii() and given.isdigit() else MOST_BYTES + 1


def _bounded(receive: Receive) -> Receive:
    """A body that states no length is counted as it comes, and is cut off where it grows too large."""
    held = 0

    async def bounded() -> Message:
        nonlocal held
        message = await receive()
        held += len(message.get("body", b""))
        if held > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", POLICY)
        await send(message)

    return sending


def _refused(headers: Headers, status: int, error: UsageError) -> Response:
    return JSONResponse(said(error, asked_language(headers)), status_code=status)
