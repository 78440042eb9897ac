"""The shipped examples fail as their headers say, on the default model."""

import re
from pathlib import Path

import pytest

from tests.real import real
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.model import Model

EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = sorted(EXAMPLES.glob("*.yaml"))
ENOUGH = 24  # tokens that hold every quoted answer


def _answer(model: Model, case: CaseInstance) -> str:
    return model.generate(case, case.decoding.max_tokens or ENOUGH).text


def _header(path: Path) -> str:
    return "".join(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#"))


@pytest.mark.model
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_case_and_a_variant_fail_as_the_header_says(path: Path) -> None:
    model = real("smollm2")
    case, variant = Case.load(path).instances(2)
    answer, quoted = _answer(model, case), re.search(r'["“](.+?)["”]', _header(path))
    assert quoted is not None
    assert " ".join(answer.split()).startswith(quoted[1])
    assert case.scorer().score(answer).outcome == "wrong"
    assert variant.scorer().score(_answer(model, variant)).outcome == "wrong"


@pytest.mark.model
def test_a_broken_format_holds_the_right_value() -> None:
    case = Case.load(EXAMPLES / "format.yaml").filled()
    assert case.lenient_scorer().score(_answer(real("smollm2"), case)).outcome == "right"


@pytest.mark.model
@pytest.mark.parametrize("name", ["word-swap", "two-documents", "middle", "refund.zh"])
def test_another_order_is_answered_right(name: str) -> None:
    case = Case.load(EXAMPLES / f"{name}.yaml").filled()
    documents = [part.name for part in case.parts if part.name.startswith("doc")]
    evidence = list(case.evidence)
    moved = case.reordered([name for name in documents if name not in evidence] + evidence)
    assert case.scorer().score(_answer(real("smollm2"), moved)).outcome == "right"


@pytest.mark.model
@pytest.mark.parametrize("name", ["refund", "middle.zh", "two-documents.zh", "system-ignored"])
def test_the_evidence_alone_is_answered_right(name: str) -> None:
    case = Case.load(EXAMPLES / f"{name}.yaml").filled()
    kept = [p.name for p in case.parts if p.name in {*case.evidence, "policy", "question"}]
    assert case.scorer().score(_answer(real("smollm2"), case.keeping(kept))).outcome == "right"


@pytest.mark.model
def test_the_chat_is_answered_with_the_days_of_the_exchange() -> None:
    chat = Case.load_messages(EXAMPLES / "chat.json", right="7 days", wrong="30 days").filled()
    assert _answer(real("smollm2"), chat) == "A refund is only available for 30 days after the exchange."
    assert chat.kind == "number"


def test_the_table_names_every_example() -> None:
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[(\S+\.yaml)\]", table, re.MULTILINE)) == [path.name for path in CASES]
    for path in CASES:
        assert _rate(_header(path)) == _rate(_row(table, path.name)), path.name


def _row(table: str, name: str) -> str:
    return next(line for line in table.splitlines() if line.startswith(f"| [{name}]"))


def _rate(text: str) -> tuple[str, ...]:
    found = re.search(r"(\d+) (?:of|个变体中) (\d+)", text)
    assert found is not None
    return found.groups()
