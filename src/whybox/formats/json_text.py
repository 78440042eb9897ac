"""JSON from files that nobody has checked: bounded in size, no key twice, never a RecursionError."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from whybox.errors import FormatError
from whybox.formats.folder import regular_file

MOST_JSON_BYTES = 100_000_000


def parse_object(raw: bytes, path: Path, field: str) -> Mapping[str, object]:
    """A JSON object, or a FormatError: not UTF-8, not JSON, nested absurdly deep, a key given twice."""
    try:
        value = json.loads(raw.decode(), object_pairs_hook=_unique)
    except RecursionError:
        raise FormatError(path, field, "JSON of a sane depth", "brackets nested beyond what can be read") from None
    except _TwiceError as twice:
        raise FormatError(path, field, f"the key {twice.key[:80]!r} once", "a second one") from None
    except ValueError as error:
        raise FormatError(path, field, "JSON text in UTF-8", str(error)) from None
    if not isinstance(value, dict):
        raise FormatError(path, field, "a JSON object", type(value).__name__)
    return value


def read_object(path: Path, field: str) -> Mapping[str, object]:
    """The JSON object that a whole file holds."""
    try:
        size = regular_file(path).stat().st_size
        if size > MOST_JSON_BYTES:
            raise FormatError(path, f"size of {field}", f"at most {MOST_JSON_BYTES:,} bytes", f"{size:,}")
        raw = path.read_bytes()
    except OSError as error:
        raise FormatError(path, field, "a readable file", str(error)) from error
    return parse_object(raw, path, field)


class _TwiceError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise _TwiceError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return unique
