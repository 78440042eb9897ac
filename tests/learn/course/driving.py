"""Running an exercise's hidden tests on a piece of code, and what tests of chapters share."""

from importlib import import_module
from importlib.resources import files
from types import ModuleType

import numpy as np

from whybox.learn.course.chapter import Chapter, Computed, Numbers, Told, read
from whybox.learn.course.computed import Cell, Computations, Remark, Task
from whybox.learn.figures import ON_MODEL, TOYS
from whybox.learn.ground import Ground
from whybox.learn.ledger import shipped
from whybox.model import Model

CHAPTERS = "whybox.learn.course.chapters"


def run(task: Task, code: str, seed: int = 0, ground: Ground | None = None) -> tuple[Remark, ...]:
    """What the hidden tests say of the code. `drive` finds its names as attributes: `code.softmax(…)`.

    Code that raises, lacks a name or returns what is no array gets one failed remark that says so.
    """
    inputs = task.draw(np.random.default_rng(seed), ground or without_model())
    try:
        outputs = _driven(task, code, {name: np.array(value) for name, value in inputs.items()})
    except Exception as problem:
        told = f"{type(problem).__name__}: {problem}"
        return (Remark(False, f"the code stopped: {told}", f"代码中断：{told}"),)
    return task.judge(inputs, outputs)


def failed(remarks: tuple[Remark, ...]) -> str:
    """What failed, in English, a line each; empty where everything holds."""
    assert remarks, "a task without remarks judges nothing"
    assert all(remark.en and remark.zh for remark in remarks)
    return "\n".join(remark.en for remark in remarks if not remark.holds)


