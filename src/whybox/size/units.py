"""Amounts as people write them: 24GB, 80 GiB, 3.35TB/s, 989T, 1.5e12; and types of numbers by name."""

import re
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from whybox.errors import UsageError
from whybox.formats.blocks import GGUF_TYPES

_DECIMAL = dict(zip("KMGTPE", (10**power for power in range(3, 21, 3)), strict=True))
_BINARY = {f"{letter}I": 1 << power for letter, power in zip("KMGTP", range(10, 60, 10), strict=True)}
_PREFIXES = {"": 1} | _DECIMAL | _BINARY
_AMOUNT = re.compile(
    r"\s*(?P<number>\d{1,24}(?:\.\d{0,24})?(?:e[+]?\d\d?)?)\s*(?P<prefix>[KMGTPE]I?)?\s*(?P<unit>[A-Z/]*)\s*", re.I
)

Quantity = Literal["memory", "bandwidth", "flops"]
_UNITS: dict[Quantity, tuple[tuple[str, ...], str]] = {
    "memory": (("", "B", "BYTE", "BYTES"), "24GB, 80GiB or a number of bytes"),
    "bandwidth": (("", "B/S", "BYTES/S", "BPS"), "3.35TB/s, 900GB/s or bytes per second"),
    "flops": (("", "FLOP/S", "FLOPS", "FLOP"), "989T, 312TFLOP/s or operations per second"),
}
MOST = 10**21


def amount(text: str, quantity: Quantity) -> int:
    """Bytes, bytes per second, or operations per second. 1 GB = 10⁹, 1 GiB = 2³⁰. UsageError for anything else."""
    units, examples = _UNITS[quantity]
    found = _AMOUNT.fullmatch(text)
    value = 0
    if found and found["unit"].upper() in units:
        value = int(Fraction(found["number"]) * _PREFIXES[(found["prefix"] or "").upper()])
    if not 1 <= value <= MOST:
        raise UsageError(f"--{quantity} {text!r:.60} is no amount that whybox understands", f"write {examples}")
    return value


@dataclass(frozen=True)
class Dtype:
    """A type of numbers: `size` bytes hold `values` of them, scales included."""

    name: str
    values: int
    size: int

    @property
    def bits(self) -> float:
        return 8 * self.size / self.values


_PLAIN = {"fp64": 64, "fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4, "int4": 4}
DTYPES = MappingProxyType(
    {name: Dtype(name, max(8 // bits, 1), max(bits // 8, 1)) for name, bits in _PLAIN.items()}
    | {
        kind.name.lower(): Dtype(kind.name, kind.values, kind.size)
        for kind in GGUF_TYPES.values()
        if kind.name[0] in "QIMNT" and kind.name not in ("I8", "I16", "I32", "I64")
    }
)
_SYNONYMS = {
    "float64": "fp64", "float32": "fp32", "f32": "fp32", "float16": "fp16", "f16": "fp16", "half": "fp16",
    "bfloat16": "bf16", "float8_e4m3fn": "fp8", "f8_e4m3": "fp8", "e4m3": "fp8", "q8": "int8", "q4": "int4",
}  # fmt: skip


def dtype_named(name: str, option: str = "--dtype") -> Dtype:
    """fp32, bf16, int8, q4_k …; UsageError that lists them."""
    key = _SYNONYMS.get(name.lower(), name.lower())
    if key not in DTYPES:
        known = ", ".join([*_PLAIN, "q8_0", "q4_0", "q4_k", "q6_k and the other GGUF types"])
        raise UsageError(f"{option} {name!r:.40} is no type of numbers", f"known: {known}")
    return DTYPES[key]


def whole_option(option: str, value: int, least: int, most: int) -> int:
    """A whole number within its bounds, or a UsageError that names them."""
    if not least <= value <= most:
        raise UsageError(f"{option} {value} cannot be", f"give a whole number from {least:,} to {most:,}")
    return value
