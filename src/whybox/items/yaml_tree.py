"""A YAML file read as plain text values with the line of every field.

Scalars stay as written (`yes`, `07` and `1.50` are not turned into anything), until `Document.meant` is asked. Bounded
in bytes and depth; aliases (the bombs among them), tags and duplicate keys are refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from whybox.errors import CaseError

Tree = None | str | list[Any] | dict[str, Any]
FieldPath = tuple[str | int, ...]

MOST_BYTES = 1 << 20
MOST_DEPTH = 16
_WHOLE, _NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)"), re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}


@dataclass(frozen=True)
class Document:
    """The values of a file, and the line (from 1) on which each field stands. quoted: texts that stand in quotes."""

    source: str
    tree: Tree
    lines: Mapping[FieldPath, int]
    quoted: frozenset[FieldPath] = frozenset()

    def meant(self, value: Tree, path: FieldPath) -> Any:
        """A value of this file as JSON would hold it: 4 and .5 are numbers, true is true, "4" in quotes is a text."""
        match value:
            case dict():
                return {key: self.meant(each, (*path, key)) for key, each in value.items()}
            case list():
                return [self.meant(each, (*path, i)) for i, each in enumerate(value)]
            case str() if path not in self.quoted:
                return _scalar(value)
            case _:
                return value

    def line(self, path: FieldPath) -> int | None:
        """Line of a field, or of the nearest field around it that has one."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


class _Loader(yaml.SafeLoader):
    """A safe loader that gives every scalar the string tag and refuses aliases and deep nesting while composing."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        mark: yaml.Mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise _Refused(mark, "no YAML alias", "an alias (*name)")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _Refused(mark, f"at most {MOST_DEPTH} levels", "deeper nesting")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.yaml_implicit_resolvers = {}


class _Refused(Exception):
    def __init__(self, mark: yaml.Mark | None, expected: str, found: str) -> None:
        super().__init__(expected)
        self.line = 1 + mark.line if mark else 1
        self.expected, self.found = expected, found


def read_yaml(path: str | Path) -> Document:
    """Read a file of at most 1 MiB. CaseError names file, line, what was expected and what was found."""
    return parse_yaml(read_text(Path(path)), str(path))


def read_text(path: Path, expected: str = "a case file") -> str:
    """UTF-8 text of a bounded regular file."""
    if not path.is_file():
        raise CaseError(f"{path}: expected {expected}, found {'a folder' if path.is_dir() else 'no file'}")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise CaseError(f"{path}: expected at most {MOST_BYTES:,} bytes, found {size:,}")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(
            f"{path}: expected UTF-8 text, found byte {error.object[error.start]:#04x} at {error.start}"
        ) from error


def parse_yaml(text: str, source: str) -> Document:
    """Parse YAML text; `source` names it in messages."""
    if len(text) > MOST_BYTES:
        raise CaseError(f"{source}: expected at most {MOST_BYTES:,} characters, found {len(text):,}")
    lines: dict[FieldPath, int] = {}
    quoted: set[FieldPath] = set()
    try:
        node = _composed(text)
        tree = None if node is None else _plain(node, (), lines, quoted)
    except _Refused as refused:
        raise CaseError(f"{source}:{refused.line}: expected {refused.expected}, found {refused.found}") from refused
    except yaml.YAMLError as error:
        raise CaseError(f"{source}{_line_of(error)}: expected YAML, found {_reason(error)}") from error
    return Document(source, tree, lines, frozenset(quoted))


def _composed(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _plain(node: yaml.Node, path: FieldPath, lines: dict[FieldPath, int], quoted: set[FieldPath]) -> Tree:
    lines[path] = 1 + node.start_mark.line
    if node.tag not in _PLAIN_TAGS:
        raise _Refused(node.start_mark, "no YAML tag", node.tag)
    match node:
        case yaml.ScalarNode():
            if node.style is not None:
                quoted.add(path)
            empty = node.style is None and node.value in ("", "~", "null")
            return None if empty else str(node.value)
        case yaml.SequenceNode():
            return [_plain(child, (*path, i), lines, quoted) for i, child in enumerate(node.value)]
        case _:
            return _mapping(node, path, lines, quoted)


def _mapping(node: yaml.Node, path: FieldPath, lines: dict[FieldPath, int], quoted: set[FieldPath]) -> Tree:
    tree: dict[str, Tree] = {}
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _Refused(key.start_mark, "a plain key", "a list or mapping as key")
        if key.value in tree:
            raise _Refused(key.start_mark, "every key once", f"{key.value!r} twice")
        tree[key.value] = _plain(child, (*path, key.value), lines, quoted)
        lines[(*path, key.value)] = 1 + key.start_mark.line
    return tree


def _scalar(text: str) -> str | int | float | bool:
    """A word without quotes: a number or a truth value where it reads as one; 007 is a text."""
    if text in ("true", "True", "false", "False"):
        return text.lower() == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text) else text


def _line_of(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}" if mark else ""


def _reason(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).splitlines()[0]
