"""Patterns by hand as if a model had been looked at, and small models to look at."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.engine import random_models
from whybox.engine.reference import ReferenceEngine
from whybox.measure.anchors import anchors
from whybox.measure.looking import DecisionRow, Looked, Silence
from whybox.model import Model
from whybox.spec import Spec
from whybox.statistics.marks import Keys, of_text
from whybox.statistics.rows import AttentionWish, from_pattern
from whybox.statistics.rows import Segment as Share
from whybox.testing.memory_file import MemoryFile
from whybox.testing.vocabulary import tokenizer
from whybox.text.prompt import Prompt, Segment, SegmentKind, Token
from whybox.weights import Weights

PART, TEMPLATE, GENERATED = SegmentKind.PART, SegmentKind.TEMPLATE, SegmentKind.GENERATED
HEADS, LAYERS = 6, 3
Pieces = Sequence[tuple[str, SegmentKind, str | None, int]]


def model_of(spec: Spec | None = None, weights: Weights | None = None) -> Model:
    """A random model in memory, in float64; its tokenizer has nothing to do with it."""
    of = spec or random_models.spec(LAYERS)
    drawn = weights or random_models.drawn(of)
    return Model("random", MemoryFile(Path("random"), {}, drawn), drawn, tokenizer(), ReferenceEngine(of, drawn))


def prompt_of(words: Sequence[str], pieces: Pieces = ()) -> Prompt:
    """Words as tokens, like words with like ids. pieces: name, kind, role and length of each segment."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokens = [
        Token(numbers[word], word.encode(), word.startswith("<|"), (i, i + 1), (i, i + 1), word)
        for i, word in enumerate(words)
    ]
    segments, start = [], 0
    for name, kind, role, length in pieces or [("prompt", PART, None, len(words))]:
        segments.append(Segment(name, kind, role, start, start + length))
        start += length
    return Prompt(tuple(t.id for t in tokens), tuple(tokens), tuple(segments), " ".join(words), b"")


def causal(rows: int) -> np.ndarray:
    """Even weights on all keys up to the query's own [h q k]."""
    even = np.tril(np.ones((rows, rows))) / np.arange(1, rows + 1)[:, None]
    return np.broadcast_to(even, (HEADS, rows, rows)).copy()


def looked_at(prompt: Prompt, patterns: Sequence[np.ndarray], model: Model | None = None) -> Looked:
    """As if a run had given these patterns [h q k], one a layer."""
    of = model or model_of()
    shares = tuple(Share(s.name, s.start, s.end) for s in prompt.segments)
    wish = AttentionWish(shares, 1, 4, (*of_text(prompt.ids), ("anchor", Keys(anchors(prompt)))), scores=True)
    seen = np.tril(np.ones((len(prompt), len(prompt)), bool))
    attention = tuple(from_pattern(pattern, seen, wish, scores=np.zeros_like(pattern)) for pattern in patterns)
    generator = np.random.default_rng(0)
    decision = []
    for layer, pattern in enumerate(patterns):
        values = generator.normal(size=(len(prompt), 2, 4))
        out = of.weights[f"layers.{layer}.out"]
        sizes = np.stack([np.linalg.norm(values[:, h // 3] @ out[:, h].T, axis=1) for h in range(HEADS)])
        row = pattern[:, -1]
        decision.append(DecisionRow(row, np.arange(len(prompt)), np.zeros(HEADS), values, sizes))
    silence = (Silence(17, 0),) * len(patterns)
    return Looked(of, prompt, attention, tuple(decision), silence, {}, np.zeros(19), "plain")


def random_prompt(length: int = 30) -> Prompt:
    """Ids that a random model knows."""
    ids = tuple(int(i) for i in np.random.default_rng(1).integers(0, 19, length))
    return replace(prompt_of([str(i) for i in ids]), ids=ids)
