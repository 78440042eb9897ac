"""Tiny tokenizers trained in the test with the `tokenizers` library, as GGUF metadata and as a Hugging Face folder."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.text.corpus import TEXTS
from whybox.text.pretokenizers import GPT2

CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CONTROLS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


@cache
def byte_level(extra: tuple[str, ...] = ()) -> tokenizers.Tokenizer:
    """Digits one by one, then GPT-2's rule: the label `smollm`."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\p{N}"), "isolated"),
            pre_tokenizers.Split(Regex(GPT2), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=CONTROLS, initial_alphabet=alphabet, show_progress=False
    )
    library.train_from_iterator(TEXTS.values(), trainer)
    library.add_tokens([AddedToken(text, normalized=False) for text in extra])
    return library


@cache
def llama_style() -> tokenizers.Tokenizer:
    """SentencePiece BPE as Llama 2 writes it: ▁ for a space, one in front, bytes for what has no piece."""
    library = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    library.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    seen = "".join(text for name, text in TEXTS.items() if name in ("english", "prose", "code", "russian", "japanese"))
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=special, show_progress=False)
    library.train_from_iterator([seen.replace("\x00", ""), *TEXTS["prose"].split()], trainer)
    # Byte names are pieces of the model, not tokens that text may spell.
    document = json.loads(library.to_str())
    document["added_tokens"] = document["added_tokens"][:3]
    return tokenizers.Tokenizer.from_str(json.dumps(document))


@cache
def unigram() -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.Unigram())
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=400, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator(TEXTS.values(), trainer)
    return library


@cache
def word_piece() -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False)
    library.train_from_iterator(TEXTS.values(), trainer)
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return library


def without_controls(library: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The same tokenizer, to which no text is a control token."""
    return tokenizers.Tokenizer.from_str(json.dumps(json.loads(library.to_str()) | {"added_tokens": []}))


def tokens_of(library: tokenizers.Tokenizer) -> list[str]:
    table = library.get_vocab(with_added_tokens=True)
    return sorted(table, key=table.__getitem__)


def gguf_of(library: tokenizers.Tokenizer, model: str, controls: list[str], **more: object) -> dict[str, object]:
    """The metadata that a converter would write."""
    tokens = tokens_of(library)
    added = {token.content for token in library.get_added_tokens_decoder().values()}
    kinds = [3 if t in controls else 6 if t.startswith("<0x") else 4 if t in added else 1 for t in tokens]
    keys = {"model": model, "tokens": tokens, "token_type": kinds, **more}
    return {f"tokenizer.ggml.{key}": value for key, value in keys.items()}


def merges_of(library: tokenizers.Tokenizer) -> list[str]:
    return [" ".join(merge) for merge in json.loads(library.to_str())["model"]["merges"]]


def scores_by_rank(library: tokenizers.Tokenizer) -> list[float]:
    """SentencePiece's scores: minus the rank of the merge that makes the piece."""
    rank = {merge.replace(" ", ""): -float(i) for i, merge in reversed(list(enumerate(merges_of(library))))}
    return [rank.get(token, -1e6) for token in tokens_of(library)]


def folder_of(library: tokenizers.Tokenizer, path: Path, **config: Any) -> Path:
    library.save(str(path / "tokenizer.json"))
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return path
