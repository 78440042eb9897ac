"""The pipeline of a run as stages, from text to the next token, each with this model's shapes and numbers."""

from collections.abc import Iterator

import numpy as np

from whybox.engine.trace import Trace
from whybox.jobs.walk_words import say
from whybox.parts.rope import plain_of, wavelengths
from whybox.report.document import Lang, Stage
from whybox.spec import Attention, Layer, Mlp, Spec
from whybox.text.prompt import Prompt

Array = np.ndarray
SEEN = ("embed", "query", "key", "value", "scores", "pattern", "head_out", "attn_out", "mlp_hidden", "mlp_out",
        "resid_post", "final", "logits")  # fmt: skip


def walk(prompt: Prompt, trace: Trace, lang: Lang) -> Iterator[Stage]:
    """Stages in the order of the computation. The trace must hold the sites of `SEEN`.

    Numbers are of the last row (the one that predicts the next token) unless their name says otherwise.
    """
    yield Stage(
        name=say("text", lang),
        site="text",
        shape=say("characters", lang, n=len(prompt.text)),
        numbers={"characters": len(prompt.text), "bytes": len(prompt.data)},
    )
    yield Stage(
        name=say("tokens", lang),
        site="ids",
        shape=f"[q] = [{len(prompt)}]",
        numbers={"tokens": len(prompt)},
        note=say("tokens.note", lang, ids=_few(prompt.ids)),
    )
    yield from _entry(trace, lang)
    yield from _first_layer(trace, lang)
    yield from (_layer(trace, index, lang) for index in range(len(trace.spec.layers)))
    yield from _exit(trace, lang)


def _entry(trace: Trace, lang: Lang) -> Iterator[Stage]:
    spec, embed = trace.spec, trace["embed"]
    yield Stage(
        name=say("embedding", lang),
        site="embed",
        shape=_shape("q c", embed),
        numbers={"rms": _rms(embed[-1]), "vocabulary": spec.vocab},
        note=say("embedding.note", lang, v=spec.vocab, c=spec.width),
    )
    numbers, note = _position(spec, trace.end - 1, lang)
    yield Stage(name=say("position", lang), site="query_pos, key_pos", shape="", numbers=numbers, note=note)


def _position(spec: Spec, last: int, lang: Lang) -> tuple[dict[str, float], str]:
    attention = spec.layers[0].attention
    if attention.rope is not None:
        turns = wavelengths(attention.rope, last + 1)
        base = plain_of(attention.rope).base
        numbers = {"base": base, "shortest_wavelength": float(turns[0]), "longest_wavelength": float(turns[-1])}
        return numbers | {"last_position": last}, say("position.rope", lang)
    if attention.alibi is not None:
        return {"steepest": max(attention.alibi), "flattest": min(attention.alibi)}, say("position.alibi", lang)
    return {"last_position": last}, say("position.learned", lang)


def _first_layer(trace: Trace, lang: Lang) -> Iterator[Stage]:
    """Attention and MLP of layer 0, step by step."""
    layer, attention = trace.spec.layers[0], trace.spec.layers[0].attention
    yield Stage(
        name=say("projections", lang),
        site="query, key, value",
        shape=f"{_shape('q h d', trace['query', 0])}, {_shape('k g d', trace['key', 0])}",
        numbers={"heads": attention.heads, "kv_heads": attention.kv_heads, "head_width": attention.head_width},
        note=say("projections.note", lang),
    )
    scores, pattern = trace["scores", 0], trace["pattern", 0]
    yield Stage(
        name=say("scores", lang),
        site="scores",
        shape=_shape("h q k", scores),
        numbers={"scale": attention.scale, "sd": float(np.std(scores[:, -1]))},
        note=_score_note(attention, lang),
    )
    yield Stage(
        name=say("softmax", lang),
        site="pattern",
        shape=_shape("h q k", pattern),
        numbers={"row_sum": float(pattern[:, -1].sum(axis=-1).mean()), "largest": float(pattern[:, -1].max())},
        note=say("softmax.note", lang),
    )
    yield Stage(
        name=say("mix", lang),
        site="head_out → attn_out",
        shape=f"{_shape('q h d', trace['head_out', 0])} → {_shape('q c', trace['attn_out', 0])}",
        numbers={"rms": _rms(trace["attn_out", 0][-1])},
        note=say("mix.note", lang),
    )
    yield _mlp(trace, layer, lang)


def _mlp(trace: Trace, layer: Layer, lang: Lang) -> Stage:
    hidden = trace["mlp_hidden", 0]
    axes = "q f" if isinstance(layer.mlp, Mlp) else "q e f"
    return Stage(
        name=say("mlp", lang),
        site="mlp_hidden → mlp_out",
        shape=f"{_shape(axes, hidden)} → {_shape('q c', trace['mlp_out', 0])}",
        numbers={"rms": _rms(trace["mlp_out", 0][-1])},
        note=say("mlp.note", lang, activation=layer.mlp.activation.value),
    )


def _layer(trace: Trace, index: int, lang: Lang) -> Stage:
    pattern = trace["pattern", index][:, -1]
    return Stage(
        name=say("layer", lang, n=index),
        site="resid_post",
        layer=index,
        shape=_shape("q c", trace["resid_post", index]),
        numbers={
            "attention_writes": _rms(trace["attn_out", index][-1]),
            "mlp_writes": _rms(trace["mlp_out", index][-1]),
            "stream": _rms(trace["resid_post", index][-1]),
            "share_of_first_key": float(pattern[:, 0].mean()) if trace["pattern", index].shape[2] == trace.end else 0.0,
        },
    )


def _exit(trace: Trace, lang: Lang) -> Iterator[Stage]:
    final, logits = trace["final"], trace["logits"]
    yield Stage(name=say("final", lang), site="final", shape=_shape("q c", final), numbers={"rms": _rms(final[-1])})
    note = say("logits.tied" if trace.spec.tied else "logits.own", lang)
    numbers = {"largest": float(logits[-1].max()), "smallest": float(logits[-1].min())}
    yield Stage(name=say("logits", lang), site="logits", shape=_shape("q v", logits), numbers=numbers, note=note)
    label, probability = trace.next(1)[0]
    log_probs = trace.log_probs()
    entropy = float(-(np.exp(log_probs) * log_probs).sum())
    yield Stage(
        name=say("next", lang),
        site="softmax(logits)",
        shape=f"[v] = [{logits.shape[1]}]",
        numbers={"probability": probability, "entropy_nats": entropy},
        note=say("next.note", lang, token=label),
    )


def _score_note(attention: Attention, lang: Lang) -> str:
    notes = [say("scores.note", lang)]
    if attention.window is not None:
        notes.append(say("scores.window", lang, n=attention.window))
    if attention.cap is not None:
        notes.append(say("scores.cap", lang, cap=attention.cap))
    return " ".join(notes)


def _shape(axes: str, value: Array) -> str:
    return f"[{axes}] = [{' '.join(map(str, value.shape))}]"


def _rms(row: Array) -> float:
    return float(np.sqrt(np.mean(np.square(row, dtype=np.float64))))


def _few(ids: tuple[int, ...], most: int = 12) -> str:
    shown = " ".join(map(str, ids[:most]))
    return shown if len(ids) <= most else f"{shown} …"
