"""Is the output head tied to the embedding? The file's tensors decide together with the setting (never random)."""

import numpy as np

from whybox.families.config import Config
from whybox.formats import WeightFile


def tied_in_folder(
    config: Config,
    file: WeightFile,
    default: bool,
    embed: str = "model.embed_tokens.weight",
    head: str = "lm_head.weight",
) -> bool:
    """`tie_word_embeddings`: without a head it shares; a head that differs from the embedding is kept, and said."""
    tied = config.get("tie_word_embeddings", bool, default)
    if not tied or head not in file.tensors:
        return tied
    if file.tensors[head].shape == file.tensors[embed].shape and np.array_equal(file.read(head), file.read(embed)):
        config.note(f"{head} is stored although tied; it equals {embed}")
    else:
        config.note(f"tie_word_embeddings is true, but {head} differs from {embed}: the file's head is kept")
    return False


def tied_in_gguf(config: Config, file: WeightFile) -> bool:
    """A GGUF ties by leaving `output.weight` out."""
    return "output.weight" not in file.tensors
