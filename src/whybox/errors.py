"""The tree of errors. Each carries one line of cause, one line of remedy, and its exit code.

WhyboxError
├── UsageError            exit 2: the caller asked for something that cannot be
│   ├── PromptError       empty, too long, not text
│   ├── CaseError         a case file that does not say what it must
│   ├── SiteError         a site, layer, head or position that this model lacks
│   └── ModelNotFound     an alias or path that leads to no model
└── InfrastructureError   exit 3: the world outside did not hold its promise
    ├── FormatError       a file whose bytes contradict its header
    ├── LedgerError       tensors and parameters that do not match one to one
    ├── UnsupportedError  a family, tensor type, tokenizer or config key that is not implemented
    ├── DownloadError     no network, no pip, a checksum that differs
    ├── StorageError      a disk that is full or not writable
    ├── CapacityError     memory that would not suffice, with the number
    ├── EndpointError     a server that is not there, refuses the key, or has no such model
    └── NonFiniteError    NaN or Inf, at the place where it first appears
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class WhyboxError(Exception):
    """Root of every error that whybox raises on purpose.

    cause: what was expected and what came, with numbers. remedy: what to do next (may be empty).
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(f"{cause}\n{remedy}" if remedy else cause)
        self.cause = cause
        self.remedy = remedy

    def at(self, place: str) -> "WhyboxError":
        """The same error; its cause begins with the place in a file that asked for what went wrong."""
        self.cause = f"{place}: {self.cause}"
        self.args = (f"{self.cause}\n{self.remedy}" if self.remedy else self.cause,)
        return self


class UsageError(WhyboxError):
    """The caller's own mistake."""

    exit_code = 2


class PromptError(UsageError):
    """A prompt that cannot be run: empty, longer than the context, ids beyond the vocabulary."""


class CaseError(UsageError):
    """A case file that does not follow docs/case.md."""


class SiteError(UsageError):
    """A site, layer, head, expert or position that the model does not have."""


class ModelNotFound(UsageError):
    """An alias, path or hub name that leads to no model."""


class InfrastructureError(WhyboxError):
    """A file, a network, a disk or a memory that did not hold its promise."""


class FormatError(InfrastructureError):
    """A model file that contradicts itself: names the field, what was expected and what was found."""

    def __init__(self, path: object, field: str, expected: str, found: str, remedy: str = "") -> None:
        super().__init__(f"{path}: {field}: expected {expected}, found {found}", remedy)
        self.path, self.field, self.expected, self.found = path, field, expected, found


class LedgerError(InfrastructureError):
    """Tensors of the file and parameters of the model do not match one to one; both lists are kept."""

    def __init__(self, path: object, file_only: list[str], model_only: list[str], remedy: str = "") -> None:
        super().__init__(
            f"{path}: only in the file: {_listed(file_only)}; only in the model: {_listed(model_only)}", remedy
        )
        self.file_only, self.model_only = file_only, model_only


class UnsupportedError(InfrastructureError):
    """A family, tensor type, tokenizer or config key that is refused by name."""


class DownloadError(InfrastructureError):
    """A model that could not be obtained, with the command to run by hand."""


class StorageError(InfrastructureError):
    """A disk that is full, or a folder that cannot be written."""


class CapacityError(InfrastructureError):
    """Work that would not fit in memory: the number, and the way out."""


class EndpointError(InfrastructureError):
    """A server that no call can succeed on: not there, a refused key, an unknown model, a web page for an answer."""


class NonFiniteError(InfrastructureError):
    """NaN or Inf where it first appears: site, layer, position, and the largest size just before.

    what: value, weight (position: its row) or gradient; gradients appear from the read backwards.
    """

    def __init__(
        self, site: str, layer: int | None, position: int, before: str, remedy: str = "", what: str = "value"
    ) -> None:
        where = site if layer is None else f"{site} of layer {layer}"
        super().__init__(f"non-finite {what} first at {where}, position {position}; before it: {before}", remedy)
        self.site, self.layer, self.position, self.before = site, layer, position, before


def meant(word: object, known: Iterable[str]) -> str:
    """What a message says behind a name that nothing has: ` (did you mean 'order'?)`; empty where nothing is near."""
    near = get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _listed(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most]) or "nothing"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
