"""A run with everything that its page shows, and calls with texts of every kind."""

from typing import Any

from tests.report.test_run_reports import document, estimate
from whybox.report.document import CallRow, CallsPayload, Lang, RunDocument

MARKUP = 'a<b<c"><img src=x onerror=alert(1)></script><script>alert(2)</script>'
EVIL = MARKUP + "\u202edrow\u2066 \ud800 &amp; \u2028 مرحبا بالعالم"
CURVE = {
    "name": "right at a place", "axis": "place",
    "points": [{"label": str(i), "hits": hits, "n": 20, "interval": (hits / 25, min(1.0, hits / 20 + 0.1))}
               for i, hits in enumerate([18, 12, 9, 12, 17])],
}  # fmt: skip
GRID = {"name": "right × named", "rows": ("A", "B"), "columns": ("A", "B"), "counts": ((7, 3), (2, 11))}


def run(lang: Lang = "en", target: str = "bot", text: str = "2 days") -> RunDocument:
    """The states of every probe, one of them with words, a curve, a grid and an item that decided it."""
    plain = document(lang, target)
    decided: dict[str, Any] = {
        "item": text, "prompt": text, "right": "7 days", "answers": [{"arm": "1", "answer": text}],
        "seen": {"fork": text},
        "mechanism": {
            "code": "order", "sentence": "The order decided.", "undone_by": "moving doc2", "effect": 1.25,
            "interval": (0.5, 2.0), "scope": "variants",
        },
    }  # fmt: skip
    first = plain.probes[1].model_dump() | {
        "curves": (CURVE,), "grids": (GRID,), "words": {"shape": "U"}, "notes": (text,), "deciding": (decided,),
        "estimates": (estimate() | {"unit": "difference", "null_95": 0.021},),
    }  # fmt: skip
    whole = plain.model_dump(by_alias=True)
    return RunDocument.model_validate(whole | {"probes": (whole["probes"][0], first, *whole["probes"][2:])})


def call(i: int, outcome: str | None = "wrong", answer: str = "30 days", item: str = "") -> CallRow:
    return CallRow(
        target="bot", probe="order" if i % 2 else "fail", item=item or f"item-{i}", arm="1-2-3", run=0, prompt=i % 7,
        setting=0, answer=answer, outcome=outcome, candidate="30", right="7 days", ended="stop", source="fresh",
        seconds=0.25, facts=(("ids", "78"),),
    )  # fmt: skip


def calls(n: int = 120, text: str = "How long does a refund take?") -> CallsPayload:
    """Each third call is not right."""
    outcomes = ("right", "right", "wrong")
    rows = tuple(call(i, outcomes[i % 3], f"answer {i}") for i in range(n))
    prompts = tuple((("system", "Documents."), ("user", f"{text} {i}")) for i in range(7))
    return CallsPayload(prompts=prompts, settings=("{}",), calls=rows)
