"""What a Chinese reader of a run is shown: every name and reason that probes and targets can write is known there."""

import ast
import re
from pathlib import Path

import pytest

import whybox
from whybox.probes import PROBES
from whybox.report.doctor_words import WORDS as SENTENCES
from whybox.report.doctor_words import put_in, say
from whybox.report.run_names import ability, axis, detail, statistic, told, word
from whybox.statistics.behaviour.evidence import Shape
from whybox.targets.target import Abilities

SOURCE = Path(whybox.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")
MAKERS = {
    "Curve",
    "Estimate",
    "Grid",
    "of_changes",
    "of_effects",
    "of_mean",
    "of_means",
    "of_rate",
    "of_ratio",
    "_of_pairs",
}
ITS_OWN = {"token", "null", "null · move"}  # the axis is called so in Chinese; names of draws are never shown


def named_in_probes() -> list[tuple[str, str]]:
    """The literal names in the code of the probes: what is made, and its first (of curves also second) argument."""
    found = []
    for path in sorted((SOURCE / "probes").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                kinds = ["axis" if i and node.func.id == "Curve" else "name" for i in range(len(node.args))]
                for kind, argument in list(zip(kinds, node.args, strict=True))[: 2 if node.func.id == "Curve" else 1]:
                    found += [(kind, text) for text in literal(argument)]
            elif isinstance(node, ast.Call):
                found += [("name", text) for text in literal(node)]
    return found


def literal(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else "1" for part in parts)]  # type: ignore[misc]
        case ast.Call(func=ast.Attribute(attr="_named"), args=[ast.Constant(value=str(text))]):
            return [text, f"{text} · move"]
        case _:
            return []


NAMES = sorted(set(named_in_probes()))


def test_the_names_are_found_in_the_code() -> None:
    assert len(NAMES) > 60
    assert {("name", "half-life"), ("axis", "turns"), ("name", "spread · move"), ("name", "gain at 1")} <= set(NAMES)


@pytest.mark.parametrize(("kind", "name"), [each for each in NAMES if each[1] not in ITS_OWN])
def test_every_name_that_a_probe_writes_has_a_chinese_one(kind: str, name: str) -> None:
    if name.startswith("1 by"):
        name = name.replace("1", "unanswerable")
    if name.startswith("KL 1"):
        name = "KL median, at least, cache off"
    said = axis(name, "zh") if kind == "axis" else statistic(name, "zh")
    assert CHINESE.search(said), name
    assert (axis if kind == "axis" else statistic)(name, "en") == name


def test_a_statistic_that_a_gate_may_name_keeps_the_name_that_is_typed() -> None:
    for probe in PROBES.values():
        for name in probe.MEASURES:
            said = statistic(name, "zh")
            assert said == name or name in said


def test_sides_and_labels_stay_as_they_are_called() -> None:
    assert statistic("KL 99.9 %, at least, batch of 4", "zh") == "KL 99.9 % 分位 · batch of 4（下界）"
    assert statistic("right before, wrong after, no cache", "zh") == "原来对、现在错 · no cache"
    assert statistic("changed · stay", "zh") == "改变的回答（changed） · stay"
    assert statistic("follows far:untold", "zh") == "跟随文本：远（未要求依据文本）"
    assert statistic("mine", "zh") == "mine"
    assert word("rung reached, no cache", "zh") == "到达的阶梯 · no cache"
    assert word("target: engine", "zh") == "目标：引擎"
    assert word("seed: kind", "zh") == "seed：类型", "a target may have any name"


def test_shapes_and_abilities_have_chinese_names() -> None:
    assert all(CHINESE.search(word(str(shape), "zh")) for shape in Shape)
    names = [name for name in Abilities.__dataclass_fields__ if name not in ("most_top", "context", "decoding")]
    assert all(CHINESE.search(word(name, "zh")) for name in names)
    assert ability("yes", "zh") == "有"
    assert ability("not known (not tried)", "zh") == "未知（未尝试）"
    assert ability("no (no log-probabilities)", "zh") == "无（没有对数概率）"
    assert ability("no (odd words of a server)", "zh") == "无（odd words of a server）"
    assert ability("no (odd words of a server)", "en") == "no (odd words of a server)"
    assert (detail("True", "zh"), detail("seed", "zh")) == ("是", "seed")


@pytest.mark.parametrize("key", sorted(SENTENCES))
def test_a_kept_sentence_of_doctor_is_found_again(key: str) -> None:
    """Every sentence, filled in English, gives its Chinese form with the same numbers in it."""
    blanks = dict.fromkeys(re.findall(r"\{(\w+)\}", "".join(SENTENCES[key])), "")
    values = {name: f"{place + 3}.5" for place, name in enumerate(blanks)}
    english, chinese = say(key, "en", **values), say(key, "zh", **values)
    same = [other for other, (said, _) in SENTENCES.items() if said == SENTENCES[key][0]]
    assert put_in(english, "zh") in {say(other, "zh", **values) for other in same} | {chinese}
    assert put_in(english, "en") == english


def test_notes_and_faults_of_a_design_are_said_in_chinese() -> None:
    assert told("length differs: 3 items left out", "zh") == "长度不同：剔除 3 个样本"
    assert told("needs logprobs: no log-probabilities", "zh") == "需要对数概率（logprobs）：没有对数概率"
    assert told("12 calls lost, at most 5% may be", "zh") == "丢失 12 次调用，最多允许 5%"
    assert told("what nobody listed", "zh") == "what nobody listed"
