"""Faults of the MLP and of biases: the activation's form, gate and up exchanged, experts' weights, biases left out."""

from dataclasses import replace

import numpy as np

from whybox.spec import Activation, Layer, Mlp, Moe, Spec
from whybox.testing.faults.fault import Described, Fault, mlp, with_arrays, with_layers
from whybox.weights import Weights

Array = np.ndarray


_ACTIVATED = "`mlp_in` is exact and `mlp_hidden` is not: the same numbers went through another function."
_UNBIASED = "The gap of the projection is one vector, the same at every position: its bias."


def activation(form: Activation) -> Fault:
    """Another activation in every MLP."""
    what = f"{form.value} for the right activation"
    return Fault("activation", what, mlp(lambda at: replace(at, activation=form)), why=_ACTIVATED)


def _exchanged(spec: Spec, weights: Weights) -> Described:
    stems = [role.removesuffix(".gate") for role in weights if role.endswith(".gate")]
    gates = {f"{stem}.gate": weights[f"{stem}.up"] for stem in stems}
    return spec, with_arrays(weights, gates | {f"{stem}.up": weights[f"{stem}.gate"] for stem in stems})


def _without(*roles: str) -> Fault:
    def changed(spec: Spec, weights: Weights) -> Described:
        zeroed = {role: np.zeros_like(weights[role]) for role in weights if role.endswith(roles)}
        return spec, with_arrays(weights, zeroed)

    return Fault("", "", changed, why=_UNBIASED)


def _experts(change: bool) -> Fault:
    def other(layer: Layer) -> Layer:
        return replace(layer, mlp=replace(layer.mlp, normalise=change)) if isinstance(layer.mlp, Moe) else layer

    what = "weights of the chosen experts " + ("divided by their sum" if change else "not divided by their sum")
    why = "`router` and the experts' hidden values are exact; what they write together is off by one factor a token."
    return Fault("router-normalise", what, lambda spec, weights: (with_layers(spec, other), weights), why=why)


def active_experts(count: int) -> Fault:
    """So many experts for each token."""

    def other(at: Mlp | Moe) -> Mlp | Moe:
        return replace(at, active=count) if isinstance(at, Moe) else at

    why = "`router` is exact; hidden values exist for other experts."
    return Fault("experts-active", f"{count} experts for each token", mlp(other), why=why)


ERF_GELU = Fault(
    "erf-gelu",
    "exact GELU for the tanh form",
    mlp(lambda at: replace(at, activation=Activation.GELU_ERF) if at.activation is Activation.GELU_TANH else at),
    why=_ACTIVATED,
)
GATE_UP_EXCHANGED = Fault(
    "gate-up-exchanged",
    "gate and up projection exchanged",
    _exchanged,
    why="`mlp_in` is exact; `mlp_hidden` is act(up) ⊙ gate in place of act(gate) ⊙ up.",
)
NO_QKV_BIAS = replace(
    _without("query_bias", "key_bias", "value_bias"), name="no-qkv-bias", what="query, key and value without bias"
)
NO_OUT_BIAS = replace(_without("out_bias"), name="no-out-bias", what="attention's output without bias")
NO_MLP_BIAS = replace(_without("up_bias", "down_bias", "gate_bias"), name="no-mlp-bias", what="MLP without bias")
EXPERTS_NORMALISED, EXPERTS_NOT_NORMALISED = _experts(True), _experts(False)
