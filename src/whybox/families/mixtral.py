"""Mixtral: Mistral's attention, and a few of many SwiGLU experts per token, their weights summing to 1."""

from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config
from whybox.families.shared import heads_from_config, rms_from_config, spec_from_config, window_from_config
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Moe, Spec

_TRAINING_ONLY = ("output_router_logits", "router_aux_loss_coef", "router_jitter_noise")


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads = heads_from_config(config)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width, base=1e6),
        window=window_from_config(config),
    )
    config.must_be("hidden_act", "silu")
    experts = Moe(
        experts=config.need("num_local_experts", int),
        active=config.need("num_experts_per_tok", int),
        width=config.need("intermediate_size", int),
        activation=Activation.SILU,
        normalise=True,
    )
    norm = rms_from_config(config, default=1e-5)
    layer = Layer(attention, experts, Layout.PRE, norm)
    layers = [layer] * config.need("num_hidden_layers", int)
    return spec_from_config(config, "mixtral", layers, norm, irrelevant=_TRAINING_ONLY)


FAMILY = Family(
    name="mixtral",
    safetensors=Format(
        _from_config,
        (
            *hf.EMBEDDING,
            *hf.PRE_NORMS,
            *hf.ATTENTION,
            *hf.experts("block_sparse_moe.", gate="w1", up="w3", down="w2"),
            *hf.stacked_experts("mlp."),
        ),
        prefix="model.",
    ),
)
