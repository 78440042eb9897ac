"""Every number that the walk can print has a name in both languages."""

import re
from pathlib import Path

import whybox.jobs.walk
from whybox.report.words import WORDS


def test_every_number_of_the_walk_has_a_name() -> None:
    source = Path(whybox.jobs.walk.__file__).read_text("utf-8")
    blocks = re.findall(r"numbers(?:=| =|: dict\[str, int \| float\] =)? ?\{(.*?)\}", source, re.DOTALL)
    names = {name for block in blocks for name in re.findall(r'"(\w+)":', block)}
    assert {"rms", "mlp_writes", "entropy_nats"} <= names
    assert sorted(name for name in names if f"number.{name}" not in WORDS) == []
