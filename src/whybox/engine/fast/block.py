"""One layer on a batch [b q c]: the reference engine's block, line for line, on tensors.

Every site passes through the tap. Where nobody watches scores or pattern, a fused kernel may take their place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import rms_norm

from whybox.engine.between import Between, nothing
from whybox.engine.fast import kernels, tiled
from whybox.engine.fast.activation import activate
from whybox.engine.fast.kernel_choice import Kernel, chosen
from whybox.engine.fast.keys import LayerKeys, Part
from whybox.engine.fast.packed import PackedLayer, PackedMlp, PackedMoe, linear, norm
from whybox.engine.fast.products import finite
from whybox.engine.fast.sight import Sight, Sights, beside
from whybox.engine.fast.statistics import Collector, Survey
from whybox.engine.fast.tap import BatchTap, Places
from whybox.engine.fast.tiled import attend_tiled
from whybox.engine.fast.turning import Turn, rotate_heads
from whybox.errors import SiteError
from whybox.spec import Attention, Layout, Mlp, Moe, QkNorm, Rope
from whybox.statistics.rows import AttentionRows, AttentionWish, rows_of

SCORE_SITES = ("scores", "pattern", "sink_mass")
Array = np.ndarray
Turns = Callable[[Rope], Turn]
Held = dict[int, Tensor]  # expert → its hidden rows
Chosen = dict[int, tuple[Tensor, ...]]  # expert → the rows that chose it


@dataclass
class Batch:
    """What all layers of one pass share: where its rows stand, who watches, and which kernel was asked for.

    turns: rope → how far the heads turn at each row [b|1 q]. kernels_used: layer → the kernel that ran there. between:
    called before each layer.
    """

    places: Places
    tap: BatchTap
    turns: Turns
    kernel: Kernel
    device: torch.device
    between: Between = field(default=nothing)
    sights: Sights = field(init=False)
    kernels_used: dict[int, Kernel] = field(default_factory=dict)
    surveys: dict[tiled.Places, Survey] = field(default_factory=dict)
    key_places: dict[Sight, Places] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sights = Sights(self.places.query, self.device)

    def last(self, rows: int) -> "Batch":
        """The same pass, for its last rows alone."""
        query = self.places.query[:, -rows:]
        lengths = [max(length - self.places.query.shape[1] + rows, 0) for length in self.places.lengths]
        narrowed = replace(self, places=Places(query, query, lengths), key_places={})
        narrowed.kernels_used = self.kernels_used
        return narrowed

    def survey(self, places: tiled.Places, spec: Attention, dtype: torch.dtype) -> Survey:
        """Layers that look at the same places share one."""
        if places not in self.surveys:
            assert self.tap.statistics is not None
            weights = torch.promote_types(dtype, torch.float32)
            self.surveys[places] = Survey.of(places, spec.window, self.tap.statistics, self.device, weights)
        return self.surveys[places]


class Block:
    """One layer of one pass: reads the residual stream, passes every site through the tap, returns the new stream.

    needed: how many of the last rows anybody reads; of the others only keys and values are computed. None: all.
    """

    def __init__(self, packed: PackedLayer, index: int, batch: Batch, needed: int | None = None) -> None:
        self.packed, self.layer, self.attention = packed, packed.layer, packed.layer.attention
        self.index, self.batch, self.tap = index, batch, batch.tap
        self.watched = self.tap.busy_in(index)
        self.needed = None if self.watched else needed
        self.sound = packed.sound

    def run(self, x: Tensor, keys: LayerKeys) -> tuple[Tensor, LayerKeys]:
        """Where the norms stand is the layout's choice; the sublayers are the same in all."""
        self.batch.between()
        x = self.at("resid_pre", x)
        layout = self.layer.layout
        before = layout in (Layout.PRE, Layout.SANDWICH, Layout.PARALLEL)
        inner = layout in (Layout.SANDWICH, Layout.INNER_POST)
        attn_in = self.at("attn_in", self.norm(x, "attn_norm") if before else x)
        written, keys = self.attend(attn_in, keys)
        x = self.last_rows(x)
        attn_out = self.at("attn_out", self.norm(written, "attn_post_norm") if inner else written)
        if layout is Layout.PARALLEL:
            return self.at("resid_post", x + attn_out + self.feed(self.norm(x, "mlp_norm"), inner)), keys
        mid = x + attn_out
        mid = self.at("resid_mid", self.norm(mid, "attn_norm") if layout is Layout.POST else mid)
        after = mid + self.feed(self.norm(mid, "mlp_norm") if before else mid, inner)
        return self.at("resid_post", self.norm(after, "mlp_norm") if layout is Layout.POST else after), keys

    def attend(self, x: Tensor, keys: LayerKeys) -> tuple[Tensor, LayerKeys]:
        """Projections → position → scores → pattern → head outputs → output projection."""
        turning, value = self.project(x)
        turning, value = self.shown(turning), self.at("value", value)
        query, key = self.positioned(turning)
        self.sound = self.packed.sound and (not self.tap.edited or (finite(query) and finite(key)))
        parts, keys = keys.extend(key, value, self.batch.places.query, self.attention.window)
        if self.needed is not None:
            query, self.batch = self.last_rows(query), self.batch.last(self.needed)
        head_out = self.at("head_out", self.mixed(query.transpose(1, 2), parts).transpose(1, 2))
        return linear(head_out.flatten(2), self.packed.out), keys

    def project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """[b q c] → queries and keys [b q h+g d], values [b q g d], in one product."""
        a = self.attention
        heads = linear(x, self.packed.qkv).view(*x.shape[:2], a.heads + 2 * a.kv_heads, a.head_width)
        turning, value = heads.split_with_sizes([a.heads + a.kv_heads, a.kv_heads], dim=2)
        return turning, value

    def shown(self, turning: Tensor) -> Tensor:
        """Queries and keys [b q h+g d] after their norms and edits; where there are neither, they are not touched."""
        if not self.watched and self.packed.query_norm is None:
            return turning
        query, key = self.apart(turning)
        query = self.at("query", self.qk_norm(query, self.packed.query_norm))
        key = self.at("key", self.qk_norm(key, self.packed.key_norm))
        return torch.cat([query, key], dim=2)

    def positioned(self, turning: Tensor) -> tuple[Tensor, Tensor]:
        """Query [b q h d] and key [b q g d], turned by their position where the layer has RoPE."""
        if self.attention.rope is None:
            return self.apart(turning)
        query, key = self.apart(rotate_heads(turning, self.batch.turns(self.attention.rope)))
        return self.at("query_pos", query), self.at("key_pos", key)

    def apart(self, turning: Tensor) -> tuple[Tensor, Tensor]:
        query, key = turning.split_with_sizes([self.attention.heads, self.attention.kv_heads], dim=2)
        return query, key

    def mixed(self, query: Tensor, parts: Sequence[Part]) -> Tensor:
        """head_out [b h q d] by the kernel that obeys this layer and shows what is watched."""
        sight = self.batch.sights.of(parts, self.attention.window)
        kernel = self.batch.kernels_used[self.index] = self.kernel(query, sight)
        if kernel is Kernel.TILED:
            return self.tiled(query, parts[0], sight)
        bias = kernels.distance_bias(self.attention, self.batch.places.query, parts)
        if kernel is Kernel.SDPA:
            return kernels.fused(query, parts, sight, bias, self.attention)
        return kernels.mix(self.pattern(query, parts, sight, bias), parts)

    def kernel(self, query: Tensor, sight: Sight) -> Kernel:
        """What is watched is shown by plain attention alone, as is NaN; statistics come from tiles of one text."""
        gathered = self.tap.statistics is not None
        if not self.sound or any(self.tap.watches(site, self.index) for site in SCORE_SITES):
            return Kernel.PLAIN
        if gathered and len(query) > 1:
            return Kernel.PLAIN
        return chosen(Kernel.TILED if gathered else self.batch.kernel, self.attention, sight, query.dtype)

    def tiled(self, query: Tensor, part: Part, sight: Sight) -> Tensor:
        """No pattern is ever whole; whoever wants statistics reads the tiles."""
        assert sight.places is not None
        places, collector = sight.places, None
        if self.tap.statistics is not None:
            collector = Collector(self.batch.survey(places, self.attention, query.dtype), self.attention.heads)
        mixed = attend_tiled(query, part.key, part.value, places, self.attention, self.packed.sinks, collector)
        if collector is not None:
            self.tap.records[self.index] = collector.rows()
        return mixed.transpose(1, 2)

    def pattern(self, query: Tensor, parts: Sequence[Part], sight: Sight, bias: Tensor | None) -> Tensor:
        """scores (scaled, capped, ALiBi) → edits and cuts → mask → softmax."""
        s = kernels.scores(query, parts, self.attention)
        s = s if bias is None else s + bias
        if self.tap.watches("scores", self.index):
            s = self.tap.at("scores", self.index, s, self._places_with_keys(sight), _shown(sight))
            self.require_something_seen(s, sight)
        pattern, mass = kernels.softmax(s, sight, self.packed.sinks)
        if self.tap.watches("pattern", self.index):
            pattern = self.tap.at("pattern", self.index, pattern, self._places_with_keys(sight))
        if mass is not None:
            mass = self.at("sink_mass", mass)
        if self.tap.statistics is not None:
            places = self._places_with_keys(sight)
            scores = s[0].cpu().numpy() if self.tap.statistics.scores else None
            self.tap.records[self.index] = _rows_of((pattern, mass, scores), self.tap.statistics, sight, places)
        return pattern

    def _places_with_keys(self, sight: Sight) -> Places:
        """The axis k of scores and pattern: all that can be looked at, part after part."""
        known, mine = self.batch.key_places, self.batch.places
        if sight not in known:
            known[sight] = Places(mine.query, beside(sight.key), mine.lengths)
        return known[sight]

    def require_something_seen(self, s: Tensor, sight: Sight) -> None:
        """A cut that leaves a row without any key is refused: the row would be undefined."""
        if not self.tap.edits_at("scores", self.index):
            return
        seen = _shown(sight)
        blind = seen.any(dim=-1)[:, None] & ~(seen[:, None] & ~torch.isneginf(s)).any(dim=-1)
        if bool(blind.any()):
            row, head, query = (int(i) for i in torch.nonzero(blind)[0])
            raise SiteError(
                f"the cut leaves query {self.batch.places.of(row)['q'][query]} of layer {self.index}, head {head} "
                "with no key to see",
                "leave at least one key, or ablate the head instead",
            )

    def feed(self, x: Tensor, inner: bool) -> Tensor:
        """The MLP's contribution, exactly as it is added."""
        x, mlp = self.at("mlp_in", x), self.packed.mlp
        written = self.mixture(x, mlp) if isinstance(mlp, PackedMoe) else self.mlp(x, mlp)
        return self.at("mlp_out", self.norm(written, "mlp_post_norm") if inner else written)

    def mlp(self, x: Tensor, mlp: PackedMlp) -> Tensor:
        return linear(self.at("mlp_hidden", hidden(x, mlp, self.layer.mlp)), mlp.down)

    def mixture(self, x: Tensor, moe: PackedMoe) -> Tensor:
        """Σ over the chosen experts of weight · W_down · hidden; hidden of an expert not chosen is 0."""
        spec = self.layer.mlp
        assert isinstance(spec, Moe)
        gates = route(self.at("router", linear(x, moe.router)), spec.active, spec.normalise).to(x.dtype)
        rows = {e: where for e in range(spec.experts) if len((where := torch.nonzero(gates[..., e], as_tuple=True))[0])}
        held = {e: hidden(x[where], moe.experts[e], spec) for e, where in rows.items()}
        if self.tap.watches("mlp_hidden", self.index):
            held = self._watched(held, rows, x.new_zeros(*gates.shape, spec.width))
        out = torch.zeros_like(x)
        for e, where in rows.items():
            out[where] += gates[..., e][where][:, None] * linear(held[e], moe.experts[e].down)
        return out

    def _watched(self, held: Held, rows: Chosen, whole: Tensor) -> Held:
        """What the experts hold, passed through the tap as one site [b q e f] and taken apart again."""
        for e, where in rows.items():
            whole[..., e, :][where] = held[e]
        whole = self.at("mlp_hidden", whole)
        return {e: whole[..., e, :][where] for e, where in rows.items()}

    def qk_norm(self, x: Tensor, gain: Tensor | None) -> Tensor:
        """RMS norm of each head, or of the whole projection; nothing where the family has none."""
        if gain is None:
            return x
        whole = x.flatten(2) if self.attention.qk_norm is QkNorm.WHOLE else x
        return rms_norm(whole, gain.shape, gain, self.attention.qk_norm_eps).view(x.shape)

    def last_rows(self, x: Tensor) -> Tensor:
        return x if self.needed is None else x[:, -self.needed :]

    def norm(self, x: Tensor, role: str) -> Tensor:
        return norm(x, self.packed.norms[role])

    def at(self, site: str, value: Tensor) -> Tensor:
        if not self.watched or not self.tap.watches(site, self.index):
            return value
        return self.tap.at(site, self.index, value, self.batch.places)


