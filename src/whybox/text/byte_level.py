"""The alphabet of byte-level BPE: each of the 256 byte values written as one printable character (GPT-2)."""

from functools import cache


@cache
def characters() -> tuple[str, ...]:
    """Character of every byte value: printable Latin-1 stands for itself, the other 68 take U+0100 onwards."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(spare)) for byte in range(256))


@cache
def _byte_of() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(characters())}


def to_bytes(token: str) -> bytes:
    """The bytes that a vocabulary entry stands for; a character outside the alphabet stands for its own UTF-8.

    `Ġthe` → b" the".
    """
    table = _byte_of()
    return b"".join(bytes([table[c]]) if c in table else c.encode("utf-8", "surrogatepass") for c in token)


def from_bytes(data: bytes) -> str:
    """The vocabulary spelling of bytes: b" the" → `Ġthe`."""
    table = characters()
    return "".join(table[byte] for byte in data)
