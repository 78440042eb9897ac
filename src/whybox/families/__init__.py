"""Architectures: one declarative file each, from a file's configuration to a Spec and a tensor table."""

from collections.abc import Collection

from whybox.errors import UnsupportedError
from whybox.families import llama
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.formats import GgufFile, WeightFile
from whybox.spec import Spec
from whybox.weights import Rule

FAMILIES: tuple[Family, ...] = (llama.FAMILY,)


def describe(file: WeightFile, accept: Collection[str] = ()) -> tuple[Spec, tuple[Rule, ...]]:
    """The Spec of a model file and the rules that fill it. UnsupportedError by name for any other architecture."""
    found = _format(file)
    return found.spec(Config(file.metadata, file.path, accept), file), found.rules


def _format(file: WeightFile) -> Format:
    if isinstance(file, GgufFile):
        name = str(file.metadata.get("general.architecture", "nothing"))
        known = {family.gguf_name: family.gguf for family in FAMILIES if family.gguf is not None}
    else:
        name = str(file.metadata.get("model_type", "nothing"))
        known = {family.name: family.safetensors for family in FAMILIES}
    if name not in known:
        raise UnsupportedError(f"{file.path}: architecture {name!r} is not supported", f"supported: {', '.join(known)}")
    return known[name]
