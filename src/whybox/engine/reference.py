"""The reference engine: NumPy, one sequence, built from `parts/`, every site in order. Slow and obvious on purpose."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from whybox.engine import machine
from whybox.engine.between import Between, nothing
from whybox.engine.counterfactual import continued_runs, fresh_runs
from whybox.engine.edit import Edit
from whybox.engine.forgotten import forgotten, require_held
from whybox.engine.gradient import Gradient
from whybox.engine.memory import Need, Run, require_room
from whybox.engine.needs import need, need_of_layers
from whybox.engine.read import Reading
from whybox.engine.trace import Answer, Cache, Change, Choose, Draft, LayerSlots, Tap, Trace, Wish
from whybox.engine.wishes import named_sites
from whybox.engine.writing import one_by_one
from whybox.errors import NonFiniteError, SiteError, UsageError
from whybox.parts import cache as caches
from whybox.parts.attention import as_heads, mix, project_out, shaped_scores, soft_cap
from whybox.parts.embedding import require_known
from whybox.parts.linear import linear
from whybox.parts.mask import visible
from whybox.parts.mlp import dense_hidden, gated_hidden
from whybox.parts.moe import route
from whybox.parts.norm import layer_norm, rms_norm
from whybox.parts.position import learned, rope_angles, rotate
from whybox.parts.rope import plain_of
from whybox.parts.softmax import sink_mass, softmax
from whybox.spec import Attention, Layer, Layout, Mlp, Moe, Norm, NormKind, QkNorm, Rope, Spec
from whybox.statistics.rows import AttentionWish, rows_of
from whybox.weights import Origin, Weights

Array = np.ndarray
Angles = dict[Rope, tuple[Array, Array]]


class ReferenceEngine:
    """Runs one sequence in float32 (or float64, when the weights are float64)."""

    kernel = "plain attention, float32 sums by BLAS"

    def __init__(self, spec: Spec, weights: Weights) -> None:
        self.spec = spec
        self.weights = weights
        self.name = f"numpy{weights.said}"  # numpy-streamed: weights decoded as they are used
        self.dtype = weights.dtype
        self.precision = "fp64" if self.dtype == np.float64 else "fp32"
        self.between: Between = nothing

    @property
    def origin(self) -> Origin:
        return self.weights.origin

    def run(
        self,
        ids: Sequence[int],
        see: Iterable[Wish] = (),
        edits: Sequence[Edit] = (),
        cache: Cache | None = None,
        tail: int | None = None,
        statistics: AttentionWish | None = None,
    ) -> Trace:
        """One pass over `ids`, which follow what the cache has seen. NonFiniteError names the first bad site.

        CapacityError before anything is computed, when it would not fit in memory.
        """
        wishes, cache = named_sites("see", see), cache or self.fresh_cache(len(ids))
        tap = Tap(self.spec, wishes, edits, statistics=statistics)
        require_held(forgotten(edits, range(cache.seen, cache.seen + len(ids)), cache, self.spec))
        numbers = 0 if statistics is None else 2 * statistics.numbers(len(ids))  # in float64
        self._require_room(Run(len(ids), past=cache.seen, tail=tail, see=wishes, statistics=numbers))
        with np.errstate(over="ignore", invalid="ignore"):
            trace = self._pass(np.asarray(ids, np.int64), tap, cache, tail)
            if not trace.finite:
                self._locate_non_finite(ids, edits, cache, tail)
        return trace

    def onward(self, entry: Array, layers: range, sites: Sequence[str], length: int) -> Mapping[str, Array]:
        """Through these layers alone."""
        self._require_room(Run(len(entry), see=tuple(sites)), lambda spec, run: need_of_layers(spec, run, layers))
        tap, places = Tap(self.spec, [(site, layers[-1]) for site in sites]), np.arange(len(entry))
        angles, fresh = self._angles(places, length), self.fresh_cache(length)
        for index in layers:
            entry, _ = _Block(self, index, tap, places, angles).run(entry, _own(fresh.layers[index]))
        return {site: tap.kept[site, layers[-1]] for site in sites}

    def counterfactuals(
        self, base: Trace, changes: Sequence[Change], see: Iterable[Wish] = ()
    ) -> Iterator[tuple[int, Trace]]:
        """A run for each change, in order: a whole one where sites are seen, else from where it is first felt."""
        wishes = named_sites("see", see)
        return fresh_runs(self, base, changes, wishes) if wishes else continued_runs(self, base, changes)

    def gradient(self, base: Trace, read: Reading, sites: Iterable[Wish]) -> Gradient:
        """NumPy does not differentiate: UsageError."""
        raise UsageError("the numpy engine computes no gradients", 'use torch: model.variant(engine="torch")')

    def write(self, drafts: Sequence[Draft], choose: Choose) -> Sequence[tuple[bool, ...]]:
        """One draft after the other; ids that several share, and no edit reaches, are fed once."""
        return one_by_one(self, drafts, choose)

    def answer_rows(self, answers: Sequence[Answer]) -> Iterator[tuple[int, Array]]:
        """One text after the other."""
        for index, answer in enumerate(answers):
            yield index, self.run(answer.ids, tail=answer.rows + 1).logits[:-1]

    def _require_room(self, run: Run, needed: Callable[[Spec, Run], Need] = need) -> None:
        """Plain attention holds the scores and their softmax at once."""
        counted = replace(run, bytes_each=self.dtype.itemsize, scores=2, weights=self.weights.passing)
        require_room(needed(self.spec, counted), machine.available())

    def unembed(self, residual: Array) -> Array:
        """Logits [q v] that a residual stream [q c] would give if it were the last layer's."""
        return self._head(residual, np.arange(len(residual)), Tap(self.spec))

    def fresh_cache(self, length: int) -> Cache:
        """A cache that has seen nothing; `length` (the whole run's) settles length-dependent RoPE."""
        attentions = [layer.attention for layer in self.spec.layers]
        layers = tuple(caches.empty(a.kv_heads, a.head_width, self.dtype) for a in attentions)
        return Cache(layers, seen=0, rope_length=length)

    def _locate_non_finite(self, ids: Sequence[int], edits: Sequence[Edit], cache: Cache, tail: int | None) -> None:
        watching = Tap(self.spec, (), edits, strict=True)
        self._pass(np.asarray(ids, np.int64), watching, cache, tail)
        raise NonFiniteError("logits", None, cache.seen + len(ids) - 1, watching.largest)

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        positions = cache.seen + np.arange(len(ids))
        angles = self._angles(positions, cache.rope_length)
        x = tap.at("embed", None, self._embed(ids, positions), {"q": positions})
        kept = []
        for index in range(len(self.spec.layers)):
            block = _Block(self, index, tap, positions, angles)
            x, layer_cache = block.run(x, _own(cache.layers[index]))
            kept.append(layer_cache)
        rows = range(int(positions[0]) + max(len(ids) - (tail or len(ids)), 0), int(positions[-1]) + 1)
        logits = self._head(x[len(ids) - len(rows) :], np.asarray(rows), tap)
        fed = tuple(int(i) for i in ids)
        return Trace(
            spec=self.spec,
            ids=fed,
            start=cache.seen,
            sites=tap.kept,
            logits=logits,
            rows=rows,
            edits=tuple(tap.edits),
            changed=tuple(tap.changed),
            cache=Cache(tuple(kept), int(positions[-1]) + 1, cache.rope_length, cache.ids + fed),
            engine=self.name,
            precision=self.precision,
            origin=self.origin,
            kernel=self.kernel,
            statistics=None if tap.statistics is None else tuple(tap.records),
        )

    def _angles(self, positions: Array, length: int) -> Angles:
        ropes = {layer.attention.rope for layer in self.spec.layers if layer.attention.rope is not None}
        return {rope: _in(self.dtype, rope_angles(rope, positions, length)) for rope in ropes}

    def _embed(self, ids: Array, positions: Array) -> Array:
        require_known(ids, self.spec.vocab)
        x = self.weights.rows("embed", ids)
        if self.spec.embed_scale != 1.0:
            x = x * self.dtype.type(self.spec.embed_scale)
        if self.spec.positions is not None:
            x = x + learned(positions, self.weights["positions"], self.spec.positions.offset)
        return x if self.spec.embed_norm is None else self.norm(x, "embed_norm", self.spec.embed_norm)

    def _head(self, x: Array, rows: Array, tap: Tap) -> Array:
        final = tap.at("final", None, self.norm(x, "final_norm", self.spec.final_norm), {"q": rows})
        logits = np.empty((len(final), self.spec.vocab), final.dtype)
        for tokens, table in self.weights.slices("embed" if self.spec.tied else "head"):
            np.matmul(final, table.T, out=logits[:, tokens])
        if self.spec.head_bias:
            logits += self.weights["head_bias"]
        if self.spec.logit_scale != 1.0:
            logits *= self.dtype.type(self.spec.logit_scale)
        if self.spec.logit_cap is not None:
            logits = soft_cap(logits, self.spec.logit_cap)
        return tap.at("logits", None, logits, {"q": rows})

    def norm(self, x: Array, role: str, norm: Norm) -> Array:
        gain = self.weights[f"{role}.gain"]
        if norm.kind is NormKind.RMS:
            return rms_norm(x, gain, norm.eps)
        return layer_norm(x, gain, self.weights[f"{role}.bias"] if norm.bias else None, norm.eps)


