"""What may be wrong where two runs part: known faults, by the site at which each is first felt.

A suspect is a fault that can be imposed on a sound model. Some have a number that nobody knows; those are tried at the
values that real code gets wrong, and then fitted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from whybox.parts.rope import plain_of
from whybox.spec import Activation, Attention, LinearRope, Llama3Rope, Moe, NtkRope, Spec, YarnRope
from whybox.testing import faults
from whybox.testing.faults import Fault
from whybox.weights import Weights


@dataclass(frozen=True)
class Suspect:
    """A fault and the sites at which it is first felt."""

    fault: Fault
    felt: tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """Faults that differ by one positive number: `make` of it; tried: values that real code has."""

    make: Callable[[float], Fault]
    felt: tuple[str, ...]
    tried: tuple[float, ...]

    def suspect(self, value: float) -> Suspect:
        return Suspect(self.make(value), self.felt)


NORMS = ("attn_in", "mlp_in", "final", "query", "key", "attn_out", "mlp_out", "resid_mid", "resid_post", "embed")
TURNED = ("query_pos", "key_pos")
PROJECTED = ("query", "key", "value")
SOFTMAX = ("pattern", "sink_mass")
NARROW = ("bf16", "fp16")
SHARES = (1.0, 0.75, 0.5, 0.4, 0.25)  # of a head that models turn
NARROWEST = 4  # dimensions that RoPE turns: two alone have one angle, and no scaling by length


def fixed(spec: Spec) -> Iterator[Suspect]:
    """Faults without a number, that this description can have."""
    f = faults
    groups: tuple[tuple[tuple[str, ...], tuple[Fault, ...]], ...] = (
        (("embed",), (f.EMBEDDING_UNSCALED, f.NO_EMBED_NORM, f.table_offset(1), f.table_offset(2), f.table_offset(-2))),
        (NORMS, (f.GAIN_TWICE, f.GAIN_NEVER, f.NORM_KIND)),
        (NORMS, (*map(f.norm_before_gain_in, NARROW), *map(f.norm_out_in, NARROW))),
        (("attn_in",), (f.ATTENTION_NORM_MISSING,)),
        (("mlp_in",), (f.MLP_NORM_MISSING,)),
        (("final",), (f.FINAL_GAIN_ONE, f.FINAL_NORM_MISSING)),
        (("query", "key"), (f.NO_QK_NORM, f.ROPE_ROWS, f.ROPE_ROWS_OF_KEYS, f.ROPE_ROWS_OF_QUERIES)),
        (PROJECTED, (f.NO_QKV_BIAS,)),
        (TURNED, (f.ROPE_PAIRING, f.NO_ROPE, f.NO_ROPE_SCALING, *_scalings(spec))),
        (("scores",), (f.NO_SCORE_SCALE, f.NO_CAP, f.NO_ALIBI, f.KV_HEADS_TILED)),
        (SOFTMAX, (f.MASK_AFTER_SOFTMAX, f.NO_MASK, f.NO_WINDOW, *_windows(spec), f.NO_SINKS)),
        (SOFTMAX, (*map(f.softmax_in, NARROW),)),
        (("attn_out",), (f.NO_OUT_BIAS,)),
        (("mlp_hidden",), (*(f.activation(form) for form in Activation), f.GATE_UP_EXCHANGED)),
        (("mlp_hidden", "mlp_out"), (f.NO_MLP_BIAS, f.EXPERTS_NORMALISED, f.EXPERTS_NOT_NORMALISED, *_experts(spec))),
        (("logits",), (f.HEAD_TIED, f.logit_cap(None), f.logit_scale(1.0))),
    )
    return (Suspect(fault, felt) for felt, members in groups for fault in members)


def _experts(spec: Spec) -> Iterator[Fault]:
    """One expert more or less than there should be, or one alone."""
    for moe in dict.fromkeys(layer.mlp for layer in spec.layers):
        if isinstance(moe, Moe):
            counts = dict.fromkeys((moe.active - 1, moe.active + 1, 1))
            yield from (faults.active_experts(n) for n in counts if 0 < n <= moe.experts and n != moe.active)


def _windows(spec: Spec) -> Iterator[Fault]:
    if any(layer.attention.window is not None for layer in spec.layers):
        yield from (faults.window(by) for by in (1, -1))


def _scalings(spec: Spec) -> Iterator[Fault]:
    """The other kinds of scaling that the factor and context of this description allow."""
    for rope in dict.fromkeys(layer.attention.rope for layer in spec.layers):
        if rope is not None:
            yield from (_llama3(factor, original) for factor, original in LLAMA3)
        if not isinstance(rope, NtkRope | Llama3Rope | YarnRope):
            continue
        yield _linear(rope.factor)
        if not isinstance(rope, NtkRope):
            yield _dynamic(rope.factor, rope.original)


LLAMA3 = ((8.0, 8192), (32.0, 8192))
"""Factor and original context of Llama 3.1 and 3.2."""


def _llama3(factor: float, original: int) -> Fault:
    return faults.rope_scaled("Llama 3.1", lambda plain: Llama3Rope(plain, factor, 1.0, 4.0, original))


def _linear(factor: float) -> Fault:
    return faults.rope_scaled("linear", lambda plain: LinearRope(plain, factor))


def _dynamic(factor: float, original: int) -> Fault:
    return faults.rope_scaled("dynamic NTK", lambda plain: NtkRope(plain, factor, original))


def families(spec: Spec) -> Iterator[Family]:
    """Faults with a number, and the values at which they are tried."""
    f, first = faults, spec.layers[0].attention
    width, c = first.head_width, spec.width
    yield Family(f.eps, NORMS, (1e-5, 1e-6, 1e-8, 1e-12, 1e-3))
    yield Family(f.embed_scale, ("embed",), (1.0, c**0.5))
    if any(layer.attention.rope is not None for layer in spec.layers):
        yield from _turned(spec)
    scales = (width**-0.5, 1 / width, (c / first.heads) ** -0.5, c**-0.5)
    yield Family(f.score_scale, ("scores",), scales)
    yield Family(f.score_scale_times, ("scores",), (width**-0.5, width**0.5, 0.5, 2.0))
    yield Family(f.score_cap, ("scores",), (50.0, 30.0, 20.0))
    yield Family(f.logit_cap, ("logits",), (30.0, 50.0))
    yield Family(f.logit_scale, ("logits",), (1.0, c**-0.5, c**0.5))


def _turned(spec: Spec) -> Iterator[Family]:
    f = faults
    bases = (1e4, 1e5, 5e5, 1e6, 1e7, 8e6)
    attentions = [layer.attention for layer in spec.layers if layer.attention.rope is not None]
    two_kinds = len({a.window is None for a in attentions}) == 2
    if two_kinds:
        yield Family(f.local_theta, TURNED, bases)
        yield Family(f.global_theta, TURNED, bases)
        yield Family(f.positions_divided, TURNED, (8.0, 4.0, 2.0))
    yield Family(f.theta, TURNED, bases)
    yield Family(f.all_positions_divided, TURNED, (2.0, 4.0, 8.0, 16.0, 32.0))
    if any(isinstance(a.rope, YarnRope) for a in attentions):
        yield Family(f.yarn_magnitude, TURNED, (1.0, *(m**2 for m in _magnitudes(attentions))))


def _magnitudes(attentions: Iterable[Attention]) -> set[float]:
    return {a.rope.magnitude for a in attentions if isinstance(a.rope, YarnRope)}


def widths(spec: Spec) -> Iterator[Suspect]:
    """RoPE on another part of the head."""
    attentions = [layer.attention for layer in spec.layers if layer.attention.rope is not None]
    known = {a.head_width for a in attentions}
    right = {plain_of(a.rope).width for a in attentions if a.rope is not None}
    for head in known:
        for part in dict.fromkeys(2 * round(head * share / 2) for share in SHARES):
            if part >= NARROWEST and part not in right:
                yield Suspect(faults.rope_width(part), TURNED)


def catalogue(spec: Spec) -> tuple[tuple[Suspect, ...], tuple[Family, ...]]:
    """All that this description can have: without a number, and with one."""
    return (*fixed(spec), *widths(spec)), tuple(families(spec))


def behind_cache(tokens: int) -> Iterator[Suspect]:
    """Faults behind a cache, where it holds so many tokens: none can be felt before the first that follows."""
    if tokens:
        yield Suspect(faults.CACHE_POSITION.after(tokens), ("embed", *TURNED, "scores", *SOFTMAX))
        yield Suspect(faults.CACHE_SLOT.after(tokens), SOFTMAX)
        yield Suspect(faults.MASK_BY_INDEX.after(tokens), SOFTMAX)


def changes_something(fault: Fault, spec: Spec, weights: Weights) -> bool:
    """Whether a fault makes this model another."""
    if fault.rewires or fault.cached is not None:
        return True
    other, arrays = fault.changed(spec, weights)
    return other != spec or any(arrays[role] is not weights[role] for role in arrays)


def felt_at(suspects: Sequence[Suspect], sites: Iterable[str]) -> list[Suspect]:
    """Those that are first felt at one of the sites."""
    wanted = set(sites)
    return [suspect for suspect in suspects if wanted & set(suspect.felt)]
