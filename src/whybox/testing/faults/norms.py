"""Faults of norms: ε, gain, kind, and norms that are not there."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whybox.engine.rewired import NORMED, Rewire
from whybox.parts.rounding import rounded
from whybox.spec import Norm, NormKind, Spec
from whybox.testing.faults.fault import Described, Fault, attention, with_arrays
from whybox.weights import Weights

Array = np.ndarray


def eps(value: float) -> Fault:
    """The ε of every norm replaced."""
    why = "Rows are scaled by √((m + ε)/(m + ε′)) of their mean square m: the quieter a row, the more. No text changes."
    return Fault(
        "norm-eps", f"ε {value:g} in every norm", lambda spec, weights: (_with_eps(spec, value), weights), why=why
    )


def _with_eps(spec: Spec, value: float) -> Spec:
    def norm(old: Norm) -> Norm:
        return replace(old, eps=value)

    layers = tuple(
        replace(layer, norm=norm(layer.norm), attention=replace(layer.attention, qk_norm_eps=value))
        for layer in spec.layers
    )
    embed = None if spec.embed_norm is None else norm(spec.embed_norm)
    return replace(spec, layers=layers, final_norm=norm(spec.final_norm), embed_norm=embed)


def gains(name: str, what: str, shift: float) -> Fault:
    """Every norm's gain shifted."""
    why = f"Every channel of a normalised row is off by {shift:+g} times its bare value, at every position alike."

    def changed(spec: Spec, weights: Weights) -> Described:
        roles = [role for role in weights if role.endswith(".gain")]
        return spec, with_arrays(weights, {role: weights[role] + weights[role].dtype.type(shift) for role in roles})

    return Fault(name, what, changed, why=why)


def _final_gain_one(spec: Spec, weights: Weights) -> Described:
    return spec, with_arrays(weights, {"final_norm.gain": np.ones_like(weights["final_norm.gain"])})


def _other_kind(spec: Spec, weights: Weights) -> Described:
    """RMS for layer norms and the other way round; a bias that is not there is none."""
    kind = NormKind.LAYER if spec.final_norm.kind is NormKind.RMS else NormKind.RMS

    def norm(old: Norm) -> Norm:
        return replace(old, kind=kind)

    layers = tuple(replace(layer, norm=norm(layer.norm)) for layer in spec.layers)
    return replace(spec, layers=layers, final_norm=norm(spec.final_norm)), weights


def _absent(name: str, what: str, site: str, *sources: str) -> Fault:
    """No norm: the site is what the norm would read, the first of the sources that the block has."""
    why = f"`{site}` is the residual stream itself, number by number."

    def unchanged(value: Array, before: Mapping[str, Array]) -> Array:
        return next(before[source] for source in sources if source in before)[-len(value) :]

    return Fault(name, what, rewires=(Rewire(site, unchanged, sources),), why=why)


def norm_out_in(precision: str) -> Fault:
    """What a norm writes rounded to a precision, whatever the rest is computed in."""

    def coarse(value: Array, before: Mapping[str, Array]) -> Array:
        return np.asarray(rounded(value, precision))

    sites = ("attn_in", "mlp_in", "final")
    why = f"What norms write are numbers of {precision}, and nothing else is: one rounding, behind the gain."
    rewires = tuple(Rewire(site, coarse) for site in sites)
    return Fault("norm-precision", f"norms in {precision}", rewires=rewires, rounds=precision, why=why)


def norm_before_gain_in(precision: str) -> Fault:
    """A row rounded to a precision between its norm and the gain, as programs do that keep gains in float32."""

    def coarse(value: Array, before: Mapping[str, Array]) -> Array:
        return np.asarray(rounded(value, precision))

    why = f"Norms divided by their gain are numbers of {precision}: rounded before the gain, where others do it after."
    what = f"norms rounded to {precision} before their gain"
    return Fault("norm-order", what, rewires=(Rewire(NORMED, coarse),), rounds=precision, why=why)


FINAL_GAIN_ONE = Fault(
    "final-gain-one",
    "final norm without its gain",
    _final_gain_one,
    why="Up to the last residual stream all is exact; `final` is off by its gain, at every position alike.",
)
FINAL_NORM_MISSING = _absent("final-norm-missing", "no norm before the head", "final", "resid_post")
ATTENTION_NORM_MISSING = _absent("attention-norm-missing", "no norm before attention", "attn_in", "resid_pre")
MLP_NORM_MISSING = _absent("mlp-norm-missing", "no norm before the MLP", "mlp_in", "resid_mid", "resid_pre")
GAIN_TWICE = gains("gain-plus-one-twice", "one added to every norm's gain once more", 1.0)
GAIN_NEVER = gains("gain-plus-one-never", "the one of every norm's gain left out", -1.0)
NORM_KIND = Fault(
    "norm-kind",
    "RMS norm for layer norm, or the other way round",
    _other_kind,
    why="The mean of a row is subtracted on one side alone: nothing but the other kind of norm removes that.",
)
NO_QK_NORM = Fault(
    "no-qk-norm",
    "query and key without their norm",
    attention(lambda a: replace(a, qk_norm=None)),
    why="`query` and `key` part before any position is applied, `value` does not.",
)
