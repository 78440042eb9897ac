"""An exercise reads nothing outside its folder, starts nothing, and outlives nothing: each way out is tried.

On Linux the walls of the kernel are tried by themselves as well: the hook of Python, which gives the clear message, is
left out there, as it is by code that reaches raw memory.
"""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

import whybox
from whybox.errors import UsageError
from whybox.learn.course import folders, sandbox
from whybox.learn.course.cell import kernel
from whybox.learn.course.sandbox import Limits, Line, Piece, Ran, run

DRIVE = "def drive(code, inputs):\n    return {'out': code.f(inputs['x'])}\n"
T = TypeVar("T")
SECRET = "the text that nobody may read"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux")


def ran(body: str, limits: Limits | None = None, head: str = "") -> Ran:
    """`body` is the inside of a function of x; it returns an array."""
    source = f"import numpy as np\n{head}\ndef f(x):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    return run(Piece(source, ("f",), DRIVE), {"x": np.arange(7.0)}, limits)


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    path.write_text(SECRET, "utf-8")
    return path


def test_it_computes() -> None:
    done = ran("print('seen'); x *= 2; return np.linalg.norm(x[:, None] - x, axis=-1) + x")
    assert (done.state, done.printed) == ("done", "seen\n")
    x = 2.0 * np.arange(7)
    assert np.array_equal(done.outputs["out"], np.linalg.norm(x[:, None] - x, axis=-1) + x)
    assert {"audit", "limits"} <= set(done.walls) or sys.platform == "win32"


READ = {
    "open": "return np.frombuffer(open(r'{secret}', 'rb').read(), np.uint8)",
    "bytes path": "return np.frombuffer(open(rb'{secret}', 'rb').read(), np.uint8)",
    "np.fromfile": "return np.fromfile(r'{secret}', np.uint8)",
    "np.load": "return np.load(r'{secret}', allow_pickle=True)",
    "np.loadtxt": "return np.loadtxt(r'{secret}', str)",
    "np.memmap": "return np.array(np.memmap(r'{secret}', np.uint8, 'r'))",
    "pathlib": "import pathlib; return np.frombuffer(pathlib.Path(r'{secret}').read_bytes(), np.uint8)",
    "a module found": "os = {os}; d = os.open(r'{secret}', 0); return np.frombuffer(os.read(d, 99), np.uint8)",
    "a folder's entry": "os = {os}; d = os.open(r'{folder}', 0); e = os.open('secret.txt', 0, dir_fd=d); "
    "return np.frombuffer(os.read(e, 99), np.uint8)",
    "the folder changed": "os = {os}; os.chdir(r'{folder}'); return np.fromfile('secret.txt', np.uint8)",
    "listed": "os = {os}; return np.array(os.listdir(r'{folder}'))",
    "a link": "os = {os}; os.symlink(r'{secret}', 'mine'); return np.fromfile('mine', np.uint8)",
    "a hard link": "os = {os}; os.link(r'{secret}', 'mine'); return np.fromfile('mine', np.uint8)",
    "out of the folder": "return np.fromfile('../' * 30 + r'{secret}'[1:], np.uint8)",
    "environment": "return np.fromfile('/proc/self/environ', np.uint8)",
    "the parent's": "os = {os}; return np.fromfile(f'/proc/{{os.getppid()}}/environ', np.uint8)",
    "importlib": "import importlib; return np.array(importlib.import_module('socket').gethostname())",
    "a loader found": "s = {sys}; m = s.modules['importlib.machinery'] if 'importlib.machinery' in s.modules else "
    "s.modules['_frozen_importlib_external']\n"
    "return np.array(m.SourceFileLoader('m', r'{secret}').get_data(r'{secret}'))",
    "hook unseen": "s = {sys}; s.addaudithook(lambda *a: None); s.modules.clear(); return np.fromfile(r'{secret}')",
    "hook sought": "import types; s = {sys}; g = s.modules.get('gc') or __import__('gc'); "
    "[o for o in g.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == 'hook']",
    "hook caught": "try:\n    open('/')\nexcept PermissionError as e:\n    h = e.__traceback__.tb_next.tb_frame\n"
    "    h.f_builtins['type'] = lambda o: str\n    h.f_globals['PASSED'] = {{'open'}}\n"
    "return np.fromfile(r'{secret}', np.uint8)",
    "str in disguise": "class P(str):\n    def __contains__(self, o): return False\nreturn np.fromfile(P(r'{secret}'))",
    "subclasses": "[k for k in object.__subclasses__() if k.__name__ == 'FileLoader'] and 0\n"
    "k = [k for k in object.__subclasses__() if k.__name__ == 'FileLoader'][0]\n"
    "return np.frombuffer(k('m', r'{secret}').get_data(r'{secret}'), np.uint8)",
    "ctypes": "c = {sys}.modules['ctypes']; return np.array(c.CDLL(None).open(b'{secret}', 0))",
    "pickle": "p = {sys}.modules['pickle']; return np.array(p.loads(b'cos\\nsystem\\n(S\"true\"\\ntR.'))",
    "code rewritten": "f.__code__ = (lambda x: x).__code__; return np.zeros(1)",
}
# "str": what code that replaced `type` in our builtins gets told of its own error


