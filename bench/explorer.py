"""The explorer as somebody feels it: first view, what-if, scrolling, and twenty clients at once on two models.

    python -m bench.explorer [--long N] [--clients N] [--tokens N] [--json]

A real Chromium visits `whybox serve --beside @int8`. first_view: from the address to a page that can be typed into.
what_if: from a change of the state to its number on the page, on 100 tokens, the median of five of each kind.
frames: a second while 4,000 tokens, and the page of `look` of them, are scrolled, for everything in them that scrolls;
worst: the longest frame, in ms. look_s: from the click to that page. Then
clients: each asks about a prompt of its own, of its own model, with a head switched off; each answer is compared with
what it is for that client alone. health: the longest that `/api/health` took meanwhile.
Exit code 1 when a bound of the explorer is broken.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from playwright.sync_api import Page, sync_playwright

FIRST_VIEW_S = 1.0
WHAT_IF_MS = 300.0
FRAMES = 30.0
HEALTH_S = 1.0
SENTENCE = "The capital of France is a large city. "
OTHER = SENTENCE.replace("France", "Peru")
HEAD = {"kind": "head", "head": 1, "on": True}
KINDS: dict[str, Callable[[int], dict[str, object]]] = {
    "head": lambda n: HEAD | {"layer": n},
    "part hidden": lambda n: {"kind": "cut", "segment": "a", "by": ("decision", "all")[n % 2], "on": True},
    "edge": lambda n: {"kind": "edge", "key": 5 + n, "on": True},
    "part reworded": lambda n: {"kind": "reword", "segment": "a", "text": OTHER * (5 + n % 2)},
}  # fmt: skip
REPEATS = 5
LONGEST_MS = 300_000  # for one answer about 4,000 tokens
SETTLING_MS = 3_000  # the first look at a report draws all of its maps

WHAT_IF = """async (change) => {
  const { store } = window.explorer;
  store.set({ changes: [] });
  while (document.querySelector(".effect")) await new Promise(requestAnimationFrame);
  const began = performance.now();
  store.set({ changes: [change] });
  while (!document.querySelector(".effect")?.textContent) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""

SCROLL = """async () => {
  const long = [...document.querySelectorAll("*")].filter((one) => one.scrollHeight > one.clientHeight + 200
    && (one === document.scrollingElement || /auto|scroll/.test(getComputedStyle(one).overflowY)));
  const frame = () => new Promise((done, failed) => {
    requestAnimationFrame(done);
    setTimeout(() => failed(new Error("no frame in 5 s: nothing of this page is in view")), 5000);
  });
  const found = [];
  for (const one of long) {
    one.scrollIntoView({ block: "nearest" });
    await frame();
    const frames = [];
    for (let last = await frame(), n = 0; n < 90; n += 1) {
      one.scrollTop += n < 45 ? 60 : -60;
      const now = await frame();
      frames.push(now - last);
      last = now;
    }
    const name = [one.localName, one.id && `#${one.id}`, one.className && `.${one.className}`].join("");
    found.push({ name, frames: 1000 * frames.length / frames.reduce((a, b) => a + b), worst: Math.max(...frames) });
  }
  return found;
}"""


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """Address with its token, and the process, once both models are there."""
    command = [sys.executable, "-m", "whybox", "serve", "--beside", "@int8", "--no-open", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            with client(address) as asking:
                while asking.get("/api/health").json()["status"] == "opening":
                    time.sleep(0.1)
                asking.post("/api/pair", json={"state": state("Two models are opened.", other=True)}).raise_for_status()
            yield address, server.pid
        finally:
            server.terminate()


def client(address: str) -> httpx.Client:
    taken = urlsplit(address)
    token = parse_qs(taken.query)["token"][0]
    return httpx.Client(
        base_url=f"{taken.scheme}://{taken.netloc}", headers={"authorization": f"Bearer {token}"}, timeout=900
    )


def state(text: str, change: dict[str, object] | None = None, other: bool = False) -> dict[str, object]:
    """What a page would send. other: the second model beside the first."""
    found: dict[str, object] = {"prompt": {"kind": "text", "parts": [{"name": "a", "text": text}]}}
    if change:
        found["changes"] = [change]
    if other:
        found["other"] = {"kind": "model", "name": "smollm2@int8"}
    return found


def felt(address: str, tokens: int) -> dict[str, Any]:
    """What a browser measures."""
    with sync_playwright() as browsers:
        options = ["--no-sandbox", "--disable-background-networking"]
        chromium = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = chromium.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(address)
        page.locator(".choices button").first.wait_for()
        page.locator("#editor textarea").first.wait_for()
        first = time.perf_counter() - began
        found = {"first_view_s": first, "what_if_ms": what_ifs(page)} | scrolled(page, tokens)
        chromium.close()
    return found


def what_ifs(page: Page) -> dict[str, float]:
    page.evaluate("(prompt) => window.explorer.store.set({ prompt, changes: [] })", state(SENTENCE * 11)["prompt"])
    page.locator("#next tbody tr").first.wait_for()
    page.evaluate(WHAT_IF, HEAD | {"layer": 20})  # the prompt's own run is there from now on
    return {
        kind: median(page.evaluate(WHAT_IF, change(number)) for number in range(REPEATS))
        for kind, change in KINDS.items()
    }


def scrolled(page: Page, tokens: int) -> dict[str, Any]:
    tell(f"{tokens:,} tokens")
    long = state(SENTENCE * (tokens // 9))["prompt"]  # and one more: the blank at its end
    with page.expect_response("**/api/compare", timeout=LONGEST_MS):  # tokens are read before it is asked
        page.evaluate("(prompt) => window.explorer.store.set({ prompt, changes: [] })", long)
    page.locator("#token-count", has_text=f"{tokens // 9 * 9 + 1:,} ").wait_for()
    chips = page.evaluate(SCROLL)
    began = time.perf_counter()
    tell("look at them")
    page.locator("[data-look]").click()
    page.locator("#head-tools button").first.wait_for(timeout=LONGEST_MS)  # the report has opened a head
    took = time.perf_counter() - began
    page.locator("#frame iframe").scroll_into_view_if_needed()  # a browser draws no frame that is out of view
    page.wait_for_timeout(SETTLING_MS)
    return {"scroll": chips, "look_s": took, "scroll_look": page.frames[-1].evaluate(SCROLL)}


def prompts(clients: int, tokens: int) -> list[tuple[str, bool]]:
    """One of its own for each: a name in front, so that none begins as another does. Every second asks both models."""
    return [
        (f"Client {number} asks. " + SENTENCE.replace("France", f"land {number}") * (tokens // 10), number % 2 == 1)
        for number in range(clients)
    ]


def answer(asking: httpx.Client, text: str, other: bool) -> tuple[str, list[float]]:
    """The prompt that came back, and the numbers of its answer: most probable tokens, and what was asked about them."""
    asked = state(text, None if other else HEAD | {"layer": 3}, other)
    found = asking.post("/api/pair" if other else "/api/compare", json={"state": asked}).raise_for_status().json()
    sides = [number for row in found["next"] for number in row.values() if isinstance(number, float)]
    return found["state"]["prompt"]["parts"][0]["text"], [*sides, found["kl_ab" if other else "kl"]]


def crowded(address: str, pid: int, clients: int, tokens: int) -> dict[str, Any]:
    """Everybody at once, then each alone."""
    asked, waits, done = prompts(clients, tokens), list[float](), list[bool]()

    def watch() -> None:
        with client(address) as asking:
            while not done:
                began = time.perf_counter()
                asking.get("/api/health")
                waits.append(time.perf_counter() - began)
                time.sleep(0.05)

    def one(mine: tuple[str, bool]) -> tuple[float, tuple[str, list[float]]]:
        with client(address) as asking:
            began = time.perf_counter()
            found = answer(asking, *mine)
            return time.perf_counter() - began, found

    before = resident(pid)
    with ThreadPoolExecutor(clients + 1) as pool:
        watching = pool.submit(watch)
        began = time.perf_counter()
        together = list(pool.map(one, asked))
        took = time.perf_counter() - began
        done.append(True)
        watching.result()
    after = resident(pid, "VmHWM")
    alone = [one(mine)[1] for mine in asked[: min(6, clients)]]
    mixed = sum(found[0] != mine[0] for mine, (_, found) in zip(asked, together, strict=True))
    mixed += sum(not same(found, own) for (_, found), own in zip(together, alone, strict=False))
    return {
        "clients": clients, "tokens": tokens, "mixed_up": mixed,
        "all_s": took, "longest_s": max(seconds for seconds, _ in together),
        "health_s": max(waits), "memory_gb": [before / 1e9, after / 1e9],
    }  # fmt: skip


def same(found: tuple[str, list[float]], own: tuple[str, list[float]]) -> bool:
    pairs = zip(found[1], own[1], strict=True)
    return found[0] == own[0] and all(abs(a - b) <= 1e-5 + 1e-3 * abs(b) for a, b in pairs)


def resident(pid: int, row: str = "VmRSS") -> int:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(row))


def broken(found: dict[str, Any]) -> Iterator[str]:
    """Every bound that does not hold."""
    if found["first_view_s"] > FIRST_VIEW_S:
        yield f"first view {found['first_view_s']:.2f} s"
    for kind, took in found["what_if_ms"].items():
        if took > WHAT_IF_MS:
            yield f"{kind}: {took:.0f} ms"
    for where in ("scroll", "scroll_look"):
        if not found[where]:
            yield f"{where}: nothing there is long"
        yield from (f"{where}: {one}" for one in found[where] if one["frames"] < FRAMES)
    if found["crowd"]["mixed_up"]:
        yield f"{found['crowd']['mixed_up']} answers were not their client's"
    if found["crowd"]["health_s"] > HEALTH_S:
        yield f"the server was silent for {found['crowd']['health_s']:.1f} s"


def tell(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("--long", type=int, default=4_050, help="tokens that are scrolled, and looked at")
    reading.add_argument("--clients", type=int, default=20, help="at once")
    reading.add_argument("--tokens", type=int, default=1_800, help="of a client's prompt")
    reading.add_argument("--json", action="store_true")
    options = reading.parse_args()
    with serving() as (address, pid):
        tell("the page")
        found = felt(address, options.long)
    with serving() as (address, pid):
        tell("the clients")
        found["crowd"] = crowded(address, pid, options.clients, options.tokens)
    said = list(broken(found))
    if options.json:
        print(json.dumps(found | {"broken": said}, indent=1))
    else:
        for name, value in found.items():
            print(f"{name}: {value}")
        print("\n".join(said) or "every bound holds")
    sys.exit(1 if said else 0)


if __name__ == "__main__":
    main()
