"""Architectures: one declarative file each, from a file's configuration to a Spec and a tensor table."""

from collections.abc import Collection
from dataclasses import replace

from whybox.errors import UnsupportedError
from whybox.families import (
    bloom,
    gemma,
    gemma2,
    gemma3,
    gpt2,
    gpt_neox,
    llama,
    mistral,
    mixtral,
    olmo2,
    opt,
    phi3,
    qwen2,
    qwen3,
    qwen3_moe,
)
from whybox.families.bounds import require_sizes, require_sound
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.head import settle_head
from whybox.families.spelling import respell
from whybox.formats import GgufFile, WeightFile
from whybox.spec import Spec
from whybox.weights import Rule

FAMILIES: tuple[Family, ...] = (
    llama.FAMILY,
    mistral.FAMILY,
    mixtral.FAMILY,
    qwen2.FAMILY,
    qwen3.FAMILY,
    qwen3_moe.FAMILY,
    gemma.FAMILY,
    gemma2.FAMILY,
    gemma3.FAMILY,
    phi3.FAMILY,
    olmo2.FAMILY,
    gpt2.FAMILY,
    gpt_neox.FAMILY,
    bloom.FAMILY,
    opt.FAMILY,
)


def describe(file: WeightFile, accept: Collection[str] = ()) -> tuple[Spec, tuple[Rule, ...]]:
    """The Spec of a model file and the rules that fill it.

    UnsupportedError by name for any other architecture, FormatError for sizes and constants that cannot be.
    """
    found = _format(file)
    require_sizes(file.metadata, file.path)
    rules, shown = respell(file, found.rules, found.prefix)
    spec = found.spec(Config(file.metadata, file.path, accept), file)
    require_sound(spec, file.path)
    return settle_head(replace(spec, notes=(*spec.notes, *shown)), file, rules)


def _format(file: WeightFile) -> Format:
    if isinstance(file, GgufFile):
        name = str(file.metadata.get("general.architecture", "nothing"))
        known = {family.gguf_name: family.gguf for family in FAMILIES if family.gguf is not None}
    else:
        name = str(file.metadata.get("model_type", "nothing"))
        known = {family.name: family.safetensors for family in FAMILIES}
    if name not in known:
        raise UnsupportedError(
            f"{file.path}: architecture {name[:60]!r} is not supported", f"supported: {', '.join(known)}"
        )
    return known[name]
