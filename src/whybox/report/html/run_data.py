"""What the page of a run holds of its calls: packed once, unpacked by the page's script when it is read.

Failures keep their texts first. What the ceiling of the page leaves no room for is counted, and the page says so.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whybox.report.document import CallRow, CallsPayload

MOST_ANSWER = 20_000  # characters of an answer that the page holds
MOST_PACKED = 5_500_000  # bytes of the packed calls, as they stand in the page
MOST_CALLS = 100_000


@dataclass(frozen=True)
class PackedCalls:
    """text: base64 of gzipped JSON. bare: calls without their texts. left_out: calls that are not there at all."""

    text: str
    bare: int
    left_out: int


def packed_calls(payload: CallsPayload, most: int = MOST_PACKED) -> PackedCalls:
    """The calls in the room that a page has for them, failures first."""
    ranked = sorted(payload.calls, key=lambda call: call.outcome == "right")[:MOST_CALLS]
    full = len(ranked)
    while True:
        text = _packed(payload, ranked, full)
        if len(text) <= most or full == 0:
            break
        full = full // 2 if len(text) > 1.2 * most else full * 9 // 10
    if len(text) > most:  # rows alone do not fit
        kept = int(len(ranked) * 0.9 * most / len(text))
        return PackedCalls(_packed(payload, ranked[:kept], 0), kept, len(payload.calls) - kept)
    return PackedCalls(text, len(ranked) - full, len(payload.calls) - len(ranked))


def _packed(payload: CallsPayload, calls: Sequence[CallRow], full: int) -> str:
    places: dict[int, int] = {}
    rows = [_row(call, places if i < full else None) for i, call in enumerate(calls)]
    data = {"prompts": [payload.prompts[place] for place in places], "settings": payload.settings, "calls": rows}
    written = json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(written, 6, mtime=0)).decode()


def _row(call: CallRow, places: dict[int, int] | None) -> list[Any]:
    """In the order that the script reads. places: of the prompts that are kept; None for a call without texts."""
    prompt = None if places is None else places.setdefault(call.prompt, len(places))
    answer = None if places is None else call.answer
    told = [call.target, call.probe, call.item, call.arm, call.run, call.outcome, call.candidate, call.right]
    how = [call.flags, call.ended, call.source, round(call.seconds, 3), call.setting, call.facts]
    return [*told, *how, prompt, answer, call.left_out]
