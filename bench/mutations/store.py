"""What was said of each row, kept in one file: a row that is there is not run again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from bench.mutations.row import Judged

FOUND = Path(__file__).with_name("found.json")


def read(path: Path = FOUND) -> dict[str, Judged]:
    """By key."""
    if not path.exists():
        return {}
    rows = json.loads(path.read_text("utf-8"))
    return {row["key"]: Judged(**row | {"named": tuple(row["named"]), "said": tuple(row["said"])}) for row in rows}


def write(found: Mapping[str, Judged], path: Path = FOUND) -> None:
    """A row a line, so that a change of one is a change of one line; the file appears whole or not at all."""
    lines = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in found.values())
    part = path.with_suffix(".part")
    part.write_text(f"[\n{lines}\n]\n", "utf-8")
    part.replace(path)
