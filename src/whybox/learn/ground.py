"""What figures of a real model stand on: the default model, opened when first asked for, text A and case R.

Text A is the canonical Apache-2.0 licence, its first 512 ids, without template or BOS (`oracle_ids`). Case R is the
shipped example of a stably wrong answer, read where the model decided it. Each is run once, whatever asks for it.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float, Int

from whybox.cause.answers import read
from whybox.cause.bench import Bench
from whybox.cause.effects import Base, key_effects
from whybox.cause.stages import stages
from whybox.cause.study import Study, open_study
from whybox.engine import choice
from whybox.engine.edit import zero
from whybox.engine.trace import Engine, Trace
from whybox.items.case import Case
from whybox.learn.text_attention import HeadsRead, LayerPattern
from whybox.learn.text_attention import read as read_heads
from whybox.model import Model
from whybox.parts.attention import scores
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.testing.faults import Fault

Array = np.ndarray
T = TypeVar("T")
TOKENS = 512
ROWS_AT_ONCE = 64
KEPT = ("query_pos", "key_pos", "value")


@dataclass(frozen=True, eq=False)
class TextA:
    """The model on text A, as it is and otherwise."""

    model: Model
    ids: tuple[int, ...]

    @cached_property
    def base(self) -> Trace:
        """The run as it is. Kept: rotated queries and keys, from which every pattern follows; the last stream."""
        last = len(self.model.spec.layers) - 1
        return self.model.engine.run(self.ids, (*KEPT, ("resid_post", last)))

    @cached_property
    def nll(self) -> float:
        """Mean over 511 next tokens, nats."""
        return nll(self.base.logits, self.ids)

    def with_fault(self, fault: Fault) -> float:
        """NLL with something wrong. What is no other arithmetic runs on the engine that the model runs on."""
        return nll(self._engine(fault).run(self.ids).logits, self.ids)

    def _engine(self, fault: Fault) -> Engine:
        model = self.model
        if fault.rewires or fault.cached is not None:
            return fault.engine_for(model.spec, model.weights)
        return choice.build(*fault.changed(model.spec, model.weights), model.way).engine

    @cached_property
    def heads(self) -> HeadsRead:
        """What every head does."""
        return read_heads(self.layers())

    def layers(self) -> Iterator[LayerPattern]:
        """Layer by layer: thirty patterns at once would take a gigabyte."""
        places = np.arange(len(self.ids))
        for index, layer in enumerate(self.model.spec.layers):
            query, key, value = (self.base[site, index] for site in KEPT)
            s = scores(query, key, layer.attention.scale)
            out = self.model.weights[f"layers.{index}.out"]
            yield LayerPattern(s, softmax(s, visible(places, places)), value, out)


@dataclass(frozen=True, eq=False)
class CaseR:
    """The shipped case on the model, its answer written and its decision found."""

    study: Study

    @property
    def base(self) -> Base:
        return self.study.decided.base

    @property
    def ld(self) -> float:
        """z[right] − z[wrong] where the answer parts."""
        return self.base.reading.ld

    @cached_property
    def pattern(self) -> Float[np.ndarray, "l h k"]:
        """The decision row's weights in every head."""
        trace = self.study.bench.model.engine.run(self.base.decision.ids, ["pattern"], tail=1)
        return np.stack([trace["pattern", layer][:, -1] for layer in range(len(trace.spec.layers))])

    @cached_property
    def key_effects(self) -> tuple[float, ...]:
        """Change of LD when the decision no longer sees one key, for every key before it."""
        return tuple(self.study.bench.result(key_effects(self.base)))

    def supports(self, heads: Sequence[tuple[int, int]]) -> list[float]:
        """What each head brings: LD lost when it writes nothing, anywhere."""
        edits = [zero("head_out", layer, h=head) for layer, head in heads]
        asked, decision = self.study.asked, self.base.decision
        found = self.study.bench.results([read(asked, decision, [edit]) for edit in edits])
        return [self.ld - reading.ld for reading in found]


@dataclass
class Ground:
    """open_model: opens the default model; called once, and not at all where no figure needs it."""

    open_model: Callable[[], Model]
    opened: Model | None = field(default=None, init=False)
    _kept: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, make: Callable[["Ground"], T]) -> T:
        """What one function makes on this ground, made when first asked for."""
        if make not in self._kept:
            self._kept[make] = make(self)
        found: T = self._kept[make]
        return found

    @cached_property
    def model(self) -> Model:
        self.opened = self.open_model()
        return self.opened

    @cached_property
    def text_a(self) -> TextA:
        text = (files("whybox.learn") / "data" / "apache-2.0.txt").read_text(encoding="utf-8")
        return TextA(self.model, oracle_ids(self.model, text)[:TOKENS])

    @cached_property
    def case_r(self) -> CaseR:
        text = (files("whybox.learn") / "data" / "refund.yaml").read_text(encoding="utf-8")
        study = open_study(Bench(self.model), Case.parse(text, "refund.yaml").instances()[:1])
        stages(study)[0].act(study)
        return CaseR(study)


def oracle_ids(model: Model, text: str) -> tuple[int, ...]:
    """The ids of a text as transformers reads them from the GGUF file: the last blank before a digit goes with it.

    The model's own tokenizer, and ours, part digits first. Records of text A were made with these ids; with our own
    the NLL is 0.0075 higher (docs/decisions/claims.md).
    """
    pieces = re.split(r"(?<=\s)(?=\s\d)", text)
    return tuple(token for piece in pieces for token in model.tokenizer.encode(piece))


def nll(logits: Float[np.ndarray, "q v"], ids: Sequence[int], first: int = 0) -> float:
    """−mean log p of each next id, nats, for rows from `first` on; some rows at a time, since they are copied."""
    rows = range(first, len(ids) - 1)
    total = 0.0
    for start in range(rows.start, rows.stop, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, rows.stop))
        chosen = np.asarray(ids[part.start + 1 : part.stop + 1])
        total -= float(_log_probabilities(logits[part], chosen).sum())
    return total / len(rows)


def _log_probabilities(logits: Float[np.ndarray, "q v"], chosen: Int[np.ndarray, "q"]) -> Float[np.ndarray, "q"]:
    """z[chosen] − max − ln Σ exp(z − max). Exponentials as wide as the logits, their sum in float64."""
    peak = logits.max(axis=1, keepdims=True)
    total = np.exp(logits - peak).sum(axis=1, dtype=np.float64)
    picked = np.take_along_axis(logits, chosen[:, None], axis=1)
    return np.asarray((picked - peak)[:, 0] - np.log(total))


def chance(vocab: int) -> float:
    """NLL of a guess among all ids."""
    return math.log(vocab)
