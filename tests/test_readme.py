"""Both READMEs: what they show of `whybox why` is what is measured, and what they list is what exists."""

import re
from pathlib import Path

import pytest

from tests.documents import READMES, ROOT, commands, shown
from tests.real import real
from whybox.cause.answers import Asked
from whybox.cause.bench import Bench
from whybox.cause.study import Study, open_study, stages
from whybox.families import FAMILIES
from whybox.items.case import Case
from whybox.library import ALIASES
from whybox.report.numbers import number

CHEAP = ("answer", "noise floor", "other prompts", "form and decoding", "attention edges")
SPELT = {"gemma3_text": "Gemma 3", "qwen3_moe": "Qwen3-MoE", "gpt_neox": "GPT-NeoX", "gpt2": "GPT-2", "phi3": "Phi-3"}
both = pytest.mark.parametrize("readme", READMES, ids=lambda page: page.name)


@pytest.fixture(scope="module")
def study() -> Study:
    """The shipped case, as far as a few seconds carry it: no shams, no variants, no maps (`.ci/run` does them)."""
    case = Case.load(ROOT / "examples/refund.yaml")
    found = open_study(Bench(real("smollm2")), case.instances())
    for stage in stages(found):
        if stage.name in CHEAP:
            stage.act(found)
    return found


@pytest.mark.model
@both
def test_why_shows_what_is_measured(readme: Path, study: Study) -> None:
    report = next("\n".join(one.output) for one in shown(readme) if one.arguments[:2] == ["whybox", "why"])
    boosted = study.trials["boost"].outcome.old
    assert boosted is not None
    assert f"LD {number(study.decided.base.reading.ld)} → {number(boosted.ld, signed=True)} nats" in report
    for trial in study.trials.values():
        row = next(line for line in report.splitlines() if line.startswith(trial.what))
        effect, flips = row.removeprefix(trial.what).split()[:2]
        assert effect == number(trial.effect or 0.0, signed=True)
        assert (flips in ("yes", "是")) is trial.flips
    assert wrong_answer(study.asked) in readme.read_text("utf-8")


def wrong_answer(asked: Asked) -> str:
    """The number of the wrong answer: 30."""
    return asked.wrong.split()[0]


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
    folded = re.sub(r"[\s-]", "", listed).lower()
    for family in FAMILIES:
        name = SPELT.get(family.name, family.name)
        assert re.sub(r"[\s-]", "", name).lower() in folded, f"{readme.name} does not list {name}"
        with_gguf = folded.split("；" if "zh" in readme.name else ";")[0]
        assert (re.search(re.sub(r"[\s-]", "", name).lower() + r"(?![0-9m])", with_gguf) is not None) is bool(family.gguf)


def test_both_show_the_same_commands_in_python() -> None:
    first, second = (re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL) for page in READMES)
    assert first == second
