"""Parts, full effort and runs of the refund case as document data: plausible numbers, every field filled."""

from typing import Any

ONE = "one run"


def effect(value: float, sd: float | None = None, draws: int = 8, p: float | None = 1 / 9) -> dict[str, Any]:
    """One effect; with a spread over 16 draws, and with or without matched others."""
    half = 0.0 if sd is None else 2.131 * sd / 4
    no_null = None if p is not None else "no other component of this kind matches it"
    return {
        "value": value,
        "n": 1 if sd is None else 16,
        "sd": sd,
        "sd_reason": ONE if sd is None else None,
        "interval": None if sd is None else [value - half, value + half],
        "interval_reason": ONE if sd is None else None,
        "draws": draws if p is not None else 0,
        "percentile": 1.0 if p is not None else None,
        "percentile_reason": no_null,
        "p": p,
        "p_reason": no_null,
        "smallest_p": None if p is None else 1 / (draws + 1),
        "smallest_p_reason": no_null,
    }


def part(name: str, zero: float, again: float | None, wrote: float, *flags: str) -> dict[str, Any]:
    kind, _, place = name.partition(" ")
    layer, _, head = place.partition(".")
    mlp = kind == "MLP"
    return {
        "name": name,
        "kind": "mlp" if mlp else "head",
        "layer": int(layer),
        "head": None if mlp else int(head),
        "head_reason": "an MLP has no heads" if mlp else None,
        "wrote": wrote,
        "zero": effect(zero, draws=29 if mlp else 8, p=1 / 30 if mlp else 1 / 9),
        "resample": None if again is None else effect(again, 0.21, p=None),
        "resample_reason": "not among the 20 with the largest effect at the decision" if again is None else None,
        "flags": flags,
    }


def parts() -> dict[str, Any]:
    rows = [
        part("MLP 28", -1.12, -0.84, 0.91),
        part("head 23.0", -0.575, -0.41, 0.38),
        part("head 22.4", 0.44, 0.39, -0.52),
        part("MLP 0", 0.31, -0.26, 0.02, "depends on the ablation"),
        part("head 17.5", -0.12, -0.01, -0.006, "not confirmed by values of other prompts"),
        part("head 1.0", 0.004, None, 0.0),
    ]
    return {"references": "32 neutral prompts (built in)", "rows": rows}


def ablations() -> list[dict[str, Any]]:
    return [
        {"name": "head 23.0", "zero": effect(-0.9), "mean": effect(-0.7), "resample": effect(-0.6, 0.2)},
        {
            "name": "MLP 0",
            "zero": effect(2.1),
            "mean": effect(-0.3),
            "resample": effect(-0.4, 0.3),
            "flags": ["depends on the ablation"],
        },
    ]


def repairs() -> list[dict[str, Any]]:
    return [
        {
            "name": "head 23.0",
            "direct": effect(-1.4),
            "total": effect(-0.5),
            "repaired": 0.643,
            "conditional": effect(-0.7),
            "given": ["head 22.4"],
            "everywhere": -0.9,
        },
        {
            "name": "head 20.1",
            "direct": effect(0.0),
            "total": effect(0.001),
            "repaired": None,
            "repaired_reason": "the direct effect is within the floor",
            "conditional": effect(-0.62),
            "given": ["head 23.0", "head 22.4"],
            "everywhere": 0.1,
            "flags": ["backup"],
        },
    ]


def sets() -> list[dict[str, Any]]:
    return [
        {
            "what": "boost",
            "about": ["doc2"],
            "parts": ["head 18.7", "head 18.8", "head 20.1", "head 22.4"],
            "ld": 0.166,
            "others": [["head 18.7", "head 18.8", "head 20.2", "head 22.4"]],
            "tried": 91,
            "turns": True,
            "answer": "A refund is only available for 7 days after that.",
        },
        {
            "what": "removal",
            "parts": [],
            "parts_reason": "no set of up to 12 of the strongest parts turns the outcome",
            "ld": None,
            "ld_reason": "no set of up to 12 of the strongest parts turns the outcome",
            "turns": None,
            "turns_reason": "no set of up to 12 of the strongest parts turns the outcome",
            "answer": None,
            "answer_reason": "no set of up to 12 of the strongest parts turns the outcome",
        },
    ]


