"""How a run of the command line ends: one line of cause, one of remedy, and its exit code.

0 pass · 1 a gate failed · 2 usage · 3 infrastructure · 4 inconclusive under --strict · 5 nothing was run · 130 Ctrl-C.
A verb that wants to end with 1, 4 or 5 raises `typer.Exit(code)` after it has printed its result.
"""

import io
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import typer

from whybox.errors import WhyboxError
from whybox.report.visible import one_line

Lang = Literal["en", "zh"]
INTERRUPTED = 130  # 128 + SIGINT, as shells count
PIPE_CLOSED = 141  # 128 + SIGPIPE, as every other tool of a pipeline ends
FAULT = 3  # a fault of ours must not look like a failed gate (1)


@contextmanager
def exit_codes(lang: Callable[[], Lang] = lambda: "en") -> Iterator[None]:
    """Turns whatever ends a verb into its lines on stderr and its exit code. lang: known once a verb has been read.

    A verb that kept something when it was interrupted says so: `raise KeyboardInterrupt("3 of 9 runs are in x.json")`.
    """
    try:
        yield
        sys.stdout.flush()  # a reader that has gone is noticed here, not by the interpreter on its way out
    except WhyboxError as error:
        raise _told(error, lang()) from error
    except KeyboardInterrupt as stop:
        raise _told_in(lang(), INTERRUPTED, "interrupted", str(stop)) from stop
    except BrokenPipeError as gone:
        _stop_writing()
        raise typer.Exit(PIPE_CLOSED) from gone
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # rich ends so where a reader has gone
            raise typer.Exit(PIPE_CLOSED) from ended
        raise
    except MemoryError as full:
        remedy = "Use a shorter prompt, a smaller model or a lower precision."
        raise _told_in(lang(), FAULT, "out of memory", remedy) from full
    except OSError as problem:
        remedy = "Check the path, its permissions and the free space."
        raise _told_in(lang(), FAULT, str(problem), remedy) from problem
    except (typer.Exit, typer.Abort):
        raise
    except Exception as fault:
        if type(fault).__module__.startswith(("click", "typer")):
            raise  # usage errors are told by typer itself
        traceback.print_exc()
        raise _ended(FAULT, f"a fault in whybox: {type(fault).__name__}", "Please report the lines above.") from fault


def leave(ended: SystemExit) -> None:
    """Ends the process at once with its exit code: torch takes a third of a second to be taken apart.

    Nothing waits for the interpreter's own end: files are closed by then, and what was written is flushed here. Where
    another thread still runs, or the code is no number, the ordinary way is taken.
    """
    if threading.active_count() > 1 or not isinstance(ended.code, int | None):
        raise ended
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(ended.code or 0)


def utf8_streams() -> None:
    """Writes UTF-8 whatever the console's code page is; a character that cannot be shown never ends a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _told(error: WhyboxError, lang: Lang) -> typer.Exit:
    """Cause and remedy in the reader's language; the words are read where there is something to say."""
    if lang == "en":
        return _ended(error.exit_code, error.cause, error.remedy)
    from whybox.report.error_words import said

    told = said(error, lang)
    return _ended(error.exit_code, told["cause"], told["remedy"])


def _told_in(lang: Lang, code: int, cause: str, remedy: str) -> typer.Exit:
    if lang == "en":
        return _ended(code, cause, remedy)
    from whybox.report.error_words import in_language

    return _ended(code, in_language(cause, lang), in_language(remedy, lang))


def _ended(code: int, cause: str, remedy: str) -> typer.Exit:
    """Says cause and remedy, one line each, and gives the exit to raise. Names out of files move no cursor."""
    with suppress(BrokenPipeError):
        for line in (f"whybox: {cause}", remedy):
            if line:
                print(one_line(" ".join(line.splitlines())), file=sys.stderr)
    return typer.Exit(code)


def _stop_writing() -> None:
    """Sends what is left in the buffers nowhere, so that the interpreter ends without a complaint."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
