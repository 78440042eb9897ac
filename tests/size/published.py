"""Models whose sizes are published: config.json as on the hub, and the figures with where they stand."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.families import hub_configs as hub

YARN = {"beta_fast": 32, "beta_slow": 1, "factor": 40, "original_max_position_embeddings": 4096, "type": "yarn"}
DEEPSEEK = {
    "attention_bias": False, "attention_dropout": 0.0, "hidden_act": "silu", "initializer_range": 0.02,
    "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_layer_freq": 1, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06, "rope_theta": 10000, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16", "transformers_version": "4.33.1", "use_cache": True, "v_head_dim": 128,
}  # fmt: skip
DEEPSEEK_V3 = DEEPSEEK | {
    "architectures": ["DeepseekV3ForCausalLM"], "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
    "bos_token_id": 0, "eos_token_id": 1, "ep_size": 1, "first_k_dense_replace": 3, "hidden_size": 7168,
    "intermediate_size": 18432, "model_type": "deepseek_v3", "moe_intermediate_size": 2048, "n_group": 8,
    "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": True, "num_attention_heads": 128,
    "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "quantization_config": {
        "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128],
    },
    "rope_scaling": YARN | {"mscale": 1.0, "mscale_all_dim": 1.0},
    "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "topk_group": 4, "topk_method": "noaux_tc",
    "vocab_size": 129280,
}  # fmt: skip
DEEPSEEK_V2_LITE = DEEPSEEK | {
    "architectures": ["DeepseekV2ForCausalLM"], "aux_loss_alpha": 0.001, "bos_token_id": 100000,
    "eos_token_id": 100001, "first_k_dense_replace": 1, "hidden_size": 2048, "intermediate_size": 10944,
    "model_type": "deepseek_v2", "moe_intermediate_size": 1408, "n_group": 1, "n_routed_experts": 64,
    "n_shared_experts": 2, "norm_topk_prob": False, "num_attention_heads": 16, "num_experts_per_tok": 6,
    "num_hidden_layers": 27, "num_key_value_heads": 16, "pretraining_tp": 1, "q_lora_rank": None,
    "rope_scaling": YARN | {"mscale": 0.707, "mscale_all_dim": 0.707},
    "routed_scaling_factor": 1.0, "scoring_func": "softmax", "seq_aux": True, "topk_group": 1, "topk_method": "greedy",
    "vocab_size": 102400,
}  # fmt: skip
LLAMA_2_70B = {
    "architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
    "hidden_size": 8192, "initializer_range": 0.02, "intermediate_size": 28672, "max_position_embeddings": 4096,
    "model_type": "llama", "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
    "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": None, "tie_word_embeddings": False,
    "torch_dtype": "float16", "transformers_version": "4.32.0.dev0", "use_cache": True, "vocab_size": 32000,
}  # fmt: skip
LLAMA_2_7B = LLAMA_2_70B | {
    "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 32,
}  # fmt: skip
LLAMA_3_1_405B = hub.LLAMA_3_1_8B | {
    "hidden_size": 16384, "intermediate_size": 53248, "num_attention_heads": 128, "num_hidden_layers": 126,
}  # fmt: skip
QWEN2_5_72B = hub.QWEN2_5_0_5B | {
    "hidden_size": 8192, "intermediate_size": 29568, "num_attention_heads": 64, "num_hidden_layers": 80,
    "num_key_value_heads": 8, "tie_word_embeddings": False, "vocab_size": 152064,
}  # fmt: skip
GPT_3 = hub.GPT2 | {"n_embd": 12288, "n_layer": 96, "n_head": 96, "n_positions": 2048, "n_ctx": 2048}
FALCON_7B = {
    "alibi": False, "apply_residual_connection_post_layernorm": False, "architectures": ["FalconForCausalLM"],
    "attention_dropout": 0.0, "bias": False, "bos_token_id": 11, "eos_token_id": 11, "hidden_dropout": 0.0,
    "hidden_size": 4544, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "falcon",
    "multi_query": True, "new_decoder_architecture": False, "num_attention_heads": 71, "num_hidden_layers": 32,
    "parallel_attn": True, "torch_dtype": "bfloat16", "transformers_version": "4.27.4", "use_cache": True,
    "vocab_size": 65024,
}  # fmt: skip
FALCON_40B = FALCON_7B | {
    "hidden_size": 8192, "new_decoder_architecture": True, "num_attention_heads": 128, "num_hidden_layers": 60,
    "num_kv_heads": 8,
}  # fmt: skip
STARCODER = {
    "activation_function": "gelu", "architectures": ["GPTBigCodeForCausalLM"], "attention_softmax_in_fp32": True,
    "attn_pdrop": 0.1, "bos_token_id": 0, "embd_pdrop": 0.1, "eos_token_id": 0, "inference_runner": 0,
    "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "max_batch_size": None, "max_sequence_length": None,
    "model_type": "gpt_bigcode", "multi_query": True, "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_layer": 40,
    "n_positions": 8192, "pad_key_length": True, "pre_allocate_kv_cache": False, "resid_pdrop": 0.1,
    "scale_attention_softmax_in_fp32": True, "scale_attn_weights": True, "summary_activation": None,
    "summary_first_dropout": 0.1, "summary_proj_to_labels": True, "summary_type": "cls_index",
    "summary_use_proj": True, "torch_dtype": "float32", "transformers_version": "4.28.1", "use_cache": True,
    "validate_runner_input": True, "vocab_size": 49152,
}  # fmt: skip
STARCODER2_3B = {
    "activation_function": "gelu_pytorch_tanh", "architectures": ["Starcoder2ForCausalLM"], "attention_dropout": 0.1,
    "attention_softmax_in_fp32": True, "bos_token_id": 0, "embedding_dropout": 0.1, "eos_token_id": 0,
    "hidden_act": "gelu_pytorch_tanh", "hidden_size": 3072, "initializer_range": 0.018042, "intermediate_size": 12288,
    "max_position_embeddings": 16384, "mlp_type": "default", "model_type": "starcoder2", "norm_epsilon": 1e-05,
    "norm_type": "layer_norm", "num_attention_heads": 24, "num_hidden_layers": 30, "num_key_value_heads": 2,
    "residual_dropout": 0.1, "rope_theta": 999999.4420358813, "scale_attention_softmax_in_fp32": True,
    "scale_attn_weights": True, "sliding_window": 4096, "torch_dtype": "bfloat16",
    "transformers_version": "4.37.0.dev0", "use_bias": True, "use_cache": True, "vocab_size": 49152,
}  # fmt: skip
PHI_2 = {
    "architectures": ["PhiForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 50256, "embd_pdrop": 0.0,
    "eos_token_id": 50256, "hidden_act": "gelu_new", "hidden_size": 2560, "initializer_range": 0.02,
    "intermediate_size": 10240, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "phi",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "partial_rotary_factor": 0.4,
    "qk_layernorm": False, "resid_pdrop": 0.1, "rope_scaling": None, "rope_theta": 10000.0,
    "tie_word_embeddings": False, "torch_dtype": "float16", "transformers_version": "4.37.0", "use_cache": True,
    "vocab_size": 51200,
}  # fmt: skip
GPT_J_6B = {
    "activation_function": "gelu_new", "architectures": ["GPTJForCausalLM"], "attn_pdrop": 0.0, "bos_token_id": 50256,
    "embd_pdrop": 0.0, "eos_token_id": 50256, "gradient_checkpointing": False, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": None, "n_layer": 28,
    "n_positions": 2048, "resid_pdrop": 0.0, "rotary": True, "rotary_dim": 64, "scale_attn_weights": True,
    "summary_activation": None, "summary_first_dropout": 0.1, "summary_proj_to_labels": True,
    "summary_type": "cls_index", "summary_use_proj": True, "tie_word_embeddings": False,
    "transformers_version": "4.18.0.dev0", "use_cache": True, "vocab_size": 50400,
}  # fmt: skip
COMMAND_R = {
    "architectures": ["CohereForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 5,
    "eos_token_id": 255001, "hidden_act": "silu", "hidden_size": 8192, "initializer_range": 0.02,
    "intermediate_size": 22528, "layer_norm_eps": 1e-05, "logit_scale": 0.0625, "max_position_embeddings": 131072,
    "model_type": "cohere", "num_attention_heads": 64, "num_hidden_layers": 40, "num_key_value_heads": 64,
    "pad_token_id": 0, "rope_theta": 8000000.0, "torch_dtype": "float16", "transformers_version": "4.38.2",
    "use_cache": True, "vocab_size": 256000,
}  # fmt: skip
GRANITE_3_2B = {
    "architectures": ["GraniteForCausalLM"], "attention_bias": False, "attention_dropout": 0.1,
    "attention_multiplier": 0.015625, "bos_token_id": 0, "embedding_multiplier": 12.0, "eos_token_id": 0,
    "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192,
    "logits_scaling": 8.0, "max_position_embeddings": 4096, "mlp_bias": False, "model_type": "granite",
    "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "pad_token_id": 0,
    "residual_multiplier": 0.22, "rms_norm_eps": 1e-05, "rope_scaling": None, "rope_theta": 10000.0,
    "tie_word_embeddings": True, "torch_dtype": "bfloat16", "transformers_version": "4.46.0.dev0", "use_cache": True,
    "vocab_size": 49155,
}  # fmt: skip
QWEN1_5_MOE = {
    "architectures": ["Qwen2MoeForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
    "decoder_sparse_step": 1, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 2048,
    "initializer_range": 0.02, "intermediate_size": 5632, "max_position_embeddings": 8192, "max_window_layers": 21,
    "model_type": "qwen2_moe", "moe_intermediate_size": 1408, "norm_topk_prob": False, "num_attention_heads": 16,
    "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 16,
    "output_router_logits": False, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.001,
    "shared_expert_intermediate_size": 5632, "sliding_window": 32768, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16", "transformers_version": "4.39.0.dev0", "use_cache": True, "use_sliding_window": False,
    "vocab_size": 151936,
}  # fmt: skip
OLMOE_1B_7B = {
    "architectures": ["OlmoeForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "clip_qkv": None,
    "eos_token_id": 50279, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
    "intermediate_size": 1024, "max_position_embeddings": 4096, "model_type": "olmoe", "norm_topk_prob": False,
    "num_attention_heads": 16, "num_experts": 64, "num_experts_per_tok": 8, "num_hidden_layers": 16,
    "num_key_value_heads": 16, "output_router_logits": False, "pad_token_id": 1, "rms_norm_eps": 1e-05,
    "rope_scaling": None, "rope_theta": 10000.0, "router_aux_loss_coef": 0.01, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0", "use_cache": True, "vocab_size": 50304,
}  # fmt: skip
GPT_OSS_20B = {
    "architectures": ["GptOssForCausalLM"],
    "attention_bias": True,
    "attention_dropout": 0.0,
    "eos_token_id": 200002,
    "experts_per_token": 4,
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 2880,
    "initial_context_length": 4096,
    "initializer_range": 0.02,
    "intermediate_size": 2880,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "max_position_embeddings": 131072,
    "model_type": "gpt_oss",
    "num_attention_heads": 64,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "output_router_logits": False,
    "pad_token_id": 199999,
    "quantization_config": {"modules_to_not_convert": ["model.layers.*.self_attn"], "quant_method": "mxfp4"},
    "rms_norm_eps": 1e-05,
    "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "rope_type": "yarn"},
    "rope_theta": 150000,
    "router_aux_loss_coef": 0.9,
    "sliding_window": 128,
    "swiglu_limit": 7.0,
    "tie_word_embeddings": False,
    "transformers_version": "4.55.0.dev0",
    "use_cache": True,
    "vocab_size": 201088,
}


@dataclass(frozen=True)
class Published:
    """parameters, active: exact where `transformers` builds them, else as published, in billions with its digits.

    token: bytes of KV cache of a token at 16 bit, every layer keeping it.
    """

    config: Mapping[str, object]
    parameters: int
    billions: str
    active: str
    token: int


MODELS: Mapping[str, Published] = {
    # arXiv 2412.19437: 671B, 37B active; arXiv 2505.09343, table 1: 70.272, 327.680 and 516.096 KB a token
    "DeepSeek-V3": Published(DEEPSEEK_V3, 671_026_419_200, "671", "37.6", 70_272),
    "Qwen2.5-72B": Published(QWEN2_5_72B, 72_706_203_648, "72.7", "72.7", 327_680),
    "Llama-3.1-405B": Published(LLAMA_3_1_405B, 405_853_388_800, "406", "406", 516_096),
    "DeepSeek-V2-Lite": Published(DEEPSEEK_V2_LITE, 15_706_484_224, "15.7", "2.66", 31_104),
    "Llama-2-70B": Published(LLAMA_2_70B, 68_976_648_192, "69.0", "69.0", 327_680),
    "Llama-2-7B": Published(LLAMA_2_7B, 6_738_415_616, "6.74", "6.74", 524_288),
    "Llama-3.1-8B": Published(hub.LLAMA_3_1_8B, 8_030_261_248, "8.03", "8.03", 131_072),
    "Mistral-7B": Published(hub.MISTRAL_7B, 7_241_732_096, "7.24", "7.24", 131_072),
    "Mixtral-8x7B": Published(hub.MIXTRAL_8X7B, 46_702_792_704, "46.7", "12.9", 131_072),
    "Qwen3-30B-A3B": Published(hub.QWEN3_30B_A3B, 30_532_122_624, "30.5", "3.35", 98_304),
    "GPT-2": Published(hub.GPT2, 124_439_808, "0.124", "0.124", 36_864),
    "GPT-3": Published(GPT_3, 174_604_259_328, "175", "175", 4_718_592),
    "Falcon-7B": Published(FALCON_7B, 6_921_720_704, "6.92", "6.92", 8_192),
    "Falcon-40B": Published(FALCON_40B, 41_303_293_952, "41.3", "41.3", 122_880),
    "StarCoder": Published(STARCODER, 15_517_456_384, "15.5", "15.5", 20_480),
    "StarCoder2-3B": Published(STARCODER2_3B, 3_030_371_328, "3.03", "3.03", 30_720),
    "Phi-2": Published(PHI_2, 2_779_683_840, "2.78", "2.78", 327_680),
    "GPT-J-6B": Published(GPT_J_6B, 6_050_882_784, "6.05", "6.05", 458_752),
    "Command R": Published(COMMAND_R, 34_980_831_232, "35.0", "35.0", 1_310_720),
    "Granite-3.0-2B": Published(GRANITE_3_2B, 2_533_531_648, "2.53", "2.53", 81_920),
    "Qwen1.5-MoE-A2.7B": Published(QWEN1_5_MOE, 14_315_784_192, "14.3", "2.69", 196_608),
    "OLMoE-1B-7B": Published(OLMOE_1B_7B, 6_919_161_856, "6.92", "1.28", 131_072),
    "gpt-oss-20b": Published(GPT_OSS_20B, 20_914_757_184, "20.9", "4.19", 49_152),
}
