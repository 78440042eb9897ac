"""A tiny random model as a folder that whybox and transformers both open, with a tokenizer and a template."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from transformers import LlamaConfig

from tests.oracle import tiny
from tests.text.tiny import CHATML, byte_level, folder_of


@cache
def tiny_folder() -> Path:
    """Two layers, 6 query heads on 2 kv heads, a context of 300 tokens."""
    path = Path(mkdtemp(prefix="whybox-tiny-"))
    library = byte_level()
    config = LlamaConfig(
        vocab_size=library.get_vocab_size(),
        hidden_size=42,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=10,
        max_position_embeddings=300,
    )
    tiny(config).save_pretrained(path)
    return folder_of(library, path, eos_token="<|im_end|>", chat_template=CHATML)