def _driven(task: Task, code: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    learner, driver = ModuleType("learner"), ModuleType("driver")
    exec(compile(code, "learner.py", "exec"), learner.__dict__)
    if missing := [name for name in task.needs if not hasattr(learner, name)]:
        raise NameError(f"{missing[0]} is not defined")
    exec(compile(task.drive, "drive.py", "exec"), driver.__dict__)
    outputs: dict[str, np.ndarray] = {name: np.asarray(value) for name, value in driver.drive(learner, inputs).items()}
    if loose := [name for name, value in outputs.items() if value.dtype == object]:
        raise TypeError(f"{loose[0]} is no array of numbers")
    return outputs


def without_model() -> Ground:
    """A ground for what needs no model: asking for it fails."""

    def refused() -> Model:
        raise AssertionError("this needs no model")

    return Ground(refused)


def chapter(name: str) -> Chapter:
    """The words of a chapter: `l02`."""
    source = f"{name}.yaml"
    return read((files(CHAPTERS) / source).read_text(encoding="utf-8"), source)


def computations(name: str) -> Computations:
    found = import_module(f"{CHAPTERS}.{name}").COMPUTED
    assert isinstance(found, Computations)
    return found


def figure(of: Computed, computed: Computations, ground: Ground) -> float:
    """The number of a blank or a field."""
    toys, on_model = {**TOYS, **computed.figures}, {**ON_MODEL, **computed.on_model}
    value = toys[of.figure]() if of.figure in toys else ground.once(on_model[of.figure].compute)
    if isinstance(value, tuple):
        assert of.take is not None, f"{of.figure} has {len(value)} numbers: say which"
        return value[of.take]
    assert of.take is None, f"{of.figure} is one number"
    return value


def toy(name: str, computed: Computations) -> float:
    """A chapter's own figure that is one number and needs no model."""
    value = computed.figures[name]()
    assert isinstance(value, float)
    return value


def numbers_of(row: tuple[Cell, ...]) -> list[float]:
    """A row of a table whose cells are all numbers."""
    assert all(isinstance(each, float | int) for each in row)
    return [float(each) for each in row if isinstance(each, float | int)]


def filled(told: Told, computed: Computations, ground: Ground) -> dict[str, str]:
    """Every blank as it is written."""
    return {name: format(figure(of, computed, ground), of.spec) for name, of in told.fills.items()}


def right_numbers(asked: Numbers, computed: Computations, ground: Ground) -> tuple[float, ...]:
    """What is right in every field of a question that asks for numbers."""
    return tuple(figure(each.figure, computed, ground) for each in asked.fields)


def remembered(ground: Ground) -> Ground:
    """Faults on text A take two seconds each: here they are what the ledger records, whose tests run them."""
    for rest in (rest for claim in shipped().claims for rest in claim.rests.values()):
        figure_name = rest.figure or ""
        if figure_name.startswith("faults.") and len(rest.expected) == 1 and rest.take is None:
            ground._kept.setdefault(ON_MODEL[figure_name].compute, rest.expected[0].value)
    return ground


def everything_fills(words: Chapter, computed: Computations, ground: Ground) -> list[str]:
    """What a chapter asks of its computations and does not get; empty where all is there."""
    wanted = [("tables", block.rows) for block in words.shown if block.kind == "table"]
    wanted += [("grids", block.grid) for block in words.shown if block.kind == "grid"]
    questions = (*words.predict, *words.exercises)
    wanted += [("answers", q.right) for q in questions if q.kind in ("one", "some", "order", "match")]
    wanted += [("tasks", q.task) for q in questions if q.kind == "code"]
    wanted += [("judges", q.judge) for q in questions if q.kind == "file"]
    absent = [f"{where}: {name}" for where, name in wanted if name not in getattr(computed, where)]
    used = {where: {name for place, name in wanted if place == where} for where in KINDS}
    absent += [
        f"{where}: {name} is not used"
        for where in KINDS
        for name in getattr(computed, where)
        if name not in used[where]
    ]
    told = (*(b for b in words.shown if b.kind == "words"), *(q.after for q in questions if q.after))
    wanted_figures = [of for each in told for of in each.fills.values()]
    wanted_figures += [each.figure for asked in questions if asked.kind == "numbers" for each in asked.fields]
    for of in wanted_figures:
        format(figure(of, computed, ground), of.spec)
    return absent


KINDS = ("tables", "grids", "answers", "tasks", "judges")


def ids_fit(words: Chapter, computed: Computations, ground: Ground) -> None:
    """Right answers are ids of the options, as many as the kind of question asks for."""
    for asked in (*words.predict, *words.exercises):
        if asked.kind not in ("one", "some", "order", "match"):
            continue
        right, options = computed.answers[asked.right](ground), [option.id for option in asked.options]
        assert set(right) <= set(options), asked.id
        if asked.kind == "one":
            assert len(right) == 1, asked.id
        if asked.kind == "order":
            assert sorted(right) == sorted(options), asked.id
        if asked.kind == "match":
            assert len(right) == len(asked.items), asked.id


def tables_fit(words: Chapter, computed: Computations, ground: Ground) -> None:
    """Every table has its columns and at most 12 rows; every grid a name for each row and column."""
    for block in words.shown:
        if block.kind == "table":
            rows = computed.tables[block.rows](ground)
            assert 0 < len(rows) <= 12, block.rows
            assert {len(row) for row in rows} == {len(block.columns)}, block.rows
        if block.kind == "grid":
            grid = computed.grids[block.grid](ground)
            assert grid.values.shape == (len(grid.rows), len(grid.columns)), block.grid


def sources_exist(words: Chapter) -> None:
    """Every shown source is there by its full name."""
    for block in words.shown:
        if block.kind == "source":
            module, name = block.of.rsplit(".", 1)
            assert callable(getattr(import_module(module), name)), block.of


def assert_whole(words: Chapter, computed: Computations, ground: Ground) -> None:
    """Blanks are filled, right ids are options, tables fit their columns, and every source is there."""
    assert everything_fills(words, computed, ground) == []
    ids_fit(words, computed, ground)
    tables_fit(words, computed, ground)
    sources_exist(words)
