"""What the library talks to, small and local: aliases with their wheels, a hub, a listener."""

import base64
import hashlib
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from whybox.library.aliases import Alias, HubFile, Licence, WheelPart

COMMIT = "1234567890123456789012345678901234567890"


def content_of(size: int) -> bytes:
    """Bytes that begin as a GGUF file does and repeat nowhere, so that parts in the wrong order are another file."""
    blocks = (hashlib.sha256(bytes([i % 251, i // 251 % 251, i // 63001])).digest() for i in range(size // 32 + 1))
    return (b"GGUF" + b"".join(blocks))[:size]


def fake_alias(content: bytes, parts: int = 1, name: str = "tiny", notice: str = "") -> Alias:
    return Alias(
        name=name,
        title="A tiny file",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        parts=tuple(
            WheelPart(f"{name}-model-part{i}", "1.0.0", f"{name}_model_part{i}/data/file.{i:02d}") for i in range(parts)
        ),
        hub=HubFile("org/tiny", "main", "tiny.gguf"),
        licence=Licence("Test", "https://example.org/licence", notice),
    )


def build_wheels(folder: Path, alias: Alias, content: bytes) -> list[Path]:
    """The wheels of the alias: its content cut into equal consecutive pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    step = -(-len(content) // len(alias.parts))
    return [build_wheel(folder, part, content[i * step : (i + 1) * step]) for i, part in enumerate(alias.parts)]


def build_wheel(folder: Path, part: WheelPart, piece: bytes, more: dict[str, bytes] | None = None) -> Path:
    info = f"{part.project.replace('-', '_')}-{part.version}.dist-info"
    members = {
        part.member: piece,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {part.project}\nVersion: {part.version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    } | (more or {})
    members[f"{info}/RECORD"] = "".join(f"{name},{_record(data)}\n" for name, data in members.items()).encode()
    wheel = folder / part.wheel
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return wheel


def _record(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(data)}"


@dataclass
class Listener:
    """A Progress that remembers what it was told."""

    lines: list[str] = field(default_factory=list)
    bars: list[tuple[str, int]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)

    def say(self, line: str) -> None:
        self.lines.append(line)

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        self.bars.append((label, total))
        yield self.done.append

    @property
    def said(self) -> str:
        return "\n".join(self.lines)


@dataclass
class Hub:
    """A hub on 127.0.0.1 with one repository, `org/tiny`."""

    files: dict[str, bytes]
    url: str = ""
    gets: list[str] = field(default_factory=list)
    stall_after: int | None = None  # bytes after which a download hangs until `go_on` is set
    go_on: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            path = self.path.split("?")[0]
            if path.startswith("/api/models/org/tiny"):
                answer = _tree(hub) if "/tree/" in path else _model_info(hub)
                self._send(json.dumps(answer).encode(), body, {"Content-Type": "application/json"})
            elif path.startswith("/org/tiny/resolve/") and (file := path.rsplit("/", 1)[-1]) in hub.files:
                if body:
                    hub.gets.append(file)
                digest = hashlib.sha256(hub.files[file]).hexdigest()
                self._send(hub.files[file], body, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()

        def _send(self, data: bytes, body: bool, headers: dict[str, str]) -> None:
            self.send_response(200)
            for name, value in (headers | {"Content-Length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            if not body:
                return
            stop = len(data) if hub.stall_after is None else hub.stall_after
            try:
                self.wfile.write(data[:stop])
                self.wfile.flush()
                if stop < len(data):
                    hub.go_on.wait(30)
                    self.wfile.write(data[stop:])
            except OSError:
                self.close_connection = True  # the other side was killed, as some tests want

        def log_message(self, format: str, *args: object) -> None:
            """Servers in tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _model_info(hub: Hub) -> dict[str, object]:
    siblings = [{"rfilename": name, "size": len(data)} for name, data in hub.files.items()]
    return {"id": "org/tiny", "modelId": "org/tiny", "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}


def _tree(hub: Hub) -> list[dict[str, object]]:
    return [{"type": "file", "path": name, "size": len(data), "oid": COMMIT} for name, data in hub.files.items()]
