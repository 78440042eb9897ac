"""What a tokenizer is made of, whatever file described it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whybox.text.codec import Codec
from whybox.text.vocabulary import Vocabulary

# Tokens that end a turn or a text in the chat formats in use; only those that are control tokens of a model count.
_ENDS = (
    "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>",
    "<|end_of_text|>", "<end_of_utterance>", "</s>", "<eos>", "<EOT>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>",
)  # fmt: skip


@dataclass(frozen=True)
class Specials:
    """Ids with a task. add_bos: raw text starts with `bos`. stop: ids that end an answer."""

    bos: int | None
    eos: int | None
    pad: int | None
    unknown: int | None
    add_bos: bool
    stop: frozenset[int]


@dataclass(frozen=True)
class Blueprint:
    """names: what templates may write for special tokens (`bos_token` → its text). notes: assumptions made."""

    vocabulary: Vocabulary
    codec: Codec
    specials: Specials
    chat_template: str | None
    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def stop_ids(vocabulary: Vocabulary, *named: int | None) -> frozenset[int]:
    """The ids that a file names as ends, and the control tokens that are written like one."""
    written = (control.id for control in vocabulary.controls if control.text in _ENDS)
    return frozenset([*written, *(token for token in named if token is not None)])