class _Block:
    """One layer of one pass: reads the residual stream, passes every site through the tap, returns the new stream."""

    def __init__(self, engine: ReferenceEngine, index: int, tap: Tap, positions: Array, angles: Angles) -> None:
        self.layer: Layer = engine.spec.layers[index]
        self.attention: Attention = self.layer.attention
        self.engine, self.index, self.tap, self.positions = engine, index, tap, positions
        self.angles = angles[self.attention.rope] if self.attention.rope is not None else None

    def run(self, x: Array, cache: caches.LayerCache) -> tuple[Array, caches.LayerCache]:
        """Where the norms stand is the layout's choice; the sublayers are the same in all."""
        self.engine.between()
        x = self.at("resid_pre", x)
        layout = self.layer.layout
        before = layout in (Layout.PRE, Layout.SANDWICH, Layout.PARALLEL)
        inner = layout in (Layout.SANDWICH, Layout.INNER_POST)
        attn_in = self.at("attn_in", self.norm(x, "attn_norm") if before else x)
        written, cache = self.attend(attn_in, cache)
        attn_out = self.at("attn_out", self.norm(written, "attn_post_norm") if inner else written)
        if layout is Layout.PARALLEL:
            return self.at("resid_post", x + attn_out + self.feed(self.norm(x, "mlp_norm"), inner)), cache
        mid = x + attn_out
        mid = self.at("resid_mid", self.norm(mid, "attn_norm") if layout is Layout.POST else mid)
        after = mid + self.feed(self.norm(mid, "mlp_norm") if before else mid, inner)
        return self.at("resid_post", self.norm(after, "mlp_norm") if layout is Layout.POST else after), cache

    def attend(self, x: Array, cache: caches.LayerCache) -> tuple[Array, caches.LayerCache]:
        """Projections → position → scores → pattern → head outputs → output projection."""
        query, key = self.project(x, "query"), self.project(x, "key")
        query, key = self.at("query", self.qk_norm(query, "query_norm")), self.at("key", self.qk_norm(key, "key_norm"))
        value = self.at("value", self.project(x, "value"))
        if self.angles is not None and self.attention.rope is not None:
            pairing = plain_of(self.attention.rope).pairing
            query = self.at("query_pos", rotate(query, *self.angles, pairing))
            key = self.at("key_pos", rotate(key, *self.angles, pairing))
        cache = cache.append(key, value, self.positions)
        head_out = self.at("head_out", mix(self.pattern(query, cache), cache.value))
        out = project_out(head_out, self.weight("out"))
        if self.attention.out_bias:
            out += self.weight("out_bias")
        return out, cache if self.attention.window is None else cache.roll(self.attention.window)

    def pattern(self, query: Array, cache: caches.LayerCache) -> Array:
        """scores (scaled, capped, ALiBi) → edits and cuts → mask → softmax."""
        a, places = self.attention, {"q": self.positions, "k": cache.positions}
        s = shaped_scores(query, cache.key, self.positions, cache.positions, a)
        seen = visible(self.positions, cache.positions, a.window)
        s = self.tap.at("scores", self.index, s, places, seen)
        self.require_something_seen(s, seen)
        sinks = self.weight("sinks") if a.sinks else None
        pattern = self.tap.at("pattern", self.index, softmax(s, seen, sinks), places)
        mass = None if sinks is None else self.tap.at("sink_mass", self.index, sink_mass(s, seen, sinks), places)
        if self.tap.statistics is not None:
            record = rows_of(pattern, seen, self.tap.statistics, self.positions, cache.positions, mass, s)
            self.tap.records.append(record)
        return pattern

    def require_something_seen(self, s: Array, seen: Array) -> None:
        """A cut that leaves a row without any key is refused: the row would be undefined."""
        if not any(edit.site == "scores" for edit in self.tap.edits):
            return
        blind = seen.any(axis=-1) & ~(seen & (s != -np.inf)).any(axis=-1)
        if blind.any():
            head, row = (int(i) for i in np.argwhere(blind)[0])
            raise SiteError(
                f"the cut leaves query {self.positions[row]} of layer {self.index}, head {head} with no key to see",
                "leave at least one key, or ablate the head instead",
            )

    def feed(self, x: Array, inner: bool) -> Array:
        """The MLP's contribution, exactly as it is added."""
        x = self.at("mlp_in", x)
        written = self.mixture(x, self.layer.mlp) if isinstance(self.layer.mlp, Moe) else self.mlp(x, self.layer.mlp)
        return self.at("mlp_out", self.norm(written, "mlp_post_norm") if inner else written)

    def mlp(self, x: Array, mlp: Mlp) -> Array:
        up_bias, down_bias = (self.weight("up_bias"), self.weight("down_bias")) if mlp.bias else (None, None)
        if mlp.gated:
            gate_bias = self.weight("gate_bias") if mlp.bias else None
            hidden = gated_hidden(x, self.weight("gate"), self.weight("up"), mlp.activation, gate_bias, up_bias)
        else:
            hidden = dense_hidden(x, self.weight("up"), mlp.activation, up_bias)
        return linear(self.at("mlp_hidden", hidden), self.weight("down"), down_bias)

    def mixture(self, x: Array, moe: Moe) -> Array:
        """Σ over the chosen experts of weight · W_down · hidden; hidden of an expert not chosen is 0."""
        logits = self.at("router", linear(x, self.weight("router")))
        gates = route(logits, moe.active, moe.normalise)
        hidden = np.zeros((len(x), moe.experts, moe.width), x.dtype)
        for e in range(moe.experts):
            rows = np.flatnonzero(gates[:, e])
            if rows.size:
                gate, up = self.weight(f"experts.{e}.gate"), self.weight(f"experts.{e}.up")
                hidden[rows, e] = gated_hidden(x[rows], gate, up, moe.activation)
        hidden = self.at("mlp_hidden", hidden)
        out = np.zeros_like(x)
        for e in range(moe.experts):
            rows = np.flatnonzero(gates[:, e])
            if rows.size:
                out[rows] += gates[rows, e, None] * linear(hidden[rows, e], self.weight(f"experts.{e}.down"))
        return out

    def project(self, x: Array, role: str) -> Array:
        """[q c] → heads [q h d] (or groups [k g d])."""
        weight = self.weight(role)
        heads, width, c = weight.shape
        flat = linear(x, weight.reshape(heads * width, c))
        if self.attention.bias:
            flat += self.weight(f"{role}_bias").reshape(-1)
        return as_heads(flat, heads)

    def qk_norm(self, x: Array, role: str) -> Array:
        match self.attention.qk_norm:
            case None:
                return x
            case QkNorm.PER_HEAD:
                return rms_norm(x, self.weight(f"{role}.gain"), self.attention.qk_norm_eps)
            case QkNorm.WHOLE:
                flat = rms_norm(x.reshape(len(x), -1), self.weight(f"{role}.gain"), self.attention.qk_norm_eps)
                return flat.reshape(x.shape)

    def norm(self, x: Array, role: str) -> Array:
        return self.engine.norm(x, f"layers.{self.index}.{role}", self.layer.norm)

    def weight(self, role: str) -> Array:
        return self.engine.weights[f"layers.{self.index}.{role}"]

    def at(self, site: str, value: Array) -> Array:
        return self.tap.at(site, self.index, value, {"q": self.positions, "k": self.positions})


def _own(slots: LayerSlots) -> caches.LayerCache:
    """UsageError for a cache that another engine made."""
    if isinstance(slots, caches.LayerCache):
        return slots
    raise UsageError("this cache was made by another engine", "run the prompt with this engine, and use its cache")


def _in(dtype: np.dtype, pair: tuple[Array, Array]) -> tuple[Array, Array]:
    return pair[0].astype(dtype, copy=False), pair[1].astype(dtype, copy=False)
