"""A finding as one file that runs elsewhere: the exact requests of a probe with the answers that they got.

No key can be in it: requests hold prompts and sampling, never how a target is reached. The digest covers
everything else.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from whybox.errors import UsageError, meant
from whybox.probes.design import Call, said
from whybox.suite import records
from whybox.suite.store import Store
from whybox.version import __version__

NAME, VERSION = "whybox.replay", 1
MOST_BYTES = 256_000_000


@dataclass(frozen=True)
class Recorded:
    """A call with the text that it got."""

    call: Call
    answer: str


@dataclass(frozen=True)
class Bundle:
    """What a probe asked one target in a run, failed calls aside."""

    probe: str
    target: str
    calls: tuple[Recorded, ...]


def packed(store_path: Path, named: str) -> Bundle:
    """The finding of a run. named: a probe, or `PROBE@TARGET` where it was asked of several.

    UsageError where it has no answered call, or where it is not said whose answers are meant.
    """
    probe, at, wanted = named.partition("@")
    with Store.existing(store_path) as store:
        every = [Recorded(each.call, said(each.outcome)) for each in store.finished() if each.is_answered]
    kept = [each for each in every if each.call.probe == probe]
    targets = sorted({each.call.target for each in kept if not at or each.call.target == wanted})
    if not targets:
        there = sorted({f"{each.call.probe}@{each.call.target}" if at else each.call.probe for each in every})
        cause = f"the run has no answered call of a probe {named!r}{meant(named, there)}"
        raise UsageError(cause, f"it has: {', '.join(there) or 'none'}")
    if len(targets) > 1:
        asked = ", ".join(targets)
        raise UsageError(f"{probe} was asked of {len(targets)} targets: {asked}", f"say of which: {probe}@{targets[0]}")
    return Bundle(probe, targets[0], tuple(each for each in kept if each.call.target == targets[0]))


def bundle_text(bundle: Bundle) -> str:
    """The bundle as a file."""
    body: dict[str, Any] = {
        "schema": {"name": NAME, "version": VERSION},
        "whybox": __version__,
        "probe": bundle.probe,
        "target": bundle.target,
        "calls": [
            [each.call.item, each.call.arm, each.call.run, each.call.request.repeat, *_texts(each)]
            for each in bundle.calls
        ],
    }
    return records.text(body | {"digest": _digest(body)}) + "\n"


def _texts(each: Recorded) -> tuple[str, str]:
    return records.request_text(each.call.request), each.answer


def read_bundle(path: Path) -> Bundle:
    """The bundle of a file. UsageError for another kind of file, a newer version, or one byte that was changed."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes", "this is no bundle of whybox")
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise UsageError(f"cannot read {path}: {problem}", "make one: whybox replay RUN --pack PROBE -o FILE") from None
    if not isinstance(body, dict) or not isinstance(schema := body.get("schema"), dict) or schema.get("name") != NAME:
        raise UsageError(f"{path} is no bundle of whybox", "make one: whybox replay RUN --pack PROBE -o FILE")
    if schema.get("version") != VERSION:
        raise UsageError(
            f"{path}: expected bundle version {VERSION}, found {schema.get('version')}", "use the whybox that wrote it"
        )
    if body.pop("digest", None) != _digest(body):
        raise UsageError(f"{path} was changed after it was written: its digest differs", "obtain the file again")
    return _bundle(path, body)


def _bundle(path: Path, body: dict[str, Any]) -> Bundle:
    target, probe = str(body["target"]), str(body["probe"])
    try:
        calls = tuple(
            Recorded(Call(target, probe, item, arm, run, records.request_of(request, repeat), True), answer)
            for item, arm, run, repeat, request, answer in body["calls"]
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise UsageError(
            f"{path} holds a call that cannot be read: {problem}", "use the whybox that wrote it"
        ) from None
    return Bundle(probe, target, calls)


def _digest(body: dict[str, Any]) -> str:
    return sha256(records.text(body).encode("utf-8", "surrogatepass")).hexdigest()
