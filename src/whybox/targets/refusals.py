"""What an endpoint does instead of answering, each kind in one clear message with what to do about it."""

import json
import time
from collections.abc import Mapping
from typing import Any

from whybox.targets import wire
from whybox.targets.exchange import Answer, Unreached
from whybox.targets.pace import seconds_asked
from whybox.targets.secrets import Key
from whybox.targets.target import Failure

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
WRONG_ADDRESS = "is base_url right? It often ends in /v1"


def refusal(model: str, base: str, key: Key | None, answer: Answer, body: str) -> Failure:
    """An HTTP status other than 200. body: its text, with nothing secret in it."""
    status, said = answer.status, wire.error_text(body)
    what, remedy, fatal = _meaning(model, base, key, status, said, wire.is_page(body))
    exhausted = "insufficient_quota" in body
    cause = f"{what} (HTTP {status}{': ' + said if said else ''})"
    again = status in RETRIED and not exhausted
    after = seconds_asked(answer.headers.get("retry-after"), answer.headers.get("retry-after-ms"), time.time())
    return Failure("http", cause, remedy, status, fatal or exhausted, again, after)


def _meaning(model: str, base: str, key: Key | None, status: int, said: str, paged: bool) -> tuple[str, str, bool]:
    """What happened, what to do, and whether every call will end so."""
    match status:
        case 401 | 403 if key is None:
            return f"{base} wants a key, and none was sent", "set OPENAI_API_KEY", True
        case 401 | 403:
            return f"{base} refused the {key!r}", f"set {key.source if key else ''} to a key that is valid there", True
        case 404 if paged or "model" not in said.lower():
            return f"{base} does not serve this address", WRONG_ADDRESS, True
        case 404:
            return f"{base} has no model {model!r}", f"GET {base}/models lists the names", True
        case 301 | 302 | 303 | 307 | 308:
            return f"{base} sends elsewhere", "give the address that it leads to as base_url", True
        case 429:
            return f"{base} was asked too often", "lower the concurrency", False
        case _ if status >= 500:
            return f"{base} failed", "see the log of the server", False
        case _:
            return f"{base} refused the request", "", False


def unreached(base: str, problem: Exception, said: str) -> Failure:
    """No answer at all. said: the problem in words, with nothing secret in them."""
    if isinstance(problem, Unreached):
        cause = f"{base} cannot be reached: {said}"
        return Failure("unreachable", cause, "is the server running, and base_url right?", fatal=True, again=True)
    return Failure("transport", f"the connection broke: {said}", again=True)


def parsed(body: bytes, base: str) -> Mapping[str, Any] | Failure:
    """The JSON object of an answer with status 200."""
    try:
        data = json.loads(body)
    except ValueError:
        return page(base) if wire.is_page(body.decode("utf-8", "replace")) else malformed("the answer is no JSON")
    if not isinstance(data, Mapping):
        return malformed("the answer is no JSON object")
    if data.get("error") and "choices" not in data:
        return Failure("http", f"{base} failed: {wire.error_text(body.decode('utf-8', 'replace'))}", again=True)
    return data


def page(base: str) -> Failure:
    """A web page where JSON should be."""
    return Failure("malformed", f"{base} answers with a web page, not with JSON", WRONG_ADDRESS, fatal=True)


def malformed(cause: str) -> Failure:
    """An answer that cannot be read; the next may be whole."""
    return Failure("malformed", cause, again=True)
