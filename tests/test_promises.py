"""Every promise in docs/promises.md names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_each_promise_is_kept_by_tests_that_exist() -> None:
    rows = [line for line in (ROOT / "docs" / "promises.md").read_text("utf-8").splitlines() if line.startswith("| **")]
    assert len(rows) == 9
    for row in rows:
        named = re.findall(r"`(tests/[^`:]+)(?:::(\w+))?`", row)
        assert named, row
        for path, test in named:
            assert f"def {test}" in (ROOT / path).read_text("utf-8"), f"{path}::{test}"
