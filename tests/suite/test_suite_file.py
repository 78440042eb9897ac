"""The suite file: read with its lines, refused in one message, published as it is."""

import json
from pathlib import Path

import pytest
import yaml

from whybox.errors import UsageError
from whybox.probes.order import OrderProbe
from whybox.suite.behaviour import Behaviour, schema
from whybox.suite.template import suite_text

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "whybox.behaviour.json"
HEAD = "suite: x\ntargets: [smollm2]\n"


def test_a_suite_is_read_with_its_defaults() -> None:
    text = HEAD + "probes:\n  order:\n  again: {probe: order, items: 3}\n"
    text += "gates:\n  - {probe: again, statistic: right, at_least: .8}\n"
    suite = Behaviour.parse(text)
    assert suite.probes == {"order": OrderProbe(), "again": OrderProbe(items=3)}
    assert [target.title for target in suite.file.targets] == ["smollm2"]
    assert suite.file.gates[0].demand == "right at_least 0.8"
    assert (suite.file.run.floor.items, suite.file.run.floor.times, suite.file.seed) == (12, 5, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "s.yaml:1: expected YAML"),
        ("", "expected a mapping"),
        (HEAD + "probes:\n  ordr: {}\n", "s.yaml:4: probes.ordr: expected a probe among order"),
        (HEAD + "probes:\n  ordr: {}\n", "did you mean 'order'?"),
        (HEAD + "probes:\n  order:\n    itms: 3\n", "s.yaml:5: probes.order.itms"),
        (HEAD + "probes:\n  order: {items: lots}\n", "s.yaml:4: probes.order.items"),
        (HEAD + "probes: {}\n", "s.yaml:3: probes"),
        (HEAD + "probes: {order: {data: mine}}\n", "expected data among nothing"),
        (HEAD + "probes: {order: }\ngates:\n  - {probe: edit, statistic: x, at_most: 1}\n", "gates.0.probe"),
        (
            HEAD + "probes: {order: }\ngates:\n\n  - {probe: order, statistic: accuracy, at_least: .8}\n",
            "s.yaml:6: gates.0.statistic: expected a statistic that order measures (changed, right), found 'accuracy'",
        ),
        (HEAD + "probes: {order: }\ngates: [{probe: order, statistic: right, within: .1}]\n", "at_least or at_most"),
        (HEAD + "probes: {order: }\ngates: [{probe: order, statistic: right}]\n", "exactly one of"),
        ("suite: x\ntargets: [a, a]\nprobes: {order: }\n", "every target once"),
        ("suite: x\nprobes: {order: }\n", "targets: expected this field"),
        (HEAD + "version: 2\nprobes: {order: }\n", "version"),
        ("suite: x\ncases: []\ntests: []\n", "as `whybox why` writes it"),
        ("suite: x\ntargets: [{model: m, api_key: secret}]\nprobes: {order: }\n", "api_key"),
    ],
)
def test_every_fault_is_one_line_with_its_place(text: str, said: str) -> None:
    with pytest.raises(UsageError) as problem:
        Behaviour.parse(text, "s.yaml")
    assert said in problem.value.cause
    assert "\n" not in problem.value.cause
    assert problem.value.cause.startswith("s.yaml")


@pytest.mark.parametrize("size", ["smoke", "full"])
def test_what_init_writes_is_a_suite(size: str) -> None:
    suite = Behaviour.parse(suite_text(size, "bot:honest"))  # type: ignore[arg-type]
    items = {name: design.items for name, design in suite.probes.items()}
    assert items["order"] == (24 if size == "smoke" else 100)
    assert [gate.demand for gate in suite.file.gates if gate.probe == "order"] == (
        [] if size == "smoke" else ["changed at_most 0.05"]
    )
    assert suite.file.targets[0].model == "bot:honest"
    assert yaml.safe_load(suite_text(size)) is not None  # type: ignore[arg-type]


def test_the_suite_of_the_page_is_one() -> None:
    page = (PUBLISHED.parents[1] / "run.md").read_text("utf-8")
    suite = Behaviour.parse(page.split("```yaml\n")[1].split("```")[0])
    assert list(suite.probes) == ["order", "order-zh", "ours"]
    assert suite.file.targets[1].title == "server"


def test_the_published_schema_is_the_schema() -> None:
    assert json.loads(PUBLISHED.read_text("utf-8")) == json.loads(json.dumps(schema()))


def test_what_an_endpoint_is_sent_holds_numbers_and_truth_values() -> None:
    """`enable_thinking: false` as a text would be true for most servers."""
    written = (
        "{top_k: 4, min_p: .05, think: {on: false}, id: '4', seed: 007, ids: [1, '2'], s: 1e-3, t: yes, none: null}"
    )
    text = f"suite: s\ntargets: [{{model: 'openai:m', extra_body: {written}}}]\nprobes: {{order: }}\n"
    assert Behaviour.parse(text).file.targets[0].extra_body == {
        "top_k": 4, "min_p": 0.05, "think": {"on": False}, "id": "4", "seed": "007", "ids": [1, "2"], "s": 0.001,
        "t": "yes", "none": None,
    }  # fmt: skip
