"""The sites: the only places where a run is seen or changed, in the order in which they happen.

Axes: q query position · k key position · h query head · g key/value head · d head width · c model width ·
f MLP width · e expert · v vocabulary.
"""

import difflib
from dataclasses import dataclass

from whybox.errors import SiteError
from whybox.spec import Layer, Layout, Moe, Spec


@dataclass(frozen=True)
class Site:
    """A named value of the computation. `per_layer` sites exist once in each layer."""

    name: str
    axes: str
    meaning: str
    per_layer: bool = True


SITES: tuple[Site, ...] = (
    Site("embed", "q c", "what enters layer 0: scaled, positions added, embedding norm done", per_layer=False),
    Site("resid_pre", "q c", "residual stream before the block"),
    Site("attn_in", "q c", "what the query, key and value projections read"),
    Site("query", "q h d", "after bias and qk-norm, before position"),
    Site("key", "k g d", "after bias and qk-norm, before position"),
    Site("value", "k g d", "after bias"),
    Site("query_pos", "q h d", "query after RoPE"),
    Site("key_pos", "k g d", "key after RoPE"),
    Site("scores", "h q k", "scaled, soft-capped, ALiBi added, before the mask"),
    Site("pattern", "h q k", "attention weights; rows sum to 1 − sink_mass"),
    Site("sink_mass", "h q", "weight on the learned sink"),
    Site("head_out", "q h d", "mixed values of each head, before the output projection"),
    Site("attn_out", "q c", "exactly what attention adds to the residual stream"),
    Site("resid_mid", "q c", "residual stream between attention and MLP"),
    Site("mlp_in", "q c", "what the MLP reads"),
    Site("router", "q e", "router logits of a mixture of experts"),
    Site("mlp_hidden", "q f", "after activation and gate; q e f in a mixture of experts"),
    Site("mlp_out", "q c", "exactly what the MLP adds to the residual stream"),
    Site("resid_post", "q c", "residual stream after the block"),
    Site("final", "q c", "after the last norm", per_layer=False),
    Site("logits", "q v", "after the last scale and cap", per_layer=False),
)

BY_NAME: dict[str, Site] = {site.name: site for site in SITES}


def sites_of(spec: Spec) -> tuple[Site, ...]:
    """The sites that this model has, in order: learned sinks, experts and parallel blocks decide."""
    attention = [layer.attention for layer in spec.layers]
    absent = set()
    if not any(a.sinks for a in attention):
        absent.add("sink_mass")
    if all(a.rope is None for a in attention):
        absent |= {"query_pos", "key_pos"}
    if not any(isinstance(layer.mlp, Moe) for layer in spec.layers):
        absent.add("router")
    if all(layer.layout is Layout.PARALLEL for layer in spec.layers):
        absent.add("resid_mid")
    return tuple(site for site in SITES if site.name not in absent)


def exists_in(name: str, layer: Layer) -> bool:
    """Whether a site that the model has exists in this layer of it."""
    match name:
        case "router":
            return isinstance(layer.mlp, Moe)
        case "sink_mass":
            return layer.attention.sinks
        case "query_pos" | "key_pos":
            return layer.attention.rope is not None
        case "resid_mid":
            return layer.layout is not Layout.PARALLEL
        case _:
            return True


def require_site(name: str, spec: Spec) -> Site:
    """The site of that name, or a SiteError that lists those that this model has."""
    present = {site.name: site for site in sites_of(spec)}
    if name in present:
        return present[name]
    near = difflib.get_close_matches(name, present, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise SiteError(f"{spec.family} has no site {name!r}", f"{hint}sites: {', '.join(present)}")


def require_has(name: str, layer: int, spec: Spec) -> None:
    """SiteError where this layer does not exist, or lacks a site that others have."""
    if not exists_in(name, spec.layers[require_layer(layer, spec)]):
        raise SiteError(f"layer {layer} has no site {name!r}, other layers of this model do")


def require_layer(layer: int, spec: Spec) -> int:
    """A layer index from 0 to layers − 1, or a SiteError."""
    if 0 <= layer < len(spec.layers):
        return layer
    raise SiteError(f"no layer {layer}: this model has layers 0 … {len(spec.layers) - 1}")
