"""The refund case as a document: prompt, shares, cuts, lens and heads as computed from the default model in float32."""

import json
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from tests.report import full_fixtures
from whybox.report.document import NextDocument, WhyDocument

MEASURED: dict[str, Any] = json.loads((Path(__file__).parent / "case_r.json").read_text(encoding="utf-8"))
HOSTILE = 'a<b<c"><img src=x onerror=alert(1)></script>'

MODEL = {
    "name": "smollm2",
    "family": "llama",
    "digest": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    "engine": "numpy",
    "precision": "fp32",
    "kernel": "rows",
}
SHAMS = [
    -4.58, -4.21, -3.90, -3.66, -3.31, -3.12, -2.95, -2.71, -2.66, -2.43, -2.31,
    -2.20, -2.08, -1.97, -1.92, -1.85, -1.71, -1.52, -1.33, -1.04, -0.72,
]  # fmt: skip
LETTERS = {"template": "T", "policy": "A", "doc1": "B", "doc2": "C", "question": "D", "answer so far": "G"}
KINDS = {"template": "template", "answer so far": "generated"}


def null_of(draws: list[float], effect: float) -> dict[str, Any]:
    ordered = sorted(draws)
    cut = round(0.025 * len(ordered))
    p = (1 + sum(abs(d) >= abs(effect) for d in draws)) / (len(draws) + 1)
    return {"low": ordered[cut], "high": ordered[-1 - cut], "p": p, "draws": len(draws)}


def segment_row(row: dict[str, Any]) -> dict[str, Any]:
    draws, name = row["draws"], row["name"]
    spread = 0.06 + 0.14 * abs(row["direct"])
    own = name in KINDS
    return {
        "name": name,
        "share": row["share"],
        "direct": row["direct"],
        "direct_interval": [row["direct"] - spread, row["direct"] + spread],
        "direct_n": 9,
        "total": None if name == "answer so far" else row["total"],
        "total_reason": "no position after it" if name == "answer so far" else None,
        "removed": None,
        "removed_reason": "run with --effort full" if not own else "not text of the case",
        "noise": 0.02,
        "null": null_of(draws, row["direct"]) if draws else None,
        "null_reason": None if draws else "no other span of this length",
    }


def heads(most: int) -> list[dict[str, Any]]:
    ranked = sorted(MEASURED["heads"], key=lambda h: -abs(h["effect"]))
    sizes = [abs(h["effect"]) for h in ranked]
    return [{**h, "null_percentile": sum(s < abs(h["effect"]) for s in sizes) / len(sizes)} for h in ranked[:most]]


def agreement() -> dict[str, Any]:
    """Spearman ρ of share and effect over the 270 heads; two-sided p of scipy stands in for the permutations."""
    shares, effects = zip(*((h["share"], h["effect"]) for h in MEASURED["heads"]), strict=True)
    signed, absolute = spearmanr(shares, effects), spearmanr(shares, [abs(e) for e in effects])
    brightest = max(MEASURED["heads"], key=lambda h: h["share"])
    strongest = max(MEASURED["heads"], key=lambda h: abs(h["effect"]))
    return {
        "segment": "doc2",
        "n": len(shares),
        "signed": float(signed.statistic),
        "signed_p": float(signed.pvalue),
        "absolute": float(absolute.statistic),
        "absolute_p": float(absolute.pvalue),
        **{f"brightest_{key}": value for key, value in brightest.items()},
        **{f"strongest_{key}": value for key, value in strongest.items()},
    }


REGRESSION = """\
id: refund-window-evidence
extends: examples/refund.yaml
move: {doc2: last}
expect: right
"""


def verdict() -> dict[str, Any]:
    return {
        "causes": [
            {
                "code": "context-use",
                "detail": "not-looked-at",
                "about": ["doc2"],
                "undone_by": "boost decision → doc2",
                "effect": 2.135,
                "mean": 2.16,
                "interval": [1.79, 2.52],
                "after": 0.176,
                "flips": {"hits": 9, "n": 9},
                "shams": {"n": 21, "flipped": 0, "p": 1 / 22, "after": SHAMS, "rivals": 7},
            }
        ],
        "because": "The evidence alone is answered right (LD +1.59); with both documents the decision row gives "
        "doc2 0.35 of the attention that its length would give it, and boosting that reading flips the answer.",
        "would_change_my_mind": "A sham span whose boost flips the answer as well, or fewer than 8 of 9 variants "
        "that flip.",
        "scope": "variants",
        "next_step": "whybox run evidence --case refund-window: the same evidence at every place.",
    }


def why_data(**changes: Any) -> dict[str, Any]:
    tokens = MEASURED["tokens"]
    blocks = [{"start": i, "end": i + 1, "label": t["text"]} for i, t in enumerate(tokens)]
    values = [[v if k <= q else None for k, v in enumerate(row)] for q, row in enumerate(MEASURED["pattern"])]
    data: dict[str, Any] = {
        "model": MODEL,
        "seed": 0,
        "took_s": 41.7,
        "case": {"id": "refund-window", "file": "examples/refund.yaml"},
        "answer": {
            "right": {"text": "7 days", "logprob": MEASURED["lp"][0]},
            "wrong": {"text": "30 days", "logprob": MEASURED["lp"][1]},
            "got": "A refund is only available for 30 days after the exchange.",
            "prefix": {"kind": "own", "text": "A refund is only available for "},
            "cut_at": 12,
            "position": 56,
        },
        "prompt": {
            "text": MEASURED["text"],
            "tokens": tokens,
            "segments": [
                {"name": n, "kind": KINDS.get(n, "part"), "letter": LETTERS[n]} for n in MEASURED["segments"]
            ],
            "evidence": ["doc2"],
        },
        "metric": {
            "name": "LD",
            "definition": "z[7] − z[3] at the decision position",
            "unit": "nats",
            "base": MEASURED["ld"],
            "noise": 0.02,
        },
        "segments": [segment_row(row) for row in MEASURED["rows"]],
        "heads": heads(40),
        "agreement": agreement(),
        "lens": MEASURED["lens"],
        "decided_at": max((r["layer"] + 1 for r in MEASURED["lens"] if r["ld"] > 0), default=0),
        "verdict": verdict(),
        "regression_test": REGRESSION,
        "parts": full_fixtures.parts(),
        "full": None,
        "full_reason": "run with --effort full",
        "tried": TRIED,
        **full_fixtures.runs(),
        "pattern": {"layer": None, "head": None, "rows": blocks, "columns": blocks, "values": values},
        "provenance": {
            "command": "whybox why examples/refund.yaml --seed 0 --precision fp32",
            "effort": "quick",
            "runs": 512,
            "versions": {"whybox": "0.1.0", "numpy": "2.3.1", "python": "3.12.4"},
            "notes": ["reference set: 9 variants of the case's own vary"],
        },
    }  # fmt: skip
    return data | changes


