"""What one architecture file declares: how its configuration becomes a Spec, and where each tensor goes."""

from collections.abc import Callable
from dataclasses import dataclass

from whybox.families.config import Config
from whybox.formats import WeightFile
from whybox.spec import Spec
from whybox.weights import Rule

SpecBuilder = Callable[[Config, WeightFile], Spec]


@dataclass(frozen=True)
class Format:
    """One file format of a family: its configuration reader and its tensor table.

    prefix: what the names of the table begin with; files that lack it, or nest it, are read too, and say so.
    """

    spec: SpecBuilder
    rules: tuple[Rule, ...]
    prefix: str = ""


@dataclass(frozen=True)
class Family:
    """`name` is the model_type of config.json; `gguf_name` is general.architecture."""

    name: str
    safetensors: Format
    gguf: Format | None = None
    gguf_name: str = ""
