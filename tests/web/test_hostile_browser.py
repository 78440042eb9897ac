"""Pages of other origins in a real browser that is signed in: nothing that they ask reaches the application."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.report.conftest import CHROMIUM
from tests.web.serving import TOKEN, Running, no_model, running
from whybox.web.guard import Guard

pytestmark = pytest.mark.browser

ATTACK = """<!doctype html><title>another site</title><body><script type="module">
const at = "TARGET", said = window.said = {};
const tried = async (name, work) => {
  try { said[name] = await work(); } catch (error) { said[name] = `stopped: ${error.name}`; }
};
const body = JSON.stringify({ state: { prompt: { kind: "text", parts: [{ name: "p", text: "x" }] } } });
const asking = { method: "POST", body, credentials: "include" };
const json = { headers: { "content-type": "application/json" } };
const plain = { mode: "no-cors", headers: { "content-type": "text/plain" } };
await tried("read", async () => (await fetch(`${at}/api/read`, { ...asking, ...json })).text());
await tried("blind", async () => (await fetch(`${at}/api/read`, { ...asking, ...plain })).type);
await tried("health", async () => (await fetch(`${at}/api/health`)).text());
await tried("page", async () => (await fetch(`${at}/`, { credentials: "include", mode: "no-cors" })).type);
const loaded = (name, kind, given) => tried(name, () => new Promise((done) => {
  const element = Object.assign(document.createElement(kind), given);
  element.onload = () => done("loaded");
  element.onerror = () => done("refused");
  setTimeout(() => done("nothing came"), 1500);
  document.body.append(element);
}));
await loaded("script", "script", { src: `${at}/assets/store.js`, type: "module" });
await loaded("image", "img", { src: `${at}/pages/x/model.png` });
await loaded("frame", "iframe", { src: `${at}/`, name: "inner" });
const sent = { action: `${at}/api/read`, method: "post", target: "inner", enctype: "text/plain" };
const form = Object.assign(document.createElement("form"), sent);
form.append(Object.assign(document.createElement("input"), { name: body, value: "" }));
document.body.append(form);
form.submit();
await new Promise((done) => setTimeout(done, 400));
said.done = true;
</script>"""


ARRIVED: list[tuple[str, int | None]] = []


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """Without a model; what arrives is written down with the status by which it was refused, None where it was not."""
    refusal = Guard._refusal

    def noted(self: Guard, scope: Any) -> Any:
        found = refusal(self, scope)
        ARRIVED.append((f"{scope['method']} {scope['path']}", None if found is None else found.status_code))
        return found

    with pytest.MonkeyPatch.context() as patch, running(no_model) as found:
        patch.setattr(Guard, "_refusal", noted)
        yield found


@pytest.fixture(scope="module")
def attacker(server: Running) -> Iterator[int]:
    """The port of another server, whose page asks this one, also by the name that it was opened with."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            port = server.url.rsplit(":")[-1]
            name = self.headers["host"].rsplit(":")[0]
            target = f"http://{name}:{port}" if "?as=own" in self.path else server.url
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(ATTACK.replace("TARGET", target).encode())

        def log_message(self, *_: object) -> None:
            pass

    other = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    yield other.server_port
    other.shutdown()


@pytest.fixture(scope="module")
def misled() -> Iterator[Any]:
    """A browser in which a foreign name leads to this machine, as after DNS rebinding."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no chromium at {CHROMIUM}")
    rules = "--host-resolver-rules=MAP *.example 127.0.0.1"
    with playwright.sync_playwright() as session:
        args = ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--no-first-run", rules]
        chromium = session.chromium.launch(executable_path=str(CHROMIUM), args=args)
        yield chromium
        chromium.close()


@pytest.fixture
def signed_in(misled: Any, server: Running) -> Iterator[Callable[[str], Any]]:
    """Opens a page of another site beside the explorer's own, and waits until it has tried everything."""
    context = misled.new_context()
    own = context.new_page()
    own.goto(server.page)
    own.get_by_text("take another file").wait_for()
    assert own.title() == "whybox explorer"

    def open_page(url: str) -> Any:
        ARRIVED.clear()
        page = context.new_page()
        page.goto(url)
        page.wait_for_function("window.said.done", timeout=20_000)
        return page

    yield open_page
    context.close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "evil.example"])
def test_another_sites_page_gets_and_does_nothing(signed_in: Callable, attacker: int, name: str) -> None:
    """On another port of this machine the cookie is even sent: ports are one site."""
    page = signed_in(f"http://{name}:{attacker}/")
    said = page.evaluate("window.said")
    assert said["read"].startswith("stopped")
    assert said["health"].startswith("stopped")
    assert (said["script"], said["image"]) == ("refused", "refused")
    assert "explorer" not in "".join(frame.content() for frame in page.frames[1:])
    assert {asked for asked, _ in ARRIVED} >= {"POST /api/read", "GET /api/health", "GET /", "GET /assets/store.js"}
    assert len(ARRIVED) >= 6
    assert {status for _, status in ARRIVED} == {403}


def test_a_foreign_name_for_this_machine_gets_nothing(signed_in: Callable, attacker: int, server: Running) -> None:
    """DNS rebinding: the page's own name leads to this server, so that the browser calls its requests same-site."""
    page = signed_in(f"http://rebound.example:{attacker}/?as=own")
    assert page.evaluate("window.said")["read"].startswith("stopped")
    direct = page.goto(f"http://rebound.example:{server.url.rsplit(':')[-1]}/?token={TOKEN}")
    assert direct is not None
    assert direct.status == 421
    assert "whybox explorer" not in page.content()
    assert len(ARRIVED) >= 7
    assert {status for _, status in ARRIVED} == {421}
