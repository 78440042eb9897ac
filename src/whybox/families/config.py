"""Config accounting: every key of a configuration is used, known irrelevant, or refused by name.

A `Config` hands out values and remembers which keys were asked for. What is filled in because the file does not say it
becomes a note of the Spec, so that it is printed.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from whybox.errors import FormatError, UnsupportedError

T = TypeVar("T", int, float, bool, str)


@dataclass
class Config:
    """`values` as read from config.json or GGUF metadata; `path` for messages; `accept` keys the user waves through."""

    values: Mapping[str, object]
    path: object
    accept: Collection[str] = ()
    used: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def has(self, key: str) -> bool:
        """Whether the key is there with a value; counts as using it."""
        self.used.add(key)
        return self.values.get(key) is not None

    def need(self, key: str, kind: type[T]) -> T:
        """The value of a key that must be there. FormatError when it is missing or of another type."""
        if not self.has(key):
            raise FormatError(self.path, key, f"a value of type {kind.__name__}", "nothing")
        return self._as(key, self.values[key], kind)

    def get(self, key: str, kind: type[T], default: T) -> T:
        """The value of a key, or the family's documented default, which becomes a note."""
        if self.has(key):
            return self._as(key, self.values[key], kind)
        self.notes.append(f"{key} = {default} (not in the file; the family's default)")
        return default

    def optional(self, key: str, kind: type[T]) -> T | None:
        """The value of a key, or None where absence is itself the meaning."""
        return self.need(key, kind) if self.has(key) else None

    def floats(self, key: str) -> tuple[float, ...]:
        """A list of numbers."""
        self.used.add(key)
        value = self.values.get(key)
        if not isinstance(value, Sequence) or isinstance(value, str) or not all(map(_is_finite, value)):
            raise FormatError(self.path, key, "a list of finite numbers", _short(value))
        return tuple(float(v) for v in value)

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        numbers = self.floats(key)
        if not all(number.is_integer() for number in numbers):
            raise FormatError(self.path, key, "a list of whole numbers", _short(self.values[key]))
        return tuple(int(number) for number in numbers)

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        self.used.add(key)
        value = self.values.get(key)
        if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(v, str) for v in value):
            raise FormatError(self.path, key, "a list of strings", _short(value))
        return tuple(value)

    def part(self, key: str) -> "Config":
        """A nested mapping as a Config of its own; the caller finishes it too."""
        self.used.add(key)
        value = self.values.get(key)
        if not isinstance(value, Mapping):
            raise FormatError(self.path, key, "a mapping", _short(value))
        return Config(value, f"{self.path}: {key}", self.accept)

    def must_be(self, key: str, *allowed: object) -> None:
        """A setting of which only some values are implemented; absent counts as the first of them."""
        self.used.add(key)
        value = self.values.get(key, allowed[0])
        if value is None or (isinstance(value, Hashable) and value in allowed):
            return
        if key in self.accept:
            self.note(self._accepted(key))
            return
        wanted = " or ".join(repr(a) for a in allowed)
        raise UnsupportedError(f"{self.path}: {key} = {_short(value)} is not implemented (only {wanted})")

    def _accepted(self, key: str) -> str:
        return f"{key} = {_short(self.values[key])} was accepted without being obeyed"

    def note(self, line: str) -> None:
        self.notes.append(line)

    def finish(self, irrelevant: Collection[str] = (), namespaces: Sequence[str] = ()) -> tuple[str, ...]:
        """The notes. UnsupportedError when a key was neither used nor known to be irrelevant nor accepted."""
        left = {key for key in self.values if key not in self.used and key not in irrelevant}
        left -= {key for key in left if key.startswith(tuple(namespaces))}
        accepted = sorted(left & set(self.accept))
        refused = sorted(left - set(self.accept))
        if refused:
            shown = ", ".join(f"{key} = {_short(self.values[key])}" for key in refused[:8])
            raise UnsupportedError(
                f"{self.path}: {len(refused)} key(s) that may touch the mathematics are not understood: {shown}",
                f"if you know that it changes nothing, pass --accept-key {refused[0]}",
            )
        return (*self.notes, *map(self._accepted, accepted))

    def _as(self, key: str, value: object, kind: type[T]) -> T:
        if kind is float and _is_number(value):
            if not _is_finite(value):
                raise FormatError(self.path, key, "a finite number", _short(value))
            return kind(value)  # type: ignore[arg-type]
        if kind is int and isinstance(value, float) and value.is_integer():
            return kind(value)
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        raise FormatError(self.path, key, f"a value of type {kind.__name__}", _short(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    """Whether a number of a file is one that float64 can hold."""
    try:
        return _is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


IRRELEVANT = frozenset(
    [
        "_name_or_path",
        "architectures",
        "auto_map",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "unk_token_id",
        "sep_token_id",
        "decoder_start_token_id",
        "dtype",
        "torch_dtype",
        "model_type",
        "transformers_version",
        "transformers.js_config",
        "use_cache",
        "initializer_range",
        "pretraining_tp",
        "id2label",
        "label2id",
        "num_labels",
        "problem_type",
        "task_specific_params",
        "output_attentions",
        "output_hidden_states",
        "return_dict",
        "chunk_size_feed_forward",
        "is_encoder_decoder",
        "gradient_checkpointing",
        "attention_dropout",
        "attn_pdrop",
        "embd_pdrop",
        "resid_pdrop",
        "hidden_dropout",
        "hidden_dropout_prob",
        "classifier_dropout",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "cache_implementation",
        "is_llama_config",
        "finetuning_task",
        "tokenizer_class",
        "prefix",
        "torchscript",
        "use_bfloat16",
        "_attn_implementation_autoset",
        "attn_implementation",
    ]
)
"""Keys of a Hugging Face config.json that never touch the forward arithmetic of a decoder."""

GGUF_NAMESPACES = ("general.", "tokenizer.", "quantize.", "split.", "GGUF.")
"""Namespaces of GGUF metadata that are irrelevant to the mathematics."""
