"""The course's pages and questions: predictions are stored at once, models run on their thread, code in cells."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from fastapi import Path as Placed
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from whybox.learn.course.answers import Answer, read
from whybox.learn.course.course import Course
from whybox.learn.course.lessons import found, lesson
from whybox.learn.course.progress import Progress
from whybox.learn.ground import Ground
from whybox.library import ALIASES
from whybox.model import Model, open_model
from whybox.report.document import ChapterDocument, Document, GradedDocument, Lang, to_json
from whybox.web.cells import Cells
from whybox.web.language import language_of
from whybox.web.page import learn_page
from whybox.web.stream import Line, lines, with_progress
from whybox.web.worker import Tell, Worker

DEFAULT = "smollm2"
MOST_ANSWERS = 64
A_DAY = 86_400

Words = Annotated[str, Field(max_length=200_000)]
Few = Annotated[str, Field(max_length=200)]
Given = Words | Annotated[list[Few], Field(max_length=MOST_ANSWERS)] | Annotated[dict[Few, Few], Field(max_length=64)]
Chosen = Annotated[str, Placed(max_length=8)]
Named = Annotated[str, Placed(max_length=80)]
Spoken = Annotated[Lang, Body(embed=True)]
Predictions = Annotated[Annotated[dict[Few, Given], Field(max_length=MOST_ANSWERS)] | None, Body(embed=True)]
Answered = Annotated[Given, Body(embed=True)]
Seconds = Annotated[Annotated[float, Field(ge=0, le=A_DAY, allow_inf_nan=False)] | None, Body(embed=True)]


def default_model() -> Model:
    """The course's model, where the explorer serves another one."""
    return open_model(DEFAULT)


@dataclass
class Classroom:
    """The course beside the explorer. served: the explorer's model where it is open; raises while it is being opened.

    One course is asked on the model's thread alone; another, on a ground of its own, grades code beside it.
    """

    worker: Worker
    served: Callable[[], Model | None]
    opening: Callable[[], Model] = default_model
    progress: Progress = field(default_factory=Progress)
    cells: Cells = field(default_factory=Cells)

    def __post_init__(self) -> None:
        self._opened: Model | None = None
        self._alone = Lock()
        self.course = Course(Ground(self.model), self.progress)
        self.coding = Course(Ground(self.model), self.progress)

    def begin(self) -> None:
        """Reads the chapters beside everything else, so that who asks first need not wait for that."""
        self.cells.begin(lambda: [lesson(name) for name in found()])

    def model(self) -> Model:
        """The default model in fp32: the explorer's own where it is that, else opened now, once."""
        with self._alone:
            if self._opened is None:
                served = self.served()
                self._opened = served if served is not None and is_default(served) else self.opening()
            return self._opened

    async def opened(self, chapter: str, lang: Lang) -> AsyncIterator[Line]:
        """The chapter's words at once; what it shows once it is computed, where every prediction is stored."""
        words = await run_in_threadpool(self.course.words, chapter, lang)
        yield _line("chapter", words)
        if not words.waiting:
            async for line in with_progress(partial(self._computed, chapter, lang)):
                yield line

    async def _computed(self, chapter: str, lang: Lang, tell: Tell) -> Line:
        def work(tell: Tell) -> ChapterDocument:
            return self.course.open(chapter, lang, tell)

        return _line("chapter", await self.worker.long(work, tell))

    async def graded(self, chapter: str, exercise: str, answer: Answer, lang: Lang, tell: Tell) -> Line:
        """Code is graded in a cell, a file as long work; what else there is passes between the steps of long work."""

        def by(course: Course) -> Callable[[], GradedDocument]:
            return partial(course.attempt, chapter, exercise, answer, lang)

        match lesson(chapter).exercise(exercise).kind:
            case "code":
                return _line("graded", await self.cells.run(by(self.coding)))
            case "file":
                return _line("graded", await self.worker.long(lambda _tell: by(self.course)(), tell))
            case _:
                return _line("graded", await self.worker.short(by(self.course)))

    def close(self) -> None:
        """No code is run any more; what runs ends at its limit."""
        self.cells.close()


def add(app: FastAPI, room: Classroom) -> None:
    """The course's pages, and what they ask."""
    _pages(app)
    _questions(app, room)


def _pages(app: FastAPI) -> None:
    @app.get("/learn", response_class=HTMLResponse)
    async def outline_page(request: Request, lang: Lang | None = None) -> str:
        return learn_page(_language(request, lang))

    @app.get("/learn/{chapter}", response_class=HTMLResponse)
    async def chapter_page(request: Request, chapter: Chosen, lang: Lang | None = None) -> str:
        spoken = _language(request, lang)
        return await run_in_threadpool(learn_page, spoken, chapter, _beside(chapter, spoken))


def _questions(app: FastAPI, room: Classroom) -> None:
    @app.get("/api/learn")
    async def outline(lang: Lang = "en") -> Response:
        return _answer(await run_in_threadpool(room.course.outline, lang))

    @app.post("/api/learn/{chapter}")
    async def opened(chapter: Chosen, predictions: Predictions = None, lang: Spoken = "en") -> Any:
        await run_in_threadpool(room.course.keep, chapter, predictions or {})
        return lines(room.opened(chapter, lang))

    @app.post("/api/learn/{chapter}/exercises/{exercise}")
    async def attempted(chapter: Chosen, exercise: Named, answer: Answered, lang: Spoken = "en") -> Any:
        await run_in_threadpool(lambda: read(lesson(chapter).exercise(exercise), answer))
        return lines(with_progress(partial(room.graded, chapter, exercise, answer, lang)))

    @app.post("/api/learn/{chapter}/recital")
    async def recited(
        chapter: Chosen, told: Annotated[Words, Body(embed=True)], seconds: Seconds = None, lang: Spoken = "en"
    ) -> Response:
        return _answer(await run_in_threadpool(room.course.recite, chapter, told, lang, seconds))


def _language(request: Request, lang: Lang | None) -> Lang:
    return lang or language_of(request.headers.get("accept-language", ""))


def _beside(chapter: str, lang: Lang) -> dict[str, Any]:
    """The chapters before and after, with their titles; none beside one that is not there."""
    ids = found()
    at = ids.index(chapter) if chapter in ids else len(ids) + 1
    around = {"before": at - 1, "next": at + 1}
    return {
        name: {"id": ids[place], "title": lesson(ids[place]).chapter.title.of(lang)} if 0 <= place < len(ids) else None
        for name, place in around.items()
    }


def is_default(model: Model) -> bool:
    """Whether it is the course's."""
    return model.engine.precision == "fp32" and model.file.digest() == ALIASES[DEFAULT].sha256


def _answer(document: Document) -> Response:
    return Response(to_json(document), media_type="application/json")


def _line(name: str, document: Document) -> Line:
    return {name: document.model_dump(mode="json", by_alias=True)}
