"""The generated tests hold on the very model: they fail, or fail as expected, where the answer is wrong, and pass where
it is right, under every decoding that a case can state.
"""

from pathlib import Path
from typing import Any

import pytest

import whybox
from whybox.items.case import Case
from whybox.jobs.why import WhyOptions, why
from whybox.model import Model
from whybox.report.document import WhyDocument
from whybox.suite.config import CaseTest, Suite
from whybox.suite.gates import State
from whybox.suite.regression import check
from whybox.targets.local import LocalTarget
from whybox.testing import ROWS
from whybox.testing.decoys import NONE

DECODINGS: dict[str, dict[str, Any]] = {
    "ban": {"banned": ["Answer"]},
    "limit": {"max_tokens": "1"},
    "penalty": {"repetition_penalty": "3.0"},
    "hot": {"temperature": "2.5", "seed": "3"},
    "other seed": {"temperature": "2.5", "seed": "4"},
    "narrow": {"temperature": "2.5", "top_k": "2", "top_p": "0.9", "seed": "1"},
}


def explained(row: str, folder: Path, decoding: dict[str, Any], limit: int = 4) -> tuple[Model, WhyDocument]:
    planted = ROWS[row](1, NONE)
    data = planted.case.text.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    case = Case.from_data(data | ({"decoding": decoding} if decoding else {}))
    file = folder / "case.yaml"
    file.write_text(case.line, "utf-8")
    return planted.model, why(planted.model, case, WhyOptions(limit=limit, file=str(file)))


def outcomes(document: WhyDocument, model: Model, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the generated test passes, for each of its prompts; the first is the case itself."""
    monkeypatch.setattr(whybox, "open", lambda *_, **__: model, raising=False)
    space: dict[str, Any] = {}
    exec(document.regression_test, space)
    (test,) = (value for name, value in space.items() if name.startswith("test_"))
    prompts = next(mark for mark in test.pytestmark if mark.name == "parametrize").args[1]

    def passes(prompt: object) -> bool:
        try:
            test(prompt)
        except AssertionError:
            return False
        return True

    return [passes(prompt) for prompt in prompts]


@pytest.mark.parametrize(
    ("row", "decoding"), [("near_tie", "own"), ("not_looking", "own"), *(("induction", name) for name in DECODINGS)]
)
def test_python_and_suite_say_what_the_report_says(
    row: str, decoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, found = explained(row, tmp_path, DECODINGS.get(decoding, {}))
    code = found.verdict.causes[0].code
    passed = outcomes(found, model, monkeypatch)
    assert passed[0] == (code == "none")
    assert ("xfail" in found.regression_test) == (code == "not-determined")
    suite = Suite.parse(found.regression_suite)
    itself = next(test for test in suite.tests if isinstance(test, CaseTest))
    state = check(itself, suite, LocalTarget(model)).state
    assert (state is State.PASS) == (code == "none")
    assert itself.known_failing == (code == "not-determined")
    assert not any(test.probe == "choice" for test in suite.tests)
