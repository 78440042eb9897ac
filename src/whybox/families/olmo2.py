"""OLMo 2: the norms stand after the sublayers, inside the residual branch; query and key are normed as a whole."""

from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config
from whybox.families.shared import heads_from_config, rms_from_config, spec_from_config, swiglu_from_config
from whybox.families.transforms import as_stored
from whybox.formats import WeightFile
from whybox.spec import Attention, Layer, Layout, QkNorm, Spec
from whybox.weights import Rule

_POST_NORMS = (
    Rule(hf.LAYER + "post_attention_layernorm.weight", (hf.TO + "attn_post_norm.gain",), as_stored),
    Rule(hf.LAYER + "post_feedforward_layernorm.weight", (hf.TO + "mlp_post_norm.gain",), as_stored),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config, default=1e-5)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width),
        qk_norm=QkNorm.WHOLE,
        qk_norm_eps=norm.eps,
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    layer = Layer(attention, swiglu_from_config(config), Layout.INNER_POST, norm)
    return spec_from_config(config, "olmo2", [layer] * config.need("num_hidden_layers", int), norm)


FAMILY = Family(
    name="olmo2",
    safetensors=Format(
        _from_config, (*hf.EMBEDDING, *_POST_NORMS, *hf.ATTENTION, *hf.QK_NORMS, *hf.GATED_MLP), prefix="model."
    ),
)
