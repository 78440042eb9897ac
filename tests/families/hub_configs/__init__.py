"""config.json of well-known models, key for key as their folders on the hub carry them (long lists cut to pattern)."""

import json
from pathlib import Path
from typing import Any


def _config(name: str) -> dict[str, Any]:
    return dict(json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8")))


LLAMA_3_1_8B = _config("llama_3_1_8b")
SMOLLM2_135M = _config("smollm2_135m")
MISTRAL_7B = _config("mistral_7b")
MIXTRAL_8X7B = _config("mixtral_8x7b")
QWEN2_5_0_5B = _config("qwen2_5_0_5b")
QWEN3_0_6B = _config("qwen3_0_6b")
QWEN3_30B_A3B = _config("qwen3_30b_a3b")
GEMMA_2B = _config("gemma_2b")
GEMMA_2_2B = _config("gemma_2_2b")
GEMMA_3_1B = _config("gemma_3_1b")
PHI_3_5_MINI = _config("phi_3_5_mini")
PHI_4_MINI = _config("phi_4_mini")
OLMO_2_1B = _config("olmo_2_1b")
GPT2 = _config("gpt2")
PYTHIA_160M = _config("pythia_160m")
BLOOM_560M = _config("bloom_560m")
OPT_125M = _config("opt_125m")
