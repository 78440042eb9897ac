"""A document of `look` made from small attention of known queries and keys: no model is needed to test its pictures."""

import base64
from typing import Any

import numpy as np

from tests.report.fixtures import HOSTILE, MODEL
from whybox.parts.attention import attention
from whybox.report.document import LookDocument, LookPayload
from whybox.spec import Attention
from whybox.statistics.attention import summary

WIDTH = 8
SCALE = WIDTH**-0.5
CAP = 30.0
WINDOW = 24
SINK = 0.5

SCRIPTS = [
    (1, "<|im_start|>", {"control": True}), (9690, "system", {}), (198, "\n", {}), (2683, "Answer", {}),
    (429, " from", {}), (260, " the", {}), (9746, " text", {}), (30, ".", {}), (2, "<|im_end|>", {"control": True}),
    (18614, "天", {"part": 1, "of": 2}), (119, "天", {"part": 2, "of": 2}), (177, "氣", {"part": 1, "of": 3}),
    (125, "氣", {"part": 2, "of": 3}), (113, "氣", {"part": 3, "of": 3}), (29157, "很好", {}), (300, "東京は", {}),
    (301, "晴れ", {}), (302, "مرحبا", {}), (303, " بالعالم", {}), (304, "🙂", {"part": 1, "of": 2}),
    (305, "🙂", {"part": 2, "of": 2}), (306, " Refunds", {}), (307, " are", {}), (308, " paid", {}),
    (309, " within", {}), (216, " ", {}), (39, "7", {}), (2013, " days", {}), (30, ".", {}),
]  # fmt: skip
SEGMENTS = [("template", "template", 0, 3), ("policy", "part", 3, 9), ("doc1", "part", 9, 21), ("doc2", "part", 21, 29)]


def tokens(count: int) -> list[dict[str, Any]]:
    """The scripts above, over and over, up to so many tokens."""
    made, place = [], 0
    for i in range(count):
        number, text, marks = SCRIPTS[i % len(SCRIPTS)]
        start = place if marks.get("part", 1) == 1 else place - len(text)
        place = start + len(text)
        place_of = _segment_of(i % len(SCRIPTS))
        bytes_ = text.encode().hex()
        made.append({"id": number, "text": text, "bytes": bytes_, "span": [start, place], "segment": place_of} | marks)
    return made


def _segment_of(token: int) -> int:
    return next(i for i, (_, _, start, end) in enumerate(SEGMENTS) if start <= token < end)


def rule(layer: int) -> Attention:
    """Odd layers have a window, every third a learned sink, layer 1 a distance bias, all of them a soft cap."""
    slopes = (0.25, 0.125, 0.0625)
    return Attention(
        heads=3,
        kv_heads=1,
        head_width=WIDTH,
        scale=SCALE,
        cap=CAP,
        window=WINDOW if layer % 2 else None,
        alibi=slopes if layer == 1 else None,
        sinks=layer % 3 == 2,
    )


def heads_of(layer: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries [q h d] and keys [k g d] of one layer, and the patterns [h q k] that the engine's arithmetic makes."""
    generator = np.random.default_rng([seed, layer])
    query = generator.normal(size=(count, 3, WIDTH)).astype(np.float32) * 2
    key = generator.normal(size=(count, 1, WIDTH)).astype(np.float32)
    key[0] += query.mean(axis=(0, 1)) + 3 * (layer % 4)
    query[:, 0] += 3
    query[1:, 1] = 2.5 * key[:-1, 0]
    spec, places = rule(layer), np.arange(count)
    sinks = np.full(3, SINK, np.float32) if spec.sinks else None
    value = np.zeros((count, 1, 1), np.float32)
    return query, key, attention(query, key, value, places, places, spec, sinks).pattern


def look(layers: int = 4, count: int = 29, **changes: Any) -> tuple[LookDocument, LookPayload]:
    """The document and its payload; head 0 of every layer is open."""
    runs = [heads_of(layer, count) for layer in range(layers)]
    data = document_of([pattern for _, _, pattern in runs], tokens(count), segments(count, runs, layers))
    opened = [{"layer": layer, "head": head, "why": "asked for"} for layer in range(layers) for head in (0, 1)]
    document = LookDocument.model_validate(data | {"opened": opened} | changes)
    return document, payload_of(runs, [(each["layer"], each["head"]) for each in opened])


def payload_of(runs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], opened: list[tuple[int, int]]) -> LookPayload:
    rules = []
    for layer in {layer for layer, _ in opened}:
        spec = rule(layer)
        known = {"layer": layer, "scale": SCALE, "cap": CAP, "window": spec.window, "slopes": spec.alibi}
        rules.append(known | {"sinks": [SINK] * 3 if spec.sinks else None})
    queries = [{"layer": x, "head": h, "group": 0, "rows": packed(runs[x][0][:, h])} for x, h in opened]
    keys = [{"layer": x, "group": 0, "rows": packed(runs[x][1][:, 0])} for x in sorted({x for x, _ in opened})]
    return LookPayload.model_validate({"rules": rules, "query_rows": queries, "key_rows": keys})


