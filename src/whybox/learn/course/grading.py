"""From a question and an answer to a result: what was said beside what is computed, what holds, and what does not.

Numbers must be right to half of the last digit that was asked for, on both sides. Code is judged by hidden tests: drawn
here, run in the child, compared here, so that the learner's code touches no grader.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.learn.course.answers import Read
from whybox.learn.course.cell.running import PRINTED
from whybox.learn.course.chapter import Chosen, Code, Computed, Exercise, Handed, Matched, Numbers, Prediction
from whybox.learn.course.computed import Arrays, Remark, Task
from whybox.learn.course.lessons import Lesson
from whybox.learn.course.reckoning import Reckoner, written
from whybox.learn.course.sandbox import Limits, Piece, Ran, run
from whybox.learn.ledger import Lang
from whybox.report.document import AnswerRow, CodeLine, Graded, RemarkRow
from whybox.report.words import say

ON_MODEL = 120.0
REFUSALS = ("folder", "import", "event")
"""What the walls say, by the name of its words."""
BESIDE_WEIGHTS = 6


@dataclass(frozen=True)
class Grader:
    """One lesson's right answers, computed when they are asked for."""

    lesson: Lesson
    reckoner: Reckoner

    def compared(self, question: Prediction, said: Read, lang: Lang) -> tuple[AnswerRow, ...]:
        """What was predicted beside what is so. Numbers are only compared."""
        match question:
            case Numbers():
                return tuple(
                    AnswerRow(
                        say=each.say.of(lang), said=told, right=written(self._number(each.figure), each.figure.spec)
                    )
                    for each, told in zip(question.fields, said.said, strict=True)
                )
            case Chosen():
                right = self._right(question.right)
                said_as, right_as = (_listed(question, ids, lang) for ids in (said.said, right))
                return (AnswerRow(say="", said=said_as, right=right_as, holds=_agrees(question, said.said, right)),)
            case Matched():
                return self._matches(question, said, lang)

    def graded(self, question: Exercise, said: Read, lang: Lang, seed: int) -> Graded:
        """Whether it is passed, and what to say of it. A right answer is told only once it was given."""
        match question:
            case Numbers():
                return self._numbers(question, said, lang)
            case Chosen():
                return self._chosen(question, said, lang)
            case Matched():
                return self._matched(question, said, lang)
            case Code():
                return self._code(self.lesson.computed.tasks[question.task], said.said[0], lang, seed)
            case Handed():
                remarks = self.lesson.computed.judges[question.judge](said.said[0], self.reckoner.ground)
                return _judged(remarks, lang)

    def _number(self, of: Computed) -> float:
        return self.reckoner.number(of, self.lesson.computed)

    def _right(self, name: str) -> tuple[str, ...]:
        return self.lesson.computed.answers[name](self.reckoner.ground)

    def _numbers(self, question: Numbers, said: Read, lang: Lang) -> Graded:
        rows = []
        for each, told, value in zip(question.fields, said.said, said.numbers, strict=True):
            right = self._number(each.figure)
            holds = each.decimals is None or near(value, right, each.decimals)
            rows.append(
                AnswerRow(say=each.say.of(lang), said=told, right=written(right, each.figure.spec), holds=holds)
            )
        return _of_rows(rows, all(row.holds for row in rows))

    def _chosen(self, question: Chosen, said: Read, lang: Lang) -> Graded:
        right = self._right(question.right)
        row = AnswerRow(
            say="",
            said=_listed(question, said.said, lang),
            right=_listed(question, right, lang),
            holds=_agrees(question, said.said, right),
        )
        if question.kind != "some":
            return _of_rows([row], bool(row.holds))
        judged = sum((each.id in said.said) == (each.id in right) for each in question.options)
        return _counted(_of_rows([row], _enough(question, judged, len(question.options))), judged, question, lang)

    def _matched(self, question: Matched, said: Read, lang: Lang) -> Graded:
        rows = self._matches(question, said, lang)
        judged = sum(bool(row.holds) for row in rows)
        return _counted(_of_rows(rows, _enough(question, judged, len(rows))), judged, question, lang)

    def _matches(self, question: Matched, said: Read, lang: Lang) -> tuple[AnswerRow, ...]:
        named = {option.id: option.say.of(lang) for option in question.options}
        return tuple(
            AnswerRow(say=item.say.of(lang), said=named[told], right=named[right], holds=told == right)
            for item, told, right in zip(question.items, said.said, self._right(question.right), strict=True)
        )

    def _code(self, task: Task, source: str, lang: Lang, seed: int) -> Graded:
        inputs = task.draw(np.random.default_rng(seed), self.reckoner.ground)
        limits = _limits(task, inputs)
        ended = run(Piece(source, task.needs, task.drive), inputs, limits)
        remarks = _remarks(ended, limits, lambda: task.judge(inputs, ended.outputs))
        lines = tuple(CodeLine(number=line.number, text=line.text) for line in ended.where)
        told = {"lines": lines, "printed": _printed(ended.printed, lang), "walls": ended.walls, "seed": seed}
        return _judged(remarks, lang).model_copy(update=told)