def _reach(name: str) -> str:
    """How code that may import nothing gets at a module: through the globals of a function of NumPy's."""
    return f"np.savetxt.__wrapped__.__globals__['os'].sys.modules['{name}']"


@pytest.mark.parametrize("how", READ)
def test_nothing_outside_the_folder_is_read(how: str, secret: Path) -> None:
    names = {"secret": secret, "folder": secret.parent, "os": _reach("os"), "sys": _reach("sys")}
    ended = ran(READ[how].format(**names))
    assert ended.state == "raised", (how, ended)
    assert ended.kind in ("PermissionError", "ImportError", "TypeError", "str"), (how, ended)
    assert SECRET not in f"{ended.printed}{ended.said}{ended.outputs}"


def test_the_way_to_a_module_exists() -> None:
    """Else the tests above would refuse nothing."""
    assert ran(f"return np.array({_reach('os')}.getpid())").state == "done"


START = {
    "subprocess": "return np.array({sys}.modules['subprocess'].run(['true']).returncode)",
    "system": "return np.array({os}.system('true'))",
    "fork": "o = {os}\nwhile True: o.fork()",
    "a thread": "t = {sys}.modules['threading'].Thread(target=print); t.start(); return x",
    "a socket": "import socket",
    "killing": "o = {os}; o.kill(o.getppid(), 9); return x",
}


@pytest.mark.parametrize("what", START)
def test_nothing_is_started_and_nobody_killed(what: str) -> None:
    ended = ran(START[what].format(os=_reach("os"), sys=_reach("sys")))
    assert ended.state == "raised", ended
    assert ended.kind in ("PermissionError", "ImportError", "KeyError", "RuntimeError"), ended


def test_the_limit_of_time_ends_it() -> None:
    for body in ("while True: pass", "import time; time.sleep(60); return x"):
        begun = time.perf_counter()
        assert ran(body, Limits(seconds=0.4)).state == "slow"
        assert time.perf_counter() - begun < 5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_memory_and_files_have_limits() -> None:
    full = ran("return np.ones((1 << 31, 4))")
    assert (full.state, "MemoryError" in full.kind) == ("raised", True)
    ended = ran("h = open('mine', 'wb')\nfor _ in range(64): h.write(b'0' * 100_000)\nh.flush()\nreturn x")
    assert ended.state in ("died", "raised")


def test_a_file_of_its_own_is_its_own() -> None:
    """And is gone afterwards."""
    done = ran("x.tofile('mine')\nreturn np.fromfile('mine')")
    assert np.array_equal(done.outputs["out"], np.arange(7.0))


