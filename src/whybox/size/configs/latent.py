"""DeepSeek V2, V3 and Kimi K2: multi-head latent attention, shared and routed experts behind some dense layers.

Source: arXiv 2405.04434, 2412.19437. A layer for predicting several tokens is in the files of V3 and not counted.
"""

from whybox.errors import FormatError
from whybox.families.bounds import MOST_EXPERTS, MOST_HEADS, MOST_LAYERS
from whybox.families.config import Config
from whybox.size.configs.frame import Frame, Stack, gated, outline, size
from whybox.size.outline import Block, Latent, Matrix, Outline

_IRRELEVANT = (
    "aux_loss_alpha", "seq_aux", "ep_size", "n_group", "topk_group", "topk_method", "scoring_func",
    "routed_scaling_factor", "num_key_value_heads", "head_dim", "qk_head_dim", "moe_layer_freq", "rope_interleave",
    "num_nextn_predict_layers", "norm_topk_prob", "pad_head_dim_to_multiple_of", "layer_types",
)  # fmt: skip


def deepseek(config: Config) -> Outline:
    """`num_key_value_heads` of these files says nothing: the cache holds one latent for all heads."""
    c, count = size(config, "hidden_size"), size(config, "num_hidden_layers", MOST_LAYERS)
    dense = config.need("first_k_dense_replace", int)
    if not 0 <= dense <= count:
        raise FormatError(config.path, "first_k_dense_replace", f"from 0 to {count} layers", str(dense))
    attention, matrices, vectors = _attention(config, c)
    mlp, experts = gated(c, size(config, "intermediate_size")), _experts(config, c)
    vectors += 2 * c
    first = Block(attention, (*matrices, *mlp), vectors)
    rest = Block(attention, (*matrices, *experts), vectors + _correction(config))
    if config.optional("num_nextn_predict_layers", int):
        config.note("num_nextn_predict_layers: the layer that predicts further tokens is not counted")
    blocks = [first] * dense + [rest] * (count - dense)
    return outline(config, str(config.values.get("model_type")), blocks, Frame(vectors=c), _IRRELEVANT)


def _attention(config: Config, c: int) -> tuple[Latent, tuple[Matrix, ...], int]:
    """Attention, its matrices, and the gains of its two inner norms (and biases, where there are)."""
    a = Latent(
        heads=size(config, "num_attention_heads", MOST_HEADS),
        rank=size(config, "kv_lora_rank"),
        plain=size(config, "qk_nope_head_dim"),
        turned=size(config, "qk_rope_head_dim"),
        value=size(config, "v_head_dim"),
    )
    query = size(config, "q_lora_rank") if config.has("q_lora_rank") else None
    wide = a.heads * (a.plain + a.turned)
    down = (Matrix("query down", query, c, "attention"),) if query else ()
    up = Matrix("query up" if query else "query", wide, query or c, "attention")
    matrices = (
        *down,
        up,
        Matrix("latent", a.rank + a.turned, c, "attention"),
        Matrix("key and value up", a.heads * (a.plain + a.value), a.rank, "attention"),
        Matrix("out", c, a.heads * a.value, "attention"),
    )
    vectors = a.rank + (query or 0)
    if config.get("attention_bias", bool, False):
        vectors += (query or 0) + a.rank + a.turned + c
    return a, matrices, vectors


def _experts(config: Config, c: int) -> tuple[Matrix, ...]:
    experts, width = size(config, "n_routed_experts", MOST_EXPERTS), size(config, "moe_intermediate_size")
    used = size(config, "num_experts_per_tok", experts)
    shared = config.optional("n_shared_experts", int) or 0
    beside = gated(c, shared * width, Stack("shared expert ")) if shared > 0 else ()
    router = Matrix("router", experts, c, "mlp")
    return (router, *gated(c, width, Stack("expert ", experts, used)), *beside)


def _correction(config: Config) -> int:
    """One number an expert that corrects its score (V3's balance without a loss), stored with the weights."""
    return size(config, "n_routed_experts") if config.values.get("topk_method") == "noaux_tc" else 0
