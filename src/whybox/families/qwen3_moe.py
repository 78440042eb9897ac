"""Qwen3 mixtures: Qwen3's attention; every `decoder_sparse_step`-th layer has experts, the others one MLP."""

from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.qwen3 import attentions
from whybox.families.shared import rms_from_config, spec_from_config, swiglu_from_config, window_from_config
from whybox.formats import WeightFile
from whybox.spec import Activation, Layer, Layout, Mlp, Moe, Spec

_TRAINING_ONLY = ("output_router_logits", "router_aux_loss_coef")


def _from_config(config: Config, file: WeightFile) -> Spec:
    norm = rms_from_config(config)
    layers = [
        Layer(attention, mlp, Layout.PRE, norm)
        for attention, mlp in zip(attentions(config, norm.eps, _windows(config)), _mlps(config), strict=True)
    ]
    return spec_from_config(config, "qwen3_moe", layers, norm, irrelevant=_TRAINING_ONLY)


def _windows(config: Config) -> tuple[int | None, ...]:
    """One window for all layers, and only with `use_sliding_window`."""
    config.used |= {"sliding_window", "max_window_layers"}
    on = config.optional("use_sliding_window", bool)
    return (window_from_config(config, default=4096) if on else None,) * config.need("num_hidden_layers", int)


def _mlps(config: Config) -> list[Mlp | Moe]:
    dense = swiglu_from_config(config)
    experts = Moe(
        experts=config.need("num_local_experts" if config.has("num_local_experts") else "num_experts", int),
        active=config.need("num_experts_per_tok", int),
        width=config.need("moe_intermediate_size", int),
        activation=Activation.SILU,
        normalise=config.get("norm_topk_prob", bool, False),
    )
    step = config.get("decoder_sparse_step", int, 1)
    plain = config.integers("mlp_only_layers") if config.has("mlp_only_layers") else ()
    count = config.need("num_hidden_layers", int)
    return [experts if index not in plain and (index + 1) % step == 0 else dense for index in range(count)]


FAMILY = Family(
    name="qwen3_moe",
    safetensors=Format(
        _from_config,
        (
            *hf.EMBEDDING,
            *hf.PRE_NORMS,
            *hf.ATTENTION,
            *hf.QK_NORMS,
            *hf.GATED_MLP,
            *hf.experts("mlp.", gate="gate_proj", up="up_proj", down="down_proj"),
            *hf.stacked_experts("mlp."),
        ),
        prefix="model.",
    ),
)
