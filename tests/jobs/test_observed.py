"""Line 1 of the verdict tree: every condition of the observed run beside the run here."""

from typing import Any

import pytest

from whybox.errors import CaseError
from whybox.items.case import Case
from whybox.jobs.why import WhyOptions, why
from whybox.testing import ROWS

PLANTED = ROWS["induction"](4)


def states(observed: dict[str, Any] | None, **fields: Any) -> tuple[dict[str, str], str | None]:
    data = PLANTED.case.text.model_dump(exclude_none=True, exclude_unset=True) | fields
    data["answer"] = data["answer"] | {"got": f" {PLANTED.instance.wrong}"}
    if observed is not None:
        data["observed"] = observed
    found = why(PLANTED.model, Case.from_data(data), WhyOptions(limit=4)).verdict
    return {check.what: check.state for check in found.checked}, found.causes[0].detail


def test_what_is_not_told_is_unknown() -> None:
    found, detail = states(None)
    assert detail == "not-reproduced-here"
    assert found == {
        "text of the answer": "differs",
        "weights digest": "unknown",
        "rendered ids": "unknown",
        "stop ids": "unknown",
        "sampling settings and seed": "unknown",
        "precision": "unknown",
        "engine": "unknown",
    }


def test_what_is_told_is_compared() -> None:
    model = PLANTED.model
    same = {
        "weights": model.file.digest()[:12],
        "ids": list(model.prompt(PLANTED.instance).ids),
        "stop": sorted(model.tokenizer.stop_ids),
        "precision": "fp32",
        "engine": "numpy",
    }
    found, _ = states(same, decoding={"temperature": "0"})
    assert set(found.values()) == {"same", "differs"}
    assert [what for what, state in found.items() if state == "differs"] == ["text of the answer"]
    other = {"weights": "0" * 64, "ids": [1], "stop": [], "precision": "bf16", "engine": "vllm"}
    found, _ = states(other)
    assert {what for what, state in found.items() if state == "unknown"} == {"sampling settings and seed"}


@pytest.mark.parametrize(
    ("decoding", "state"),
    [
        ({"max_tokens": "4"}, "unknown"),
        ({"temperature": "0.7"}, "unknown"),
        ({"temperature": "0.7", "seed": "3"}, "same"),
    ],
)
def test_a_limit_alone_does_not_tell_how_an_answer_was_drawn(decoding: dict[str, str], state: str) -> None:
    assert states(None, decoding=decoding)[0]["sampling settings and seed"] == state


def test_other_spellings_of_a_precision_or_an_engine_do_not_differ() -> None:
    found, _ = states({"precision": "Float32", "engine": "NumPy"})
    assert (found["precision"], found["engine"]) == ("same", "same")


def test_without_an_output_there_is_nothing_that_was_observed() -> None:
    data = PLANTED.case.text.model_dump(exclude_none=True, exclude_unset=True) | {"observed": {"precision": "bf16"}}
    with pytest.raises(CaseError, match=r"observed: expected answer\.got"):
        Case.from_data(data)
    with pytest.raises(CaseError, match=r"observed\.weights"):
        Case.from_data(data | {"observed": {"weights": "xyz"}})