def hidden(x: Tensor, mlp: PackedMlp, spec: Mlp | Moe) -> Tensor:
    """act(x · W_upᵀ), or with a gate act(x · W_gateᵀ) ⊙ (x · W_upᵀ) from one product."""
    wide = linear(x, mlp.gate_up)
    if isinstance(spec, Mlp) and not spec.gated:
        return activate(wide, spec.activation)
    gate, up = wide.chunk(2, dim=-1)
    active = activate(gate, spec.activation)  # a fresh tensor, so that nobody else loses it …
    return active * up if active.requires_grad else active.mul_(up)  # … but the way back, which for ReLU reads it


def route(router: Tensor, active: int, normalise: bool) -> Tensor:
    """Router logits [b q e] → the weight of each expert; the `active` largest kept, between equals the lower one."""
    weights = torch.softmax(router.float() if router.dtype.itemsize < 4 else router, dim=-1)
    chosen = torch.sort(router, dim=-1, descending=True, stable=True).indices[..., :active]
    kept = torch.zeros_like(weights).scatter(-1, chosen, weights.gather(-1, chosen))
    return kept / kept.sum(dim=-1, keepdim=True) if normalise else kept


def _rows_of(
    found: tuple[Tensor, Tensor | None, Array | None], wish: AttentionWish, sight: Sight, places: Places
) -> AttentionRows:
    """The record of a pattern that is there, with its sink mass and scores: of the first row, without its padding."""
    pattern, mass, scores = found
    query, key = places.lengths[0], places.key.shape[1] - places.padding(0)
    masses = None if mass is None else mass[0, :, :query].cpu().numpy()
    seen = _shown(sight)[0, :query, :key].cpu().numpy()
    scores = None if scores is None else scores[:, :query, :key]
    weights = pattern[0, :, :query, :key].cpu().numpy()
    return rows_of(weights, seen, wish, places.query[0, :query], places.key[0, :key], masses, scores)


def _shown(sight: Sight) -> Tensor:
    """The mask [n q k], also where everything is visible."""
    if sight.mask is not None:
        return sight.mask
    keys = sum(part.shape[1] for part in sight.key)
    return torch.ones(1, sight.query.shape[1], keys, dtype=torch.bool, device=sight.device)
