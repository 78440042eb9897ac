"""`whybox.look`, `whybox.lens` and `whybox.why`: what the verbs say, from Python; shown by itself in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from whybox.engine.edit import Edit, edits_of
from whybox.engine.trace import Change
from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.jobs.explore.lens import lens_of
from whybox.jobs.look import LookOptions, LookResult
from whybox.jobs.look import look as looked
from whybox.jobs.look_payload import HeadAt
from whybox.jobs.shown import Shown
from whybox.jobs.why import Effort, WhyOptions
from whybox.jobs.why import why as explained
from whybox.model import Model, Promptable
from whybox.report.document import Lang, WhyDocument, to_json
from whybox.report.document.explore import Lens
from whybox.report.draw import lens_picture
from whybox.report.html import why_page
from whybox.report.html.page import framed


@dataclass(frozen=True)
class WhyResult:
    """Why an answer is what it is. `document` holds every number."""

    document: WhyDocument

    @property
    def page(self) -> str:
        """The page as HTML text, offline."""
        return why_page(self.document, self.document.lang)

    def save(self, path: str | Path) -> None:
        """A file by its suffix: .html or .json. UsageError for another one."""
        path = Path(path)
        match path.suffix:
            case ".html":
                path.write_text(self.page, encoding="utf-8")
            case ".json":
                path.write_text(to_json(self.document) + "\n", encoding="utf-8")
            case _:
                raise UsageError(f"cannot write {path.name}", "use .html or .json")

    def __repr__(self) -> str:
        causes = ", ".join(cause.code for cause in self.document.verdict.causes)
        return f"<why {self.document.case.id}: {causes}>"

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        return framed(self.page)


def look(model: Model, what: Promptable, heads: Sequence[HeadAt] = (), seed: int = 0, lang: Lang = "en") -> LookResult:
    """Every head on a prompt or a case: what `whybox look` says.

    heads: those whose exact rows the page shows, as (layer, head); none: the clearest of each class. Raises what the
    verb refuses.
    """
    asked = what if isinstance(what, Case) else model.prompt(what)
    return looked(model, asked, LookOptions(open=tuple(heads), seed=seed, lang=lang))


@dataclass(frozen=True, eq=False)
class LensResult(Shown):
    """What each layer would answer if it were the last. `document` holds every number."""

    document: Lens


def lens(model: Model, what: Promptable, edits: Iterable[Edit] = (), lang: Lang = "en") -> LensResult:
    """The logit lens of the next token, with edits beside it if any are given.

    The most probable token against the one that the edits make of it, else against the second. Early layers are not
    calibrated: read ranks and signs there. Raises what `model.run` raises.
    """
    trace, chosen = model.run(what, tail=1), edits_of(edits)
    change: Change | str = Change(chosen) if chosen else "no edit was given"
    found = lens_of(model, trace, change)
    return LensResult(lens_picture(found, lang), found)


def why(model: Model, case: Case | str | Path, effort: Effort = "quick", seed: int = 0, lang: Lang = "en") -> WhyResult:
    """One answer explained by changing one thing at a time: what `whybox why CASE` says.

    case: a case, or the path of its file. Takes some hundreds of runs; Ctrl-C ends it with what is known.
    Raises what the verb refuses.
    """
    read = case if isinstance(case, Case) else Case.load(case)
    return WhyResult(explained(model, read, WhyOptions(effort=effort, seed=seed, lang=lang)))
