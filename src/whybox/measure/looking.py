"""One prompt, walked through in pieces: what is kept grows with its length, and no pattern is ever whole.

The last token is a piece of its own, so that its row is seen in every layer and head: it predicts what comes next.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from whybox.engine import machine
from whybox.engine.memory import require_room
from whybox.engine.needs import need_of_walk
from whybox.engine.trace import Trace, Wish
from whybox.errors import PromptError
from whybox.measure.anchors import anchors
from whybox.measure.budget import QueryRow
from whybox.model import Model
from whybox.parts.mask import visible
from whybox.spec import Mlp, Moe, Spec
from whybox.statistics.marks import Keys, of_text
from whybox.statistics.rows import AttentionRows, AttentionWish, Joining, Segment
from whybox.text.prompt import Prompt

MAP_SIDE = 32  # blocks a side of a head's map
PIECE_NUMBERS = 12_000_000  # of the MLPs' hidden values that are held at once
SMALLEST_PIECE = 64
SILENT = 1e-6  # of the layer's rms: what stays below at every token is silent


@dataclass(frozen=True, eq=False)
class DecisionRow(QueryRow):
    """The last query in one layer: weights on the keys that it sees, and the values there."""

    values: Float[np.ndarray, "k g d"]
    sizes: Float[np.ndarray, "h k"]  # ‖value · W_O‖ of each head

    @property
    def value_shares(self) -> Float[np.ndarray, "h k"]:
        """a · ‖value · W_O‖ ÷ Σ: how much of what the head writes comes from each key; 0 where it writes nothing."""
        written = self.pattern * self.sizes
        total = written.sum(axis=1, keepdims=True)
        return np.divide(written, total, out=np.zeros_like(written), where=total > 0)


@dataclass(frozen=True)
class Silence:
    """MLP units of one layer, and how many of them stay silent at every token of this input."""

    units: int
    dead: int


@dataclass(frozen=True, eq=False)
class Looked:
    """One prompt: of each layer the record of its attention, the decision row, and its silent units.

    entries: layer → the stream that entered it, of every √l-th layer: what lies between is a few layers away.
    """

    model: Model
    prompt: Prompt
    attention: tuple[AttentionRows, ...]
    decision: tuple[DecisionRow, ...]
    silence: tuple[Silence, ...]
    entries: Mapping[int, Float[np.ndarray, "q c"]]
    logits: Float[np.ndarray, "v"]
    kernel: str

    @property
    def spec(self) -> Spec:
        return self.model.spec


def _nobody(_done: int, _all: int) -> None:
    pass


def look_at(model: Model, prompt: Prompt, tell: Callable[[int, int], None] = _nobody) -> Looked:
    """Looks at every head of a prompt. tell: tokens done, of all.

    PromptError for a single token (it can look at nothing but itself), and for more than the trained context.
    """
    model.require_fits(len(prompt))
    if len(prompt) < 2:
        raise PromptError(
            "the prompt has one token: it sees nothing but itself, so there is no attention to look at",
            "give at least two tokens",
        )
    wish, walk = _wish(prompt), _Walk.of(model.spec, len(prompt))
    require_room(need_of_walk(model.spec, len(prompt), walk.kept), machine.available(), "this look")
    cache = model.engine.fresh_cache(len(prompt))
    for piece in pieces(model.spec, len(prompt)):
        last = piece.stop == len(prompt)
        ids = prompt.ids[piece.start : piece.stop]
        trace = model.engine.run(ids, [*walk.sites, *(_row_sites(model.spec) if last else [])], (), cache, 1, wish)
        cache = trace.cache
        walk.add(trace)
        tell(piece.stop, len(prompt))
    return Looked(
        model=model,
        prompt=prompt,
        attention=tuple(layer.records.whole() for layer in walk.layers),
        decision=tuple(_row(model, trace, index, layer) for index, layer in enumerate(walk.layers)),
        silence=tuple(layer.silence for layer in walk.layers),
        entries=walk.entries,
        logits=trace.logits[-1],
        kernel=walk.kernel,
    )


def pieces(spec: Spec, tokens: int) -> Iterator[range]:
    """Positions in consecutive parts; the last token alone."""
    hidden = sum(units(layer.mlp) for layer in spec.layers)
    size = max(PIECE_NUMBERS // hidden // SMALLEST_PIECE, 1) * SMALLEST_PIECE  # tiles are full but for the last
    for start in range(0, tokens - 1, size):
        yield range(start, min(start + size, tokens - 1))
    yield range(tokens - 1, tokens)


def units(mlp: Mlp | Moe) -> int:
    """MLP units of a layer, all its experts together."""
    return mlp.width * (mlp.experts if isinstance(mlp, Moe) else 1)


def map_block(tokens: int) -> int:
    """Tokens of a block, so that a map has at most MAP_SIDE a side."""
    return -(-tokens // MAP_SIDE)


def _wish(prompt: Prompt) -> AttentionWish:
    segments = tuple(Segment(segment.name, segment.start, segment.end) for segment in prompt.segments)
    marks = (*of_text(prompt.ids), ("anchor", Keys(anchors(prompt))))
    return AttentionWish(segments, top=1, block=map_block(len(prompt)), marks=marks, scores=True)


def _row_sites(spec: Spec) -> list[Wish]:
    return ["pattern", *(["sink_mass"] if any(layer.attention.sinks for layer in spec.layers) else [])]


@dataclass
class _Layer:
    """What the pieces say of one layer."""

    records: Joining
    values: list[np.ndarray] = field(default_factory=list)
    loudest: np.ndarray | None = None  # |hidden| of each unit at most
    squares: float = 0.0
    rows: int = 0

    def add(self, record: AttentionRows, value: np.ndarray, hidden: np.ndarray) -> None:
        self.records.add(record)
        self.values.append(value)
        flat = hidden.reshape(len(hidden), -1)
        peak = np.maximum(flat.max(axis=0), -flat.min(axis=0))
        self.loudest = peak if self.loudest is None else np.maximum(self.loudest, peak)
        self.squares += float(np.vdot(flat, flat))
        self.rows += len(flat)

    @property
    def silence(self) -> Silence:
        assert self.loudest is not None, "a walk has at least one piece"
        rms = np.sqrt(self.squares / (self.rows * len(self.loudest)))
        return Silence(len(self.loudest), int((self.loudest <= SILENT * rms).sum()))


@dataclass
class _Walk:
    """What the pieces say of all layers. entries: layer → the rows that entered it, whole from the beginning.

    Rows that were kept piece by piece would leave holes that memory is not given back from.
    """

    layers: Sequence[_Layer]
    tokens: int
    kept: tuple[int, ...]
    entries: dict[int, np.ndarray] = field(default_factory=dict)
    kernel: str = ""

    @classmethod
    def of(cls, spec: Spec, tokens: int) -> "_Walk":
        count = len(spec.layers)
        return cls([_Layer(Joining(tokens)) for _ in spec.layers], tokens, tuple(range(0, count, math.isqrt(count))))

    @property
    def sites(self) -> list[Wish]:
        return ["value", "mlp_hidden", ("resid_pre", self.kept)]

    def add(self, trace: Trace) -> None:
        for entered in self.kept:
            rows = trace["resid_pre", entered]
            if entered not in self.entries:
                self.entries[entered] = np.empty((self.tokens, rows.shape[1]), rows.dtype)
            self.entries[entered][trace.start : trace.end] = rows
        self.kernel = self.kernel or trace.kernel
        for index, (layer, record) in enumerate(zip(self.layers, trace.attention, strict=True)):
            layer.add(record, trace["value", index], trace["mlp_hidden", index])


def _row(model: Model, trace: Trace, index: int, layer: _Layer) -> DecisionRow:
    attention = model.spec.layers[index].attention
    pattern = trace["pattern", index][:, -1]
    row = trace.end - 1
    places = np.arange(row + 1 - pattern.shape[1], row + 1)
    seen = visible(np.array([row]), places, attention.window)[0]
    mass = trace["sink_mass", index][:, -1] if attention.sinks else np.zeros(attention.heads, pattern.dtype)
    values = np.concatenate(layer.values)[places[seen]]
    layer.values.clear()  # what is kept twice counts twice
    return DecisionRow(
        pattern[:, seen], places[seen], mass, values, _sizes(values, model.weights[f"layers.{index}.out"])
    )


def _sizes(values: Float[np.ndarray, "k g d"], out: Float[np.ndarray, "c h d"]) -> Float[np.ndarray, "h k"]:
    """‖v W_O‖ for each head, through W_Oᵀ W_O: √(v G vᵀ)."""
    per_group = out.shape[1] // values.shape[1]
    sizes = []
    for head in range(out.shape[1]):
        own, weight = values[:, head // per_group], out[:, head]
        sizes.append(np.sqrt(np.maximum(((own @ (weight.T @ weight)) * own).sum(axis=1), 0)))
    return np.stack(sizes)
