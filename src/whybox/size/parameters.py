"""How many parameters, and how many bytes. Each stored array counts once: a tied head is the embedding."""

from whybox.engine.memory import Term
from whybox.size.figure import Figure, divided, summed
from whybox.size.outline import Block, Outline
from whybox.size.units import Dtype


def total(of: Outline) -> Figure:
    """Σ of all shapes."""
    blocks = [(block.parameters,) for block in of.blocks]
    terms = [*_tables(of), *blocks, *([(of.vectors,)] if of.vectors else [])]
    return summed("parameters.total", "parameters", "tables + Σ layers (Σ out · in + vectors) + vectors", terms)


def embedding(of: Outline) -> Figure:
    """Token and position tables, and a head of its own."""
    return summed(
        "parameters.embedding", "parameters", "(v + positions) · c, twice v where the head is untied", _tables(of)
    )


def active(of: Outline) -> Figure:
    """What one token passes: of each stack of experts, those that are used."""
    asleep = [
        (matrix.copies - matrix.used, matrix.out, matrix.into)
        for block in of.blocks
        for matrix in block.matrices
        if matrix.used < matrix.copies
    ]
    formula = "total − Σ mixtures (experts − used) · out · in" if asleep else "total (no mixtures)"
    return summed("parameters.active", "parameters", formula, [(int(total(of).value),)], asleep)


def without_embedding(of: Outline) -> Figure:
    whole, tables = int(total(of).value), int(embedding(of).value)
    return summed("parameters.without_embedding", "parameters", "total − embedding", [(whole,)], [(tables,)])


def used_twice(of: Outline) -> Figure:
    """What a count that takes the tied head for a second table would say."""
    terms: list[Term] = [(int(total(of).value),), *([(of.vocab, of.width)] if of.tied else [])]
    return summed("parameters.used_twice", "parameters", "total + v · c where the head is tied", terms)


def stored(of: Outline, nbytes: int) -> tuple[Figure, Figure]:
    """Bytes of the tensors of a file, and bits of a parameter."""
    held = summed("weights.bytes", "bytes", "Σ bytes of the tensors in the file", [(nbytes,)])
    return held, bits(of, nbytes)


def in_type(of: Outline, kind: Dtype) -> tuple[Figure, Figure]:
    """The same if every parameter had one type."""
    term = (int(total(of).value), kind.size)
    held = summed("weights.bytes", "bytes", f"parameters · bytes ({kind.name})", [term], over=kind.values)
    return held, bits(of, int(held.value))


def bits(of: Outline, nbytes: int) -> Figure:
    return divided("weights.bits_per_parameter", "bits", "8 · bytes / parameters", 8 * nbytes, total(of).value)


def _tables(of: Outline) -> list[tuple[int, ...]]:
    terms: list[tuple[int, ...]] = [(of.vocab, of.width)] * (1 if of.tied else 2)
    return [*terms, (of.positions, of.width)] if of.positions else terms


def read_at_a_step(of: Outline, tokens: int) -> float:
    """Parameters that a pass over so many tokens reads: of experts those that some token is sent to.

    Expected number of different experts: e · (1 − (1 − used / e)^tokens), each equally likely. Of an embedding that is
    not the head too, only rows are read: left out, as are positions.
    """
    tables = (of.positions + (0 if of.tied else of.vocab)) * of.width
    asleep = sum(count * _asleep(block, tokens) for block, count in of.kinds.items())
    return total(of).value - tables - asleep


def _asleep(block: Block, tokens: int) -> float:
    mixed = (matrix for matrix in block.matrices if matrix.used < matrix.copies)
    return sum(matrix.parameters * (1 - matrix.used / matrix.copies) ** tokens for matrix in mixed)
