"""Known spellings of tensor names: the same model saved without its prefix, or inside a larger one.

The spelling is found by the embedding's name alone; whatever else does not match is refused by the ledger.
"""

from dataclasses import dataclass, replace

from whybox.formats import WeightFile
from whybox.weights import Rule


@dataclass(frozen=True)
class Spelling:
    """Names of the table that begin with `prefix` begin with `written` in the file."""

    prefix: str
    written: str

    def of(self, name: str) -> str:
        return self.written + name.removeprefix(self.prefix) if name.startswith(self.prefix) else name

    @property
    def note(self) -> str:
        return f"tensor names: {self.prefix or 'nothing'!r} of the table is written {self.written or 'nothing'!r} here"


def spellings(prefix: str) -> tuple[Spelling, ...]:
    """What a table with this prefix may look like in a file, besides itself."""
    return (
        Spelling(prefix, ""),
        Spelling("", "language_model."),
        Spelling(prefix, "model.language_model."),
    )


def respell(file: WeightFile, rules: tuple[Rule, ...], prefix: str) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules in the file's spelling, and the line that shows it. The table's own spelling shows nothing."""
    embed = next(rule.tensor for rule in rules if rule.roles == ("embed",))
    if embed in file.tensors or not prefix:
        return rules, ()
    for spelling in spellings(prefix):
        if spelling.of(embed) in file.tensors:
            return tuple(replace(rule, tensor=spelling.of(rule.tensor)) for rule in rules), (spelling.note,)
    return rules, ()
