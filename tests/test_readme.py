"""Both READMEs: what they show of `whybox why` is what is measured, and what they list is what exists."""

import re
from pathlib import Path

import pytest

from tests.documents import READMES, ROOT, commands, shown
from tests.real import real
from whybox.cause.answers import read
from whybox.cause.bench import Bench
from whybox.cause.spans import Edge, keys_of
from whybox.cause.stages import stages
from whybox.cause.study import Study, open_study
from whybox.families import FAMILIES
from whybox.items.case import Case
from whybox.library import ALIASES
from whybox.report.numbers import number
from whybox.verdict.experiment_words import named

SPELT = {"gemma3_text": "Gemma 3", "qwen3_moe": "Qwen3-MoE", "gpt_neox": "GPT-NeoX", "gpt2": "GPT-2", "phi3": "Phi-3"}
both = pytest.mark.parametrize("readme", READMES, ids=lambda page: page.name)


@pytest.fixture(scope="module")
def study() -> Study:
    """The shipped case, its answer written and its decision found. `tests/jobs` checks the rest of the report."""
    case = Case.load(ROOT / "examples/refund.yaml")
    found = open_study(Bench(real("smollm2")), case.instances()[:1])
    stages(found)[0].act(found)
    return found


def lead(study: Study, action: str, part: str) -> float:
    """LD at the decision with the edges to a part cut or boosted."""
    asked, decision = study.asked, study.decided.base.decision
    edge = Edge(action, keys_of(asked.prompt, [part]))
    return study.bench.result(read(asked, decision, [edge.from_row(decision.row)])).ld


@pytest.mark.model
@both
def test_why_shows_what_is_measured(readme: Path, study: Study) -> None:
    report = next(one.output for one in shown(readme) if one.arguments[:2] == ["whybox", "why"])
    base, boosted = study.decided.base.reading.ld, lead(study, "boost", "doc2")
    assert any(line.startswith(f"LD {number(base)} → {number(boosted, signed=True)} nats") for line in report)
    for action, part in (("boost", "doc2"), ("cut", "doc1")):
        what = named(f"{action} decision → {part}", "zh" if readme.stem.endswith("zh-CN") else "en")
        row = next(line for line in report if line.startswith(f"{what} "))
        assert number(lead(study, action, part) - base, signed=True) in row.split()


@both
def test_the_two_commands_make_their_own_environments(readme: Path) -> None:
    first, second = re.findall(r"^python3 -m venv \S+ && .*$", readme.read_text("utf-8"), re.MULTILINE)[:2]
    assert re.fullmatch(r"python3 -m venv (\S+) && \1/bin/pip install \. && \1/bin/whybox why .*", first)
    assert re.fullmatch(r"python3 -m venv (\S+) && \1/bin/pip install '\.\[test\]' && \1/bin/pytest", second)
    assert next(commands(readme)).startswith("whybox why examples/refund.yaml")


@both
def test_models_and_architectures_are_those_that_exist(readme: Path) -> None:
    text = readme.read_text("utf-8")
    for alias in ALIASES.values():
        assert f"| `{alias.name}` | {alias.title.replace(', ', '，') if 'zh' in readme.name else alias.title}" in text
        assert alias.licence.url in text
    listed = next(line for line in text.split("\n\n") if line.startswith(("Architectures:", "支持的架构：")))
    from_both = folded(listed).split("；" if "zh" in readme.name else ";")[0]
    for family in FAMILIES:
        name = folded(SPELT.get(family.name, family.name))
        assert name in folded(listed), f"{readme.name} does not list {name}"
        in_both = re.search(name + r"(?![0-9m])", from_both) is not None
        assert in_both is bool(family.gguf), f"{readme.name}: {name} as GGUF"


def folded(text: str) -> str:
    """Without blanks and hyphens, in small letters."""
    return re.sub(r"[\s-]", "", text).lower()


def test_both_show_the_same_commands_in_python() -> None:
    first, second = (re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL) for page in READMES)
    assert first == second
