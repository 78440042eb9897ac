"""What tests assert. Each is a probe with one gate: a sentence that is shown to hold, shown not to, or left open."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whybox.pytest_plugin.subject import Subject

if TYPE_CHECKING:
    from whybox.items.case import Case


def assert_gate(
    target: Subject, probe: str, gate: Mapping[str, Any], prompt: "Case | None" = None, **fields: Any
) -> None:
    """Any gate of any probe: `assert_gate(target, "edit", {"statistic": "follows", "at_least": 0.9}, items=60)`.

    fields: of the probe, as the suite file takes them (docs/run.md). prompt: a case, whose variants are then the items.
    """
    __tracebackhide__ = True
    from whybox.pytest_plugin.experiment import Wish, experiment, read

    kept = experiment(Wish(probe, (gate,), fields, prompt), target.settings, target.folder)
    target.judge(read(kept))


def assert_order_invariant(
    target: Subject,
    prompt: "Case | None" = None,
    *,
    parts: Sequence[str] | None = None,
    at_most: float = 0.05,
    items: int = 100,
    **fields: Any,
) -> None:
    """Reordering independent parts changes at most this share of answers more than asking again does (probe `order`).

    parts: of a prompt of your own, those that may stand in any order.
    """
    __tracebackhide__ = True
    own: dict[str, Any] = {} if parts is None else {"parts": list(parts)}
    gate = {"statistic": "changed", "at_most": at_most}
    assert_gate(target, "order", gate, prompt, items=items, **own, **fields)


def assert_uses_evidence(
    target: Subject,
    prompt: "Case | None" = None,
    *,
    parts: Sequence[str] | None = None,
    at_least: float = 0.8,
    items: int = 100,
    **fields: Any,
) -> None:
    """Where the passage states another value, the answer follows it in at least this share (probe `evidence`).

    With a prompt of your own, `parts` names its passages (three or more): the answer is right with the evidence at
    every place among them.
    """
    __tracebackhide__ = True
    own: dict[str, Any] = {} if parts is None else {"parts": list(parts)}
    gate = {"statistic": "follows" if prompt is None else "right", "at_least": at_least}
    assert_gate(target, "evidence", gate, prompt, items=items, **own, **fields)


def assert_survives_turns(
    target: Subject, *, turns: int = 20, at_least: float = 0.8, items: int = 60, **fields: Any
) -> None:
    """After so many turns an opening rule is still obeyed in at least this share (probe `memory`).

    The arms that would explain a loss are left out unless `explaining` names them.
    """
    __tracebackhide__ = True
    sizes: dict[str, Any] = {"depths": [1, turns], "explaining": [], "explained": 1} | fields
    assert_gate(target, "memory", {"statistic": "obeyed", "at_least": at_least}, items=items, **sizes)


def assert_consistent(target: Subject, *, at_most: float = 0.05, items: int = 60) -> None:
    """Equal requests get equal texts: cold, warm, all at once, at most this share of pairs differs (the A/A floor)."""
    __tracebackhide__ = True
    from whybox.pytest_plugin.repeats import repeated

    target.judge(repeated(target.settings, target.folder, at_most, items))