def context() -> dict[str, Any]:
    return {
        "answer": "30 days",
        "right": False,
        "method": "removed from view: ids kept, no later position sees them",
        "exact": True,
        "masks": 8,
        "noise": 0.002,
        "lds": None,
        "lds_reason": "every mask was run: none is unseen",
        "fit": 0.93,
        "sources": [
            {"name": "policy", "score": 0.12, "left_out": -0.05},
            {"name": "doc1", "score": 3.4, "left_out": -2.9},
            {"name": "doc2", "score": -1.2, "left_out": 0.8},
        ],
        "drops": [{"k": 1, "top": 2.9, "random": 0.7, "random_sd": 1.6, "draws": 20}],
    }


def gradients() -> dict[str, Any]:
    return {
        "estimated": 660,
        "flagged": 31,
        "rank": 0.84,
        "rank_p": 0.001,
        "signs": 36,
        "clear": 39,
        "worst": "MLP 0",
        "rows": [
            {
                "name": "MLP 0",
                "chosen": "largest",
                "estimate": 0.4,
                "effect": effect(2.1, p=None),
                "low_confidence": True,
                "flags": ["first token, first MLP or a whole residual stream"],
            },
            {
                "name": "head 3.1",
                "chosen": "random",
                "estimate": -0.01,
                "effect": effect(-0.02, p=None),
                "low_confidence": False,
            },
        ],
        "along": [
            {
                "place": "head_out 9",
                "estimate": -0.02,
                "joint": -3.1,
                "shared": -2.6,
                "missed": 0.16,
                "midpoints": 64,
                "largest": "head 9.3",
                "share": -1.9,
                "effect": effect(-1.2, p=None),
                "flags": ["completeness error above 10 %"],
            },
        ],
    }


def segments() -> list[dict[str, Any]]:
    return [
        {
            "name": "doc2",
            "direct": effect(-3.51),
            "total": effect(-3.9),
            "between": effect(-0.6),
            "muted": effect(-3.2),
            "interaction": 0.21,
            "by": {"question": -0.6},
        },
        {
            "name": "question",
            "direct": effect(-0.065),
            "total": None,
            "total_reason": "the cut would leave position 3 with no key to see",
            "between": None,
            "between_reason": "no position lies there that could see it",
            "muted": effect(-0.1),
            "interaction": None,
            "interaction_reason": "one of the three effects was not obtained",
        },
    ]


def full() -> dict[str, Any]:
    return {
        "where": "all positions",
        "ablations": ablations(),
        "repairs": repairs(),
        "joint": {
            "parts": ["head 23.0", "head 22.4", "head 18.7"],
            "joint": effect(-1.9, draws=199, p=0.005),
            "sum_of_direct": -2.8,
            "sum_of_total": -1.1,
        },
        "pairs": [
            {
                "parts": ["head 22.4", "head 23.2"],
                "alone": [0.44, -0.45],
                "joint": effect(0.001, draws=199, p=0.9),
                "interaction": 0.011,
                "flag": "cancel each other",
            }
        ],
        "pairs_tried": 28,
        "sets": sets(),
        "context": context(),
        "gradients": gradients(),
        "segments": segments(),
    }


def runs() -> dict[str, Any]:
    """A ledger: two stages, three runs, two texts."""
    return {
        "stages": [{"name": "answer", "announced": 4, "made": 1}, {"name": "heads", "announced": 270, "made": 2}],
        "texts": [{"tokens": 57, "text": "<|im_start|>system …"}, {"tokens": 52, "text": "…", "left_out": 12}],
        "runs": [
            {
                "stage": "answer",
                "kind": "write",
                "text": 2,
                "what": "nothing changed",
                "value": None,
                "value_reason": "no single number was read",
                "answer": "A refund is only available for 30 days.",
            },
            {"stage": "heads", "kind": "read", "text": 1, "what": "scores 3 h=4 cut", "read": "LD", "value": -1.98},
            {"stage": "heads", "kind": "read", "text": 1, "what": "scores 3 h=5 cut", "read": "LD", "value": -1.96},
        ],
    }