def tried(what: str, effect: float | None, flips: bool | None, answer: str | None, **more: Any) -> dict[str, Any]:
    reasons = {
        "effect_reason": None if effect is not None else "the answer has no such position",
        "flips_reason": None if flips is not None else "not re-generated",
        "answer_reason": None if answer is not None else "not re-generated",
        "interval_reason": None if "interval" in more else "one prompt; no generalisation",
    }
    return {"what": what, "effect": effect, "flips": flips, "answer": answer, "interval": None} | reasons | more


TRIED = [
    tried("boost decision → doc2", 2.135, True, "Refundries are paid within 7 days.", interval=[1.79, 2.52]),
    tried("boost heads 18.7 18.8 20.1 22.4 → doc2", 2.125, True, "A refund is only available for 7 days after that."),
    tried("cut decision → doc1", 3.064, True, "A refund is only available for 7 days."),
    tried("cut heads 22.4 23.0 23.2 → doc1", 2.156, True, "A refund is only available for 7 days."),
    tried("cut decision → doc2", -3.510, False, "A refund is only available for 30 days."),
    tried("cut decision → question", -0.065, False, "A refund is only available for 30 days after the exchange."),
    tried("evidence alone", 3.549, True, "Refunds are paid within 7 days.", flags=["earlier fork"]),
    tried("other order of the documents", 0.590, False, "Refunds are paid within 30 days.", flags=["earlier fork"]),
    tried("closed book", None, False, "A refund is usually processed within a few weeks."),
    tried("zero head 23.0", -0.575, None, None),
]  # fmt: skip


PROOF = ("effect", "mean", "interval", "after", "flips", "shams")


def why(**changes: Any) -> WhyDocument:
    return WhyDocument.model_validate(why_data(**changes))


def full(**changes: Any) -> WhyDocument:
    """The case at full effort."""
    return why(full=full_fixtures.full(), full_reason=None, **changes)


def not_determined() -> WhyDocument:
    """An answer for which nothing flipped."""
    data = why_data()
    verdict = {
        "causes": [
            {
                "code": "not-determined",
                "detail": "beyond-the-model",
                **dict.fromkeys(PROOF),
                **{f"{name}_reason": "no edit flips the answer" for name in PROOF},
            }
        ],
        "because": "With the evidence alone the answer is wrong, and it is not the closed-book answer.",
        "would_change_my_mind": "Any single edit that flips the answer in 8 of 10 variants.",
        "scope": "this-prompt",
        "next_step": "Try a larger model with the same case.",
    }
    return WhyDocument.model_validate(
        data
        | {"verdict": verdict, "heads": [], "heads_reason": "run with --effort full"}
        | {"decided_at": None, "decided_at_reason": "no layer keeps its sign beyond the floor"}
        | {"pattern": None, "pattern_reason": "no map was asked for"}
    )


WEATHER = [
    (18614, "天", "e5a4", 1, 2, (0, 1)), (119, "天", "a9", 2, 2, (0, 1)), (177, "氣", "e6", 1, 3, (1, 2)),
    (125, "氣", "b0", 2, 3, (1, 2)), (113, "氣", "a3", 3, 3, (1, 2)), (29157, "很", "e5be", 1, 2, (2, 3)),
    (226, "很", "88", 2, 2, (2, 3)), (48392, "好", "e5a5", 1, 2, (3, 4)), (138, "好", "bd", 2, 2, (3, 4)),
]  # fmt: skip


def next_document(**changes: Any) -> NextDocument:
    """The weather prompt: characters that are cut across tokens."""
    tokens = [dict(zip(("id", "text", "bytes", "part", "of", "span"), row, strict=True)) for row in WEATHER]
    data: dict[str, Any] = {
        "model": MODEL,
        "seed": 0,
        "took_s": 0.31,
        "text": "天氣很好",
        "tokens": tokens,
        "next": [
            {"id": 235, "text": "，", "prob": 0.2214, "logprob": -1.508},
            {"id": 198, "text": "\n", "prob": 0.1021, "logprob": -2.282},
            {"id": 30, "text": " the", "prob": 0.0033, "logprob": -5.714},
        ],
        "generated": {"ids": [235, 198], "text": "，\n"},
        "stages": [
            {
                "name": "embedding",
                "site": "embed",
                "shape": "q 9 × c 576",
                "numbers": {"rms": 0.1376, "largest": 1.52},
                "note": "row id of the table",
            },
            {"name": "logits", "site": "logits", "shape": "q 9 × v 49152", "numbers": {"largest": 17.25}},
        ],
    }
    return NextDocument.model_validate(data | changes)
