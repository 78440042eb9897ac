"""The user's own items: cases in YAML or JSONL, or rows of a CSV; dated facts as a CSV of their own columns."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from whybox.errors import CaseError, UsageError
from whybox.items.case import Case
from whybox.items.generate import Item, Language, read_dated
from whybox.items.generate.dated import COLUMNS, dated_item
from whybox.items.instance import CaseInstance
from whybox.items.slots import escape
from whybox.items.yaml_tree import parse_yaml, read_text

FIXED = ("id", "question", "right", "wrong", "kind", "evidence", "system")
FORMS = "a .yaml of cases, a .jsonl with a case a line, or a .csv"


def load_items(path: Path, language: Language) -> tuple[Item, ...]:
    """Every case with its variants, or every dated fact, each an item.

    UsageError for a file without any, or with an id twice.
    """
    text = read_text(path)
    if path.suffix.lower() == ".csv" and text.splitlines()[:1] == [",".join(COLUMNS)]:
        facts = read_dated(text.splitlines(), str(path))
        items = [dated_item(fact, i, language) for i, fact in enumerate(facts)]
    else:
        items = [_item(instance, language) for case in _cases(path, text) for instance in case.instances()]
    if not items:
        raise UsageError(f"{path}: expected at least one case, found none", f"expected is {FORMS}")
    ids = [item.id for item in items]
    if twice := next((each for each in ids if ids.count(each) > 1), None):
        raise UsageError(f"{path}: expected every id once, found {twice!r} twice")
    return tuple(items)


def _item(instance: CaseInstance, language: Language) -> Item:
    others = () if instance.wrong is None else (instance.wrong,)
    return Item(instance.id, "fact", language, instance, instance.scorer(), others=others)


def _cases(path: Path, text: str) -> Iterable[Case]:
    match path.suffix.lower():
        case ".yaml" | ".yml":
            return _of_yaml(text, str(path))
        case ".jsonl":
            return [_of_json(line, f"{path}:{i + 1}") for i, line in enumerate(text.splitlines()) if line.strip()]
        case ".csv":
            return _of_csv(text, str(path))
        case other:
            raise UsageError(f"{path}: cannot read {other or 'a file without suffix'}", f"expected is {FORMS}")


def _of_yaml(text: str, source: str) -> list[Case]:
    tree = parse_yaml(text, source).tree
    if isinstance(tree, dict) and "cases" in tree:
        tree = tree["cases"]
    if isinstance(tree, dict):
        return [Case.parse(text, source)]
    if not isinstance(tree, list):
        raise CaseError(f"{source}: expected a case or a list of cases, found neither")
    return [Case.from_data(_mapping(each, f"{source}: case {i + 1}"), source) for i, each in enumerate(tree)]


def _of_json(line: str, source: str) -> Case:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CaseError(f"{source}: expected JSON, found {error}") from error
    return Case.from_data(_mapping(data, source), source)


def _of_csv(text: str, source: str) -> list[Case]:
    """Columns id, question, right; further wrong, kind, evidence, system; every other one is a passage of that name."""
    rows = csv.DictReader(text.splitlines(), strict=True)
    columns = tuple(rows.fieldnames or ())
    if lacking := [name for name in ("id", "question", "right") if name not in columns]:
        raise CaseError(f"{source}:1: expected the columns id, question and right, found no {', '.join(lacking)}")
    try:
        return [Case.from_data(_row(row, columns), f"{source}:{rows.line_num}") for row in rows]
    except csv.Error as error:
        raise CaseError(f"{source}:{rows.line_num}: expected CSV, found {error}") from error


def _row(row: Mapping[str, str], columns: tuple[str, ...]) -> dict[str, Any]:
    named = [name for name in columns if name not in FIXED and row.get(name)]
    parts = [{"name": name, "text": escape(row[name])} for name in (*named, "question")]
    turns: list[dict[str, Any]] = [{"role": "user", "parts": parts}]
    if system := row.get("system"):
        turns.insert(0, {"role": "system", "text": escape(system)})
    answer = {"right": escape(row["right"]), "kind": row.get("kind") or "text"}
    if wrong := row.get("wrong"):
        answer["wrong"] = escape(wrong)
    evidence = [name.strip() for name in (row.get("evidence") or "").split("|") if name.strip()]
    return {"id": row["id"], "prompt": turns, "answer": answer, "evidence": evidence}


def _mapping(data: Any, source: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise CaseError(f"{source}: expected a case, found {type(data).__name__}")
    return {key: value for key, value in data.items() if value is not None}