def packed(rows: np.ndarray, dtype: str = "float32") -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(rows, dtype="<f4" if dtype == "float32" else "<f2")).decode()
    return {"dtype": dtype, "shape": list(rows.shape), "data": data}


def segments(count: int, runs: list[Any], layers: int) -> list[dict[str, Any]]:
    owner = np.array([_segment_of(i % len(SCRIPTS)) for i in range(count)])
    made = []
    for place, (name, kind, start, end) in enumerate(SEGMENTS):
        shares = [float(runs[x][2][:, -1, owner == place].sum(axis=-1).mean()) for x in range(layers)]
        means = [float(runs[x][2][:, 8:, owner == place].sum(axis=-1).mean()) for x in range(layers)]
        made.append(segment(name, kind, "TABC"[place], start, end, shares, means))
    masses = [float(1 - runs[x][2][:, -1].sum(axis=-1).mean()) for x in range(layers)]
    return [*made, segment("learned sink", "sink", "S", 0, 0, masses, masses)]


def segment(name: str, kind: str, letter: str, start: int, end: int, shares: list, means: list) -> dict[str, Any]:
    none = kind in ("template", "sink")
    return {
        "name": name,
        "kind": kind,
        "letter": letter,
        "start": start,
        "end": end,
        "share": float(np.mean(shares)),
        "share_by_layer": shares,
        "mean_share": float(np.mean(means)),
        "mean_share_by_layer": means,
        "lift": None if none else 0.8,
        "lift_reason": "no text of the case" if none else None,
        "lift_by_layer": [None if none else 0.8] * len(shares),
        "value_share": 0.1,
    }


def head(
    layer: int, place: int, statistics: dict[str, Any], pattern: np.ndarray, shares: list[float]
) -> dict[str, Any]:
    """One row of the head table; what only a model can tell has its reason."""
    unknown = ("next", "local_even", "local16_even", "local64_even", "distance_part", "induction_control", "duplicate")
    classes = [
        name
        for name, field, most in [("sink", "sink", 0.3), ("previous", "previous", 0.4), ("flat", "entropy_norm", 0.85)]
        if (statistics[field] or 0) > most
    ]
    return {
        "layer": layer,
        "head": place,
        "classes": classes or ["mixed"],
        **{
            name: statistics[name] for name in ("entropy", "entropy_norm", "effective_keys", "sink", "previous", "self")
        },
        **{name: statistics[name] for name in ("local", "local16", "local64", "distance")},
        **dict.fromkeys(unknown),
        **{f"{name}_reason": "not measured" for name in unknown},
        "sink_all": statistics["sink"],
        "sink_mass": float(1 - pattern[-1].sum()),
        "induction": 0.02 * place,
        "induction_text": 0.01,
        "duplicate_text": 0.01,
        "anchor": 0.1,
        "anchor_tokens": 0.2,
        "stripe": 0.3,
        "stripe_key": 4,
        "score_sd": 1.5 + layer,
        "decision_sink": float(pattern[-1, 0]),
        "decision_segments": shares,
        "value_sink": 0.04,
        "value_segments": shares,
    }


