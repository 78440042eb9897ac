"""Who may ask the explorer's server: tried with every kind of foreigner."""

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from whybox.web.guard import MOST_BYTES, POLICY, Address, Guard

HOST = "127.0.0.1:7000"


@pytest.fixture
def client() -> TestClient:
    async def app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("in")(scope, receive, send)

    return TestClient(Guard(app, "secret", Address(7000)), base_url=f"http://{HOST}", follow_redirects=False)


def bearer(**more: str) -> dict[str, str]:
    return {"authorization": "Bearer secret"} | more


def test_the_token_opens_the_page_once_and_leaves_the_address(client: TestClient) -> None:
    assert client.get("/").status_code == 401
    opened = client.get("/?token=secret")
    assert opened.status_code == 303
    assert opened.headers["location"] == "/"
    kept = opened.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert client.get("/").text == "in"


@pytest.mark.parametrize("given", ["", "Secret", "secret2", "sécret"])
def test_another_token_does_not(client: TestClient, given: str) -> None:
    assert client.get("/", params={"token": given}).status_code == 401
    assert client.get("/api/x", headers={"authorization": f"Bearer {given}".encode()}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example:7000", "127.0.0.1:7001", "127.0.0.1", "", "127.0.0.1.evil.example:7000"]
)
def test_a_foreign_name_for_this_machine_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/", headers=bearer(host=host)).status_code == 421


@pytest.mark.parametrize("host", ["localhost:7000", "[::1]:7000", "LOCALHOST:7000"])
def test_its_own_names_are_not(client: TestClient, host: str) -> None:
    assert client.get("/", headers=bearer(host=host)).text == "in"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:7001", "file://"])
def test_another_page_may_not_ask(client: TestClient, origin: str) -> None:
    assert client.post("/api/x", headers=bearer(origin=origin)).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_says_of_the_asker_counts(client: TestClient, site: str) -> None:
    assert client.get("/", headers=bearer(**{"sec-fetch-site": site})).status_code == 403


def test_its_own_page_may(client: TestClient) -> None:
    own = bearer(origin=f"http://{HOST}", **{"sec-fetch-site": "same-origin"})
    assert client.post("/api/x", headers=own).text == "in"


@pytest.mark.parametrize("length", [str(MOST_BYTES + 1), "-1", "many", "1" * 30, "²"])
def test_a_body_has_a_largest_size(client: TestClient, length: str) -> None:
    assert client.post("/api/x", headers=bearer(**{"content-length": length.encode("latin-1")})).status_code == 413


def test_health_needs_no_token_and_a_right_host(client: TestClient) -> None:
    assert client.get("/api/health").text == "in"
    assert client.get("/api/health", headers={"host": "evil.example"}).status_code == 421


def test_every_answer_carries_the_policy(client: TestClient) -> None:
    for answer in (client.get("/"), client.get("/", headers=bearer())):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
