"""whybox: understanding and testing language models by mechanism.

A black box tells you what. whybox tells you why, and proves it.

    model = whybox.open("smollm2")
    trace = model.run("The capital of France is", see=["pattern"])
    trace.next(3)
"""

from typing import TYPE_CHECKING, Any

from whybox.version import __version__ as __version__

if TYPE_CHECKING:
    from whybox.engine.edit import add, boost, cut, scale, set_to, zero
    from whybox.engine.sampling import Decoding
    from whybox.engine.trace import Change, Trace
    from whybox.items.case import Case
    from whybox.jobs.answering import answer
    from whybox.jobs.asked import lens, look, why
    from whybox.jobs.brought import attention
    from whybox.jobs.diff_result import diff
    from whybox.model import Model
    from whybox.model import open_model as open

__all__ = [
    "Case", "Change", "Decoding", "Model", "Trace",
    "add", "answer", "attention", "boost", "cut", "diff", "lens", "look", "open", "scale", "set_to", "why", "zero",
]  # fmt: skip

_HOME = {
    "Case": "whybox.items.case",
    "Change": "whybox.engine.trace",
    "Decoding": "whybox.engine.sampling",
    "Model": "whybox.model",
    "Trace": "whybox.engine.trace",
    "answer": "whybox.jobs.answering",
    "attention": "whybox.jobs.brought",
    "diff": "whybox.jobs.diff_result",
    "lens": "whybox.jobs.asked",
    "look": "whybox.jobs.asked",
    "open": "whybox.model",
    "why": "whybox.jobs.asked",
} | dict.fromkeys(("add", "boost", "cut", "scale", "set_to", "zero"), "whybox.engine.edit")


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first asked for, so that `import whybox` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'whybox' has no attribute {name!r}")
    from importlib import import_module

    value = vars(import_module(_HOME[name]))["open_model" if name == "open" else name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
