"""The explorer's server: pages and their questions. Every question carries its whole state; the server keeps none."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from whybox.errors import UnsupportedError, UsageError, WhyboxError
from whybox.jobs.explore import Written
from whybox.jobs.explore.question import case_file, case_of
from whybox.model import Model
from whybox.report.document import Lang, to_json
from whybox.report.document.explore import ExploreDocument, Question, State
from whybox.report.error_words import in_language, said
from whybox.verdict.experiment_words import named
from whybox.version import __version__
from whybox.web import learning, sizes
from whybox.web.course_seat import CourseWorker
from whybox.web.examples import examples
from whybox.web.guard import Address, Guard
from whybox.web.language import asked_language
from whybox.web.leaving import Leaving
from whybox.web.misread import misread
from whybox.web.page import explorer_page
from whybox.web.pairing import pair, pair_lens
from whybox.web.reports import Report, Which, explained, looked, reopened
from whybox.web.seat import Beside, Seat, Table
from whybox.web.shelf import Shelf
from whybox.web.stream import Line, lines, with_progress
from whybox.web.worker import Tell, Worker

MOST_WRITTEN = 256
REPORT_POLICY = "sandbox allow-scripts allow-downloads"
TYPES = {".js": "text/javascript", ".css": "text/css"}

Count = Annotated[int, Field(ge=1, le=MOST_WRITTEN)]
Asked = Annotated[State, Body(embed=True)]
Questioned = Annotated[Question, Body(embed=True)]
At = Annotated[str | None, Query(pattern=r"^\d{1,4}\.\d{1,4}$")]
Spoken = Annotated[Lang, Body(embed=True)]
SideName = Literal["own", "other"]
Sided = Annotated[SideName, Body(embed=True)]


@dataclass
class Room:
    """What the questions share: the models, each with the thread that runs it, and finished pages."""

    table: Table
    shelf: Shelf = field(default_factory=Shelf)

    @property
    def first(self) -> Seat:
        """The model that pages are about."""
        return self.table.first

    def side(self, state: State, side: SideName) -> tuple[Seat, State]:
        """The state itself, or what stands beside it, with the model that runs it."""
        return (self.first, state) if side == "own" else self.table.other(state)


def guarded(opening: Callable[[], Model], token: str, address: Address, beside: Beside | None = None) -> Guard:
    """The whole application. opening: gives the model; it is called when the server starts, and `beside` after it."""
    return Guard(Leaving(application(Room(Table.laid(opening, beside)))), token, address)


def application(room: Room) -> FastAPI:
    """Every question by its path, without the guard."""
    course = CourseWorker(room.first, learning.is_default, learning.default_model)
    classroom = learning.Classroom(course, lambda: room.first.model, course.open)

    @asynccontextmanager
    async def living(_app: FastAPI) -> AsyncIterator[None]:
        for seat in room.table.seats:
            seat.worker.begin(seat.open)
        classroom.begin()
        yield
        for seat in room.table.seats:
            seat.worker.close()
        course.close()
        classroom.close()

    app = FastAPI(title="whybox", version=__version__, lifespan=living, docs_url=None, redoc_url=None)
    app.add_exception_handler(WhyboxError, _told)
    app.add_exception_handler(RequestValidationError, _not_understood)
    _pages(app, room)
    _questions(app, room)
    _streams(app, room)
    learning.add(app, classroom)
    return app


def _pages(app: FastAPI, room: Room) -> None:
    @app.get("/", response_class=HTMLResponse)
    async def page(request: Request, lang: Lang | None = None) -> str:
        return explorer_page(lang or asked_language(request.headers))

    @app.get("/assets/{name}")
    async def asset(name: str) -> Response:
        found = _asset(name)
        return Response(status_code=404) if found is None else Response(found[0], media_type=found[1])

    @app.get("/pages/{name}", response_class=HTMLResponse)
    async def report(name: str) -> Response:
        return HTMLResponse(room.shelf.get(name).html, headers={"content-security-policy": REPORT_POLICY})

    @app.get("/pages/{name}/json")
    async def numbers(name: str) -> Response:
        return Response(room.shelf.get(name).json, media_type="application/json")

    @app.get("/pages/{name}/{which}.{kind}")
    async def picture(name: str, which: Which, kind: Literal["png", "svg"], at: At = None) -> Response:
        drawn = await run_in_threadpool(room.shelf.get(name).draw, which, at, kind)
        return Response(drawn, media_type={"png": "image/png", "svg": "image/svg+xml"}[kind])


def _questions(app: FastAPI, room: Room) -> None:
    @app.get("/api/health")
    async def health() -> Line:
        return {"status": room.first.status, "whybox": __version__}

    @app.get("/api/model")
    async def model() -> Line:
        desk = room.first.desk
        return desk.about() | {"examples": examples(desk.model), "beside": room.table.name}

    @app.post("/api/read")
    async def read(request: Request, state: Asked) -> Line:
        found = await room.first.worker.short(partial(room.first.desk.read, state), sizes.read(state))
        lang = asked_language(request.headers)
        return found.model_dump(mode="json") | {"notes": [named(note, lang) for note in found.notes]}

    @app.post("/api/compare")
    async def compare(request: Request, state: Asked) -> Response:
        document = await room.first.worker.short(partial(room.first.desk.compare, state), sizes.compared(state))
        return Response(_spoken(document, asked_language(request.headers)), media_type="application/json")

    @app.post("/api/lens")
    async def lens(state: Asked) -> Line:
        found = await room.first.worker.short(partial(room.first.desk.lens, state), 2 * sizes.run(state.prompt))
        return found.model_dump(mode="json")

    @app.post("/api/pair")
    async def beside(state: Asked) -> Response:
        return Response(to_json(await pair(room.table, state)), media_type="application/json")

    @app.post("/api/pair/lens")
    async def beside_lens(state: Asked) -> Line:
        return (await pair_lens(room.table, state)).model_dump(mode="json")

    @app.post("/api/case", response_class=PlainTextResponse)
    async def case(state: Asked, question: Questioned) -> str:
        return case_file(state, question)


def _streams(app: FastAPI, room: Room) -> None:
    """The desk is asked for before the first line, so that a model that is not open has a status of its own."""

    @app.post("/api/write")
    async def write(
        state: Asked,
        changed: Annotated[bool, Body()] = False,
        count: Annotated[Count, Body()] = 24,
        side: Sided = "own",
    ) -> Any:
        seat, own = room.side(state, side)
        return lines(_writing(seat.worker, seat.desk.write(own, changed, count), sizes.run(own.prompt)))

    @app.post("/api/look")
    async def look(state: Asked, lang: Spoken = "en") -> Any:
        return lines(with_progress(partial(_made, room, partial(looked, room.first.desk, state, lang))))

    @app.post("/api/floor")
    async def floor(state: Asked, side: Sided = "own") -> Any:
        seat, own = room.side(state, side)
        return lines(with_progress(partial(_floor, seat.worker, partial(seat.desk.floor, own))))

    @app.post("/api/why")
    async def why(state: Asked, question: Questioned, lang: Spoken = "en") -> Any:
        work = partial(explained, room.first.desk, case_of(state, question), lang)
        return lines(with_progress(partial(_made, room, work)))

    @app.post("/api/report")
    async def report(document: Annotated[dict[str, Any], Body(embed=True)], lang: Spoken = "en") -> Line:
        return {"page": f"/pages/{room.shelf.put(reopened(document, lang))}"}


async def _writing(worker: Worker, steps: Iterator[Written], size: float) -> AsyncIterator[Line]:
    """Each token is a short piece of work, the first one reads the prompt: texts of several users grow side by side."""
    while (written := await worker.short(partial(next, steps, None), size)) is not None:
        yield _line_of(written)
        size = sizes.A_TOKEN


def _line_of(written: Written) -> Line:
    return {"text": written.text, "ids": list(written.ids), "ended": written.ended}


async def _floor(worker: Worker, work: Callable[[Tell], float], tell: Tell) -> Line:
    return {"floor": await worker.long(work, tell)}


async def _made(room: Room, work: Callable[[Tell], Report], tell: Tell) -> Line:
    """A report that takes long, put on the shelf."""
    return {"page": f"/pages/{room.shelf.put(await room.first.worker.long(work, tell))}"}


def _spoken(document: ExploreDocument, lang: Lang) -> str:
    """A document holds its reasons in English; what a page says instead stands beside it, as said: {English: other}."""
    reasons = {document.kl_reason, *(effect.kl_reason for effect in document.effects)} - {""}
    if lang == "en" or not reasons:
        return to_json(document)
    return json.dumps(json.loads(to_json(document)) | {"said": {each: in_language(each, lang) for each in reasons}})


def _asset(name: str) -> tuple[bytes, str] | None:
    """One of our own scripts or styles; the explorer's, or those that it shares with reports."""
    kind = TYPES.get(name[name.rfind(".") :])
    if kind is None or "/" in name or "\\" in name:
        return None
    for package in ("whybox.web", "whybox.report.html"):
        place = files(package).joinpath("assets", name)
        if place.is_file():
            return place.read_bytes(), kind
    return None


async def _told(request: Request, error: Exception) -> Response:
    """One line of cause, one of remedy: 422 for what was asked of this model, 503 for what cannot be done now."""
    assert isinstance(error, WhyboxError)
    status = 422 if isinstance(error, UsageError | UnsupportedError) else 503
    return JSONResponse(said(error, asked_language(request.headers)), status_code=status)


async def _not_understood(request: Request, error: Exception) -> Response:
    """A request, or a shared state, that does not have the shape of this version."""
    assert isinstance(error, RequestValidationError)
    told = misread(error.errors()[0])
    return JSONResponse(said(told, asked_language(request.headers)), status_code=422)