MANY = "for i in range(300): open(f'm{i}', 'wb').write(b'0' * 1_000_000)\nreturn x"


def test_many_files_are_refused() -> None:
    ended = ran(MANY)
    assert (ended.state, ended.kind) == ("raised", "PermissionError")
    assert ended.said == "an exercise opens files for writing 16 times at most"


BEYOND_THE_HOOK = """
from whybox.learn.course.cell import running
running.watch = lambda: None
running.main()
"""


@LINUX
@pytest.mark.parametrize(
    "body", [MANY, "for i in range(9999): open(f'm{i}', 'w')\nimport time; time.sleep(9)\nreturn x"]
)
def test_a_full_folder_ends_it_without_the_hook(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a look's worth is never written, and nothing of it stays."""
    monkeypatch.setattr(sandbox, "START", f"import sys; sys.path[:0] = sys.argv[1:]\n{BEYOND_THE_HOOK}")
    ended = ran(f"import time\n{body.replace('return x', 'time.sleep(9); return x')}")
    assert ended.state == "full", ended
    assert ended.took_s < 5


def test_what_a_killed_owner_left_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that lives, is new, is another's by its name, or leads elsewhere."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    kept = tmp_path / "elsewhere"
    for folder in (kept, *(tmp_path / name for name in (f"whybox-cell-{gone.pid}-a", f"whybox-cell-{os.getpid()}-b",
                                                        f"whybox-cell-{gone.pid}-new", "whybox-cell-x"))):  # fmt: skip
        folder.mkdir()
        (folder / "order.json").write_text("{}")
        if not folder.name.endswith("new"):
            os.utime(folder, (0, 0))
    (tmp_path / f"whybox-cell-{gone.pid}-link").symlink_to(kept)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders.clear_stale.cache_clear()
    folders.clear_stale()
    left = {f"whybox-cell-{os.getpid()}-b", f"whybox-cell-{gone.pid}-new", "whybox-cell-x", "elsewhere"}
    assert {each.name for each in tmp_path.iterdir()} - {f"whybox-cell-{gone.pid}-link"} == left
    assert (kept / "order.json").exists()


def test_what_a_child_tells_is_bounded() -> None:
    """It may write where the parent listens; what it forges there is as short as what is true."""
    flood = f"w = {_reach('os')}.write\nwhile True: w(3, b'0' * 1_000_000)"
    begun = time.perf_counter()
    assert ran(flood, Limits(seconds=5)).state == "garbled"
    assert time.perf_counter() - begun < 5
    forged = '{"state": "done", "printed": "' + "0" * 4_002 + '"}'
    assert ran(f"{_reach('os')}.write(3, {forged.encode()!r} + b'\\n')\nreturn x").state == "garbled"
    long = "b' ' * 200_000 + b'{\"state\": \"done\"}\\n'"
    assert ran(f"{_reach('os')}.write(3, {long})\nreturn x").state == "garbled"


def test_much_is_printed() -> None:
    loud = ran("for _ in range(100_000): print('much' * 9)\nreturn x")
    assert (loud.state, len(loud.printed)) == ("done", 4_001)


def test_the_end_of_the_process_is_not_the_learners() -> None:
    head = "import functools"
    at_exit = f"{_reach('sys')}.modules['atexit'].register(print, 'later')\nreturn x"
    assert ran(at_exit, head=head).state in ("done", "raised")
    assert ran(f"{_reach('os')}._exit(0)").state == "died"
    assert ran(f"{_reach('os')}.write(3, b'{{}}' * 9 + b'\\n')\nreturn x").state == "garbled"
    assert ran("raise SystemExit").kind == "SystemExit"


def test_an_error_is_told_by_the_learners_own_lines() -> None:
    ended = ran("return helper(x)", head="def helper(x):\n    return np.linalg.inv(x)")
    assert ended.kind == "LinAlgError"
    assert ended.where == (Line(5, "return helper(x)"), Line(3, "return np.linalg.inv(x)"))
    assert "whybox" not in ended.said
    broken = run(Piece("x = 1\ndef f(x:\n", ("f",), DRIVE), {})
    assert (broken.kind, broken.where) == ("SyntaxError", (Line(2, "def f(x:"),))
    assert run(Piece("y = 1", ("f", "y", "g"), DRIVE), {}).missing == ("f", "g")


def test_what_cannot_be_an_answer() -> None:
    assert ran("return object()").kind == "TypeError"
    deep = ran("return f(x)")
    assert deep.kind == "RecursionError"
    assert len(deep.where) == 20
    with pytest.raises(UsageError, match="100,000"):
        run(Piece("#" * 100_001, (), DRIVE), {})


def test_nothing_of_the_users_environment_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_SECRET", SECRET)
    done = ran(f"return np.array(sorted({_reach('os')}.environ))")
    assert done.state == "done"
    assert not {"WHYBOX_SECRET", "HOME", "PATH"} & set(done.outputs["out"])


ALONE = f"""
import os, sys
sys.path[:0] = [{str(Path(whybox.__file__).parents[1])!r}]
from whybox.learn.course.cell import kernel
import ctypes, socket, numpy
os.chdir(sys.argv[1])
walls = kernel.limit(5, 1 << 31, 1 << 20) + kernel.lock(os.getcwd())
def refused(act):
    try:
        act()
    except (OSError, RuntimeError, ValueError):
        return True
    return False
libc = ctypes.CDLL(None)
open("mine", "w").write("own")
acts = [
    lambda: open(sys.argv[2]),
    lambda: os.open(sys.argv[2], os.O_RDONLY),
    lambda: os.listdir("/"),
    lambda: os.symlink(sys.argv[2], "link"),
    lambda: os.fork(),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: socket.socket(),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.chmod(sys.argv[2], 0),
    lambda: os.unlink(sys.argv[2]),
    lambda: os.setsid(),
    lambda: __import__("_thread").start_new_thread(print, ()),
    lambda: __import__("resource").setrlimit(0, (9, 9)),
]
open_ones = [number for number, act in enumerate(acts) if not refused(act)]
print(*walls, open_ones or "all refused", open("mine").read())
"""


@LINUX
def test_the_kernel_refuses_by_itself(secret: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path), str(secret)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert ended.stdout.split(" ", 3)[3] == "all refused own\n", ended.stdout + ended.stderr
    assert secret.read_text("utf-8") == SECRET


@LINUX
def test_the_list_of_calls_fits_both_machines() -> None:
    for column in (0, 1):
        numbers = [calls[column] for calls in kernel.CALLS.values() if calls[column] is not None]
        assert len(numbers) == len(set(numbers))
    assert len(kernel._program(0xC000003E, 0)) % 8 == 0


SLEEPS = """
import sys
from whybox.learn.course.sandbox import Limits, Piece, run
source = "import time\\ndef f(x): time.sleep(60)"
run(Piece(source, ("f",), "def drive(code, inputs): code.f(0)"), {}, Limits(seconds=60))
"""


@LINUX
def test_it_does_not_outlive_its_parent() -> None:
    """Killed without a chance to end it."""
    parent = subprocess.Popen([sys.executable, "-c", SLEEPS])
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    child = _until(lambda: (children.read_text().split() or [""])[0])
    asleep = Path(f"/proc/{child}/status")
    assert _until(lambda: "Seccomp:\t2" in asleep.read_text()), "it runs behind the kernel's walls first"
    parent.kill()
    parent.wait()
    assert _until(lambda: not asleep.exists() or "State:\tZ" in asleep.read_text())


def _until(holds: Callable[[], T]) -> T:
    deadline = time.monotonic() + 20
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
