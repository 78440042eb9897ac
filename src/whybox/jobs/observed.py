"""The output observed elsewhere beside the run here: what is known to be the same, and what is not."""

from collections.abc import Iterator
from typing import Literal

from whybox.cause.study import Study
from whybox.items.case import Case
from whybox.items.schema import ObservedText
from whybox.report.document import Check

State = Literal["same", "differs", "unknown"]


def checks(study: Study, case: Case) -> Iterator[Check]:
    """One row for each condition of a run; any that differs or is unknown may be the reason, none is named as it."""
    if case.got is None:
        return
    told, model = case.text.observed or ObservedText(), study.bench.model
    digest = model.file.digest()
    rows: dict[str, State] = {
        "text of the answer": _state(case.got.strip(), study.answered.text.strip()),
        "weights digest": _state(told.weights, digest[: len(told.weights or "")]),
        "rendered ids": _state(told.ids, list(study.asked.prompt.ids)),
        "stop ids": _state(None if told.stop is None else sorted(set(told.stop)), sorted(model.tokenizer.stop_ids)),
        "sampling settings and seed": "same" if case.text.decoding.model_fields_set else "unknown",
        "precision": _state(told.precision, model.engine.precision),
        "engine": _state(told.engine, model.engine.name),
    }
    for what, state in rows.items():
        yield Check(what=what, state=state)


def _state(observed: object, here: object) -> State:
    if observed is None:
        return "unknown"
    return "same" if observed == here else "differs"