def document_of(patterns: list[np.ndarray], words: list[dict[str, Any]], parts: list[dict[str, Any]]) -> dict[str, Any]:
    count = len(words)
    owner = np.array([word["segment"] for word in words])
    table, maps = [], []
    block = -(-count // 32)
    for layer, pattern in enumerate(patterns):
        seen = np.tril(np.ones((count, count), bool))
        found = summary(pattern, seen)
        for place in range(len(pattern)):
            own = {name: values[place] for name, values in found.items()}
            shares = [float(pattern[place, -1, owner == s].sum()) for s in range(len(parts))]
            table.append(head(layer, place, own, pattern[place], shares))
            maps.append({"layer": layer, "head": place, "values": pooled(pattern[place], block)})
    blocks = [{"start": s, "end": min(s + block, count), "label": f"#{s}"} for s in range(0, count, block)]
    per_layer = len(patterns[0])
    names = ["sink", "previous", "flat", "mixed"]
    return {
        "model": MODEL,
        "seed": 0,
        "took_s": 0.4,
        "title": "refund-window",
        "text": text_of(words),
        "tokens": words,
        "direction": "causal",
        "short_text": count < 64,
        "beyond_training": False,
        "segments": parts,
        "evidence": ["doc2"],
        "decision": {
            "position": count - 1,
            "next": [
                {"id": 39, "text": " 7", "prob": 0.41, "logprob": -0.89},
                {"id": 40, "text": "天", "prob": 0.2, "logprob": -1.6},
            ],
            "by_token": [float(np.mean([p[:, -1, k].mean() for p in patterns])) for k in range(count)],
            "value_by_token": [1 / count] * count,
        },
        "heads": table,
        "layers": [layer_row(layer, per_layer) for layer in range(len(patterns))],
        "classes": [{"name": n, "rule": f"{n} > .3", "count": sum(n in h["classes"] for h in table)} for n in names],
        "probe": {"tokens": 50, "draws": 3, "seed": 0},
        "diagnoses": DIAGNOSES,
        "dilution": None,
        "dilution_reason": "not asked for",
        "maps": {"rows": blocks, "columns": blocks, "heads": maps},
        "command": 'whybox look examples/refund.yaml -o look.html',
        "versions": {"whybox": "0.1.0", "numpy": "2.3.1"},
    }  # fmt: skip


def text_of(words: list[dict[str, Any]]) -> str:
    return "".join(word["text"] for word in words if word.get("part", 1) == 1)


def layer_row(layer: int, heads: int) -> dict[str, Any]:
    return {
        "layer": layer,
        "heads": heads,
        "window": WINDOW if layer % 2 else None,
        "score_sd_least": 0.8,
        "score_sd_median": 1.5 + layer % 7,
        "score_sd_most": 9.75,
        "units": 1536,
        "dead_units": 3,
    }


def pooled(pattern: np.ndarray, block: int) -> list[list[float | None]]:
    """Shares of blocks of keys, mean over blocks of queries; rows end at the diagonal."""
    count = len(pattern)
    starts = range(0, count, block)
    return [
        [round(float(pattern[q : q + block, k : k + block].sum(axis=1).mean()), 3) for k in starts if k <= q]
        for q in starts
    ]


def diagnosis(
    code: str, hits: int, evidence: dict[str, float], meaning: str, action: str, **where: Any
) -> dict[str, Any]:
    common = hits > 20
    return {
        "code": code,
        "where": where,
        "evidence": evidence,
        "base_rate": {"model": "smollm2", "hits": hits, "n": 200, "own": True},
        "common": common,
        "meaning": meaning,
        "action": None if common else action,
        "action_reason": "common" if common else None,
    }


DIAGNOSES = [
    diagnosis("UNSEEN", 7, {"lift": 0.349, "share": 0.0472}, "Not seen: a prompt or placement problem.",
              "Move, shorten, boost the edge; `evidence`.", segments=["doc2"]),
    diagnosis("DOCS_COMPETE", 18, {"most": 0.052, "next": 0.047}, "Their keys and values compete.",
              "Document order test; `documents`.", segments=["doc1", "doc2"]),
    diagnosis("SINK", 200, {"heads": 182}, "Usual softmax drain, not a data fault.", "", heads=[[1, 0], [2, 0]]),
    diagnosis("SHORT_RANGE", 200, {"heads": 21}, "Normal short-range work.", "", layers=[0, 1]),
]  # fmt: skip

DILUTION = {
    "segment": "doc2",
    "trained": 2048,
    "points": [
        {
            "tokens": tokens,
            "share": share,
            "lift": 0.9,
            "brightest_layer": 3,
            "brightest_head": 1,
            "brightest_share": 4 * share,
            "beyond_training": tokens > 2048,
        }
        for tokens, share in [(100, 0.11), (200, 0.071), (500, 0.034), (1000, 0.019), (2000, 0.008), (5000, 0.003)]
    ],
}


def brought() -> tuple[LookDocument, LookPayload]:
    """Arrays of another library, between two texts of 12 and 7 tokens: no model, no segments, no next token."""
    generator = np.random.default_rng(5)
    patterns = [generator.dirichlet(np.ones(7), size=(3, 12)).astype(np.float32) for _ in range(2)]
    document, _ = look(2)
    queries, keys = ([{**t, "segment": 0} for t in tokens(count)] for count in (12, 7))
    whole = segment("tokens", "sink", "A", 0, 7, [1.0, 1.0], [1.0, 1.0]) | {"kind": "part"}
    heads = [h.model_dump() | {"decision_segments": [1.0], "value_segments": [1.0]} for h in document.heads]
    sides = {"rows": _singles(12), "columns": _singles(7)}
    maps = [{"layer": i // 3, "head": i % 3, "values": patterns[i // 3][i % 3].round(3).tolist()} for i in range(6)]
    changes = {
        "tokens": queries,
        "key_tokens": keys,
        "direction": "cross",
        "segments": [whole],
        "evidence": [],
        "heads": heads,
        "diagnoses": [],
        "decision": {"position": 11, "next": [], "by_token": [], "value_by_token": [1 / 7] * 7},
        "maps": sides | {"heads": maps},
        "opened": [{"layer": 1, "head": 2, "why": "asked for"}],
    }
    stored = [{"layer": 1, "head": 2, "rows": packed(patterns[1][2])}]
    data = document.model_dump(by_alias=True) | changes
    return LookDocument.model_validate(data), LookPayload.model_validate({"patterns": stored})


def _singles(count: int) -> list[dict[str, Any]]:
    return [{"start": i, "end": i + 1, "label": f"#{i}"} for i in range(count)]


def hostile() -> tuple[LookDocument, LookPayload]:
    """The hostile string wherever text from elsewhere can stand."""
    evil = HOSTILE
    words = tokens(29)
    words[5] = words[5] | {"text": evil, "bytes": evil.encode().hex(), "span": words[5]["span"]}
    document, payload = look()
    data = document.model_dump(by_alias=True)
    data["segments"][1]["name"] = data["segments"][2]["name"] = evil
    data["segments"][2]["name"] += " 2"
    found = diagnosis(evil, 3, {evil: 1.0}, evil, evil, segments=[evil]) | {"note": evil}
    found["base_rate"] = found["base_rate"] | {"model": evil, "own": False}
    candidate = {"id": 1, "text": evil, "prob": 0.5, "logprob": -0.7}
    changes = {
        "title": evil,
        "model": MODEL | {"name": evil, "family": evil, "kernel": evil},
        "tokens": words,
        "text": text_of(words),
        "evidence": [evil],
        "decision": data["decision"] | {"next": [candidate]},
        "diagnoses": [found, found | {"common": True, "action": None, "action_reason": evil}],
        "classes": [{"name": "sink", "rule": evil, "count": 3}],
        "dilution": DILUTION | {"segment": evil},
        "dilution_reason": None,
        "notes": [evil],
        "command": evil,
        "versions": {evil: evil},
    }
    return LookDocument.model_validate(data | changes), payload
