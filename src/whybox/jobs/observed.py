"""The output observed elsewhere beside the run here: what is known to be the same, and what is not."""

from collections.abc import Iterator
from typing import Literal

from whybox.cause.study import Study
from whybox.items.case import Case
from whybox.items.schema import DecodingText, ObservedText
from whybox.report.document import Check

_SPELLED = {
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "pytorch": "torch",
}
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
        "sampling settings and seed": _sampling(case.text.decoding),
        "precision": _state(_spelled(told.precision), model.engine.precision),
        "engine": _state(_spelled(told.engine), model.engine.name),
    }
    for what, state in rows.items():
        yield Check(what=what, state=state)


def _sampling(stated: DecodingText) -> State:
    """The run here decodes as the case states: the same where that tells how ids were drawn, and with which seed."""
    drawn = stated.temperature is None or (stated.temperature > 0 and stated.seed is None)
    return "unknown" if drawn else "same"


def _spelled(name: str | None) -> str | None:
    """A precision or an engine as it is called here."""
    return None if name is None else _SPELLED.get(name.strip().casefold(), name.strip().casefold())


def _state(observed: object, here: object) -> State:
    if observed is None:
        return "unknown"
    return "same" if observed == here else "differs"
