"""What a chapter shows once the predictions are made: sentences, tables, grids, and the source that computed them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import assert_never

import numpy as np

import whybox
from whybox.errors import FormatError
from whybox.learn.course.chapter import GridShown, Shown, SourceShown, TableShown, Words
from whybox.learn.course.computed import Cell
from whybox.learn.course.lessons import Lesson
from whybox.learn.course.reckoning import Reckoner, written
from whybox.learn.ledger import Lang, Said
from whybox.report.document import GridBlock, ShownBlock, SourceBlock, TableBlock, WordsBlock

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Shower:
    """Computes what is shown."""

    lesson: Lesson
    reckoner: Reckoner

    def blocks(self, lang: Lang, tell: Tell) -> tuple[ShownBlock, ...]:
        """In the chapter's order. tell: blocks done, of all."""
        shown, blocks = self.lesson.chapter.shown, []
        for done, block in enumerate(shown, 1):
            blocks.append(self._block(block, lang))
            tell(done, len(shown))
        return tuple(blocks)

    def _block(self, block: Shown, lang: Lang) -> ShownBlock:
        computed, ground = self.lesson.computed, self.reckoner.ground
        match block:
            case Words():
                return WordsBlock(paragraphs=self.reckoner.fill(block, computed, lang))
            case TableShown():
                specs = block.specs or (".3g",) * len(block.columns)
                rows = tuple(
                    tuple(cell(each, spec, lang) for each, spec in zip(row, specs, strict=True))
                    for row in computed.tables[block.rows](ground)
                )
                columns = tuple(column.of(lang) for column in block.columns)
                return TableBlock(caption=block.caption.of(lang), columns=columns, rows=rows)
            case GridShown():
                return self._grid(block, lang)
            case SourceShown():
                return source(block, lang)
            case _:
                assert_never(block)

    def _grid(self, block: GridShown, lang: Lang) -> GridBlock:
        grid = self.lesson.computed.grids[block.grid](self.reckoner.ground)
        hidden = ~np.isfinite(grid.values)
        if grid.hidden is not None:
            hidden |= grid.hidden
        values = tuple(
            tuple(None if empty else float(value) for value, empty in zip(row, covered, strict=True))
            for row, covered in zip(grid.values, hidden, strict=True)
        )
        cells = tuple(tuple("" if value is None else written(value, block.spec) for value in row) for row in values)
        return GridBlock(
            caption=block.caption.of(lang), rows=grid.rows, columns=grid.columns, values=values, cells=cells
        )


def cell(value: Cell, spec: str, lang: Lang) -> str:
    """As it stands in a table; text is written as it is."""
    match value:
        case Said():
            return value.of(lang)
        case str():
            return value
        case int() if spec == ".3g":
            return written(value, ",d")
        case _:
            return written(value, spec)


def source(block: SourceShown, lang: Lang) -> SourceBlock:
    """The text as it stands in the file that ran. FormatError for a name that leads to no code."""
    module, _, name = block.of.rpartition(".")
    found = vars(import_module(module)).get(name)
    if not inspect.isfunction(found) and not inspect.isclass(found):
        raise FormatError("the course", block.of, "a function or class of whybox", type(found).__name__)
    code = inspect.unwrap(found)
    lines, first = inspect.getsourcelines(code)
    file = Path(inspect.getsourcefile(code) or "").resolve()
    return SourceBlock(
        caption=block.caption.of(lang),
        name=block.of,
        file=file.relative_to(Path(whybox.__file__).resolve().parents[1]).as_posix(),
        line=max(first, 1),
        text="".join(lines),
    )
