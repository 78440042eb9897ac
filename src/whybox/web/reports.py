"""Reports as the explorer shows them: made from a state, or opened from a document that was saved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from pydantic import ValidationError

from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.jobs.explore import Desk
from whybox.jobs.look import LookOptions, look
from whybox.jobs.why import Plan, Progress, WhyOptions, why
from whybox.report.document import (
    CallsPayload,
    ComparisonDocument,
    DiffDocument,
    Document,
    Lang,
    LookDocument,
    LookPayload,
    RunDocument,
    SizeDocument,
    WhyDocument,
    to_json,
)
from whybox.report.document.explore import State
from whybox.report.draw import Budget, HeadAt, ModelView, Picture, look_picture, png_bytes, svg_text
from whybox.report.html import comparison_page, look_page, run_page, size_page, why_page
from whybox.report.html.diff import diff_page
from whybox.web.worker import Tell

Which = Literal["model", "head", "budget"]
PAGES: Mapping[type[Document], Callable[[Any, Lang], str]] = {
    ComparisonDocument: comparison_page,
    DiffDocument: diff_page,
    LookDocument: lambda document, lang: look_page(document, LookPayload(), lang),
    RunDocument: lambda document, lang: run_page(document, CallsPayload(), lang),
    SizeDocument: size_page,
    WhyDocument: why_page,
}


@dataclass(frozen=True, eq=False)
class Report:
    """A finished page and its document. looked: what pictures of the heads are drawn from, where it has them."""

    html: str
    json: str
    lang: Lang
    looked: tuple[LookDocument, LookPayload] | None = None

    def draw(self, which: Which, at: str | None, kind: Literal["png", "svg"]) -> bytes:
        """A picture of the heads. UsageError for a report without them, and for a head that does not exist."""
        if self.looked is None:
            raise UsageError("this report has no picture of heads", "make one with look")
        scene = look_picture(*self.looked, _picture(which, at), self.lang)
        return png_bytes(scene) if kind == "png" else svg_text(scene).encode()


def looked(desk: Desk, state: State, lang: Lang, tell: Tell) -> Report:
    """Every head on the prompt of a state."""
    result = look(desk.model, desk.prompt(state), LookOptions(lang=lang), tell)
    payload = result.payload()
    return Report(look_page(result.document, payload, lang), to_json(result.document), lang, (result.document, payload))


def explained(desk: Desk, case: Case, lang: Lang, tell: Tell) -> Report:
    """What the answer to a state rests on."""
    planned = 1

    def announce(plan: Plan) -> None:
        nonlocal planned
        planned = max(plan.runs, 1)

    def step(progress: Progress) -> None:
        tell(progress.done, planned)

    document = why(desk.model, case, WhyOptions(lang=lang), announce, step)
    return Report(why_page(document, lang), to_json(document), lang)


def reopened(data: Mapping[str, Any], lang: Lang) -> Report:
    """A saved document of any verb as its page. UsageError for one that is none, or of another version."""
    schema = data.get("schema")
    name = schema.get("name") if isinstance(schema, Mapping) else None
    kind = next((each for each in PAGES if name == each.NAME), None)
    if kind is None:
        raise UsageError(
            f"no page shows {name or 'this file'}", f"a report saved with --json: {', '.join(k.NAME for k in PAGES)}"
        )
    try:
        document = kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(
            f"{'.'.join(map(str, first['loc'])) or name}: {first['msg'].lower()}", "save the report anew"
        ) from error
    return Report(PAGES[kind](document, lang), to_json(document), lang)


def _picture(which: Which, at: str | None) -> Picture:
    match which:
        case "model":
            return ModelView()
        case "budget":
            return Budget()
        case "head" if at is not None:
            layer, head = at.split(".")
            return HeadAt(int(layer), int(head))
        case "head":
            raise UsageError("which head?", "such as ?at=18.6")
        case _:
            assert_never(which)
