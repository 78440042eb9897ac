"""config.json of families that whybox sizes and does not run: exactly the numbers that sizes need, from every other key
nothing, and a key that nobody knows refused by name.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from whybox.families.config import Config
from whybox.size.configs import grouped, latent, mixtures
from whybox.size.outline import Outline

READERS: Mapping[str, Callable[[Config], Outline]] = MappingProxyType(
    {
        "cohere": grouped.cohere,
        "deepseek_v2": latent.deepseek,
        "deepseek_v3": latent.deepseek,
        "falcon": grouped.falcon,
        "gpt_bigcode": grouped.gpt_bigcode,
        "gpt_oss": mixtures.gpt_oss,
        "gptj": grouped.gptj,
        "granite": grouped.granite,
        "kimi_k2": latent.deepseek,
        "olmoe": mixtures.olmoe,
        "phi": grouped.phi,
        "qwen2_moe": mixtures.qwen2_moe,
        "starcoder2": grouped.starcoder2,
    }
)
"""By the model_type of config.json."""
