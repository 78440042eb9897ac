"""Who is asked in one test, and what becomes of what was found."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Never, assert_never

import pytest

from whybox.pytest_plugin.settings import Settings

if TYPE_CHECKING:
    from whybox.items.case import Case
    from whybox.pytest_plugin.experiment import Seen
    from whybox.targets.target import Target

TOLD = "whybox"
"""Name of the property of a test that holds its line for the summary."""


class NotHeld(AssertionError):
    """A demand is shown not to hold."""


class Undecided(AssertionError):
    """Neither shown nor refuted, where that counts as a failure."""


@dataclass(eq=False)
class Subject:
    """What `whybox_target` gives: a target by name, the settings of the test, where experiments are kept.

    Nothing is opened before an assertion asks. folder: shared by all workers of one test run.
    """

    settings: Settings
    folder: Path
    properties: list[tuple[str, object]] = field(default_factory=list, repr=False)

    def open(self) -> "Target":
        """A fresh connection or bot, or the model of this process."""
        from whybox.pytest_plugin.experiment import opened

        return opened(self.settings.target, self.settings.seed)

    def ask(self, text: str, max_tokens: int = 64) -> str:
        """One answer to one user message, greedy. InfrastructureError where none comes."""
        from whybox.pytest_plugin.experiment import answer

        return answer(self.open(), text, max_tokens)

    def judge(self, seen: "Seen") -> None:
        """Passes, fails, skips or, where the world did not hold its promise, errs."""
        __tracebackhide__ = True
        self.properties.append((TOLD, f"{seen.state}: {seen.title}"))
        self.properties += [(f"whybox.{name}", value) for name, value in seen.numbers.items()]
        match seen.state:
            case "pass":
                return
            case "fail":
                raise NotHeld(seen.text)
            case "inconclusive":
                self._undecided(seen.text)
            case "skipped":
                pytest.skip(seen.text)
            case "error":
                _err(seen)
            case _:
                assert_never(seen.state)

    def _undecided(self, text: str) -> Never:
        __tracebackhide__ = True
        match self.settings.inconclusive:
            case "skip":
                pytest.skip(text)
            case "xfail":
                pytest.xfail(text)
            case "fail":
                raise Undecided(text)
            case never:
                assert_never(never)


def _err(seen: "Seen") -> Never:
    __tracebackhide__ = True
    from whybox.errors import InfrastructureError

    raise InfrastructureError(seen.text)


def load_prompt(settings: Settings, where: str) -> "Case":
    """The case that the marker names. UsageError of pytest where it names none."""
    from whybox.items.case import Case

    if settings.prompt is None:
        raise pytest.UsageError(f'{where}: whybox_prompt needs @pytest.mark.whybox(prompt="case.yaml")')
    return Case.load(settings.prompt)