def _printed(text: str, lang: Lang) -> str:
    """What is cut says so."""
    return text if len(text) <= PRINTED else f"{text[:PRINTED]}… {say('course.cut', lang, n=f'{PRINTED:,}')}"


def near(said: float, right: float, decimals: int) -> bool:
    """To half of the last digit that was asked for, on both sides; the last bits of a float do not count."""
    return abs(said - right) <= 0.5 * 10.0**-decimals + 1e-12 * max(1.0, abs(right))


def _of_rows(rows: Sequence[AnswerRow], passed: bool) -> Graded:
    """What is right is told once it is passed."""
    told = rows if passed else [row.model_copy(update={"right": ""}) for row in rows]
    return Graded(passed=passed, rows=tuple(told))


def _listed(question: Chosen, ids: Iterable[str], lang: Lang) -> str:
    named = {option.id: option.say.of(lang) for option in question.options}
    return (" → " if question.kind == "order" else " · ").join(named[each] for each in ids)


def _agrees(question: Chosen, said: Sequence[str], right: Sequence[str]) -> bool:
    return tuple(said) == tuple(right) if question.kind == "order" else set(said) == set(right)


def _enough(question: Chosen | Matched, judged: int, of: int) -> bool:
    return judged >= (question.pass_with or of)


def _counted(graded: Graded, judged: int, question: Chosen | Matched, lang: Lang) -> Graded:
    """How many were judged right, of how many, and how many a pass takes."""
    of = len(question.items if isinstance(question, Matched) else question.options)
    told = say("course.judged", lang, n=judged, of=of, need=question.pass_with or of)
    return graded.model_copy(update={"remarks": (RemarkRow(holds=graded.passed, say=told),)})


def _limits(task: Task, inputs: Arrays) -> Limits:
    """Room for copies of the inputs; time for a model's weights, where those are the inputs."""
    usual = Limits()
    held = sum(array.nbytes for array in inputs.values())
    return Limits(ON_MODEL if task.on_model else usual.seconds, usual.memory + BESIDE_WEIGHTS * held)


def _remarks(ended: Ran, limits: Limits, judge: Callable[[], tuple[Remark, ...]]) -> tuple[Remark, ...]:
    match ended.state:
        case "done":
            try:
                return judge()
            except (KeyError, IndexError, TypeError, ValueError):
                return (_stopped("garbled"),)
        case "raised" if ended.kind == "MemoryError":
            return (_stopped("memory", gb=f"{limits.memory / 2**30:.0f}"),)
        case "raised":
            return (_raised(ended),)
        case "missing":
            return (_stopped("missing", names=", ".join(ended.missing)),)
        case "slow":
            return (_stopped("slow", seconds=f"{limits.seconds:g}"),)
        case "died" | "full" | "garbled":
            return (_stopped(ended.state),)


def _stopped(how: str, **told: object) -> Remark:
    return Remark(False, say(f"course.ended.{how}", "en", **told), say(f"course.ended.{how}", "zh", **told))


def _raised(ended: Ran) -> Remark:
    """What Python says stays as it is; what the walls say is said in both languages."""
    said = ended.said
    for refusal in REFUSALS:
        walls = say(f"course.refused.{refusal}", "en")
        if said.startswith(walls):
            said = say(f"course.refused.{refusal}", "zh") + said.removeprefix(walls)
    return Remark(
        False,
        say("course.ended.raised", "en", kind=ended.kind, said=ended.said),
        say("course.ended.raised", "zh", kind=ended.kind, said=said),
    )


def _judged(remarks: Sequence[Remark], lang: Lang) -> Graded:
    """Passed where every remark holds, and there is one."""
    told = [each for each in remarks if not (each.holds and each.mistake)]
    rows = tuple(RemarkRow(holds=each.holds, say=each.zh if lang == "zh" else each.en) for each in told)
    return Graded(passed=bool(rows) and all(row.holds for row in rows), remarks=rows)
