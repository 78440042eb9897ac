"""Every suite that the page of `whybox run` shows is one, and every probe has its part there."""

from pathlib import Path

import pytest

from whybox.probes import PROBES
from whybox.suite.behaviour import Behaviour
from whybox.suite.template import suite_text

PAGE = (Path(__file__).parents[2] / "docs" / "run.md").read_text("utf-8")
SUITES = [block.split("```")[0] for block in PAGE.split("```yaml\n")[1:]]


@pytest.mark.parametrize("text", SUITES)
def test_a_suite_of_the_page_is_read(text: str) -> None:
    assert Behaviour.parse(text).probes


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_has_its_statistics_on_the_page(name: str) -> None:
    table = PAGE.split("## Probes")[1].split("What all have in common")[0]
    rows = [line for line in table.splitlines() if line.startswith((f"| `{name}` |", f"| [`{name}`]"))]
    assert len(rows) == 1
    assert all(f"`{statistic}`" in rows[0] for statistic in PROBES[name].MEASURES)


def test_the_full_suite_has_every_probe_with_its_gates() -> None:
    suite = Behaviour.parse(suite_text("full", "bot:honest"))
    assert set(suite.probes) == set(PROBES)
    assert {gate.probe for gate in suite.file.gates} == set(PROBES)
    assert list(Behaviour.parse(suite_text("smoke", "bot:honest")).probes) == ["order", "edit", "evidence"]
