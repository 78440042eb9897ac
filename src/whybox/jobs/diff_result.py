"""`whybox.diff`: two sides compared from Python, shown by itself in a notebook, saved by suffix."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whybox.compare.comparison import WRITTEN, Asked
from whybox.compare.prompts import Text
from whybox.compare.sides import Live, Side, side_of
from whybox.errors import UsageError
from whybox.jobs.diff import diff as compared
from whybox.jobs.diff_sensitivity import diff_sensitivity
from whybox.model import Model, open_model
from whybox.report.document import DiffDocument, Lang, SensitivityDocument, to_json
from whybox.report.draw import diff_picture, png_bytes, svg_text
from whybox.report.html.diff import diff_page
from whybox.report.html.diff_sensitivity import sensitivity_page
from whybox.report.html.page import framed

Compared = str | Path | Model


@dataclass(frozen=True)
class DiffResult:
    """What a comparison found. `document` holds every number."""

    document: DiffDocument | SensitivityDocument

    @property
    def page(self) -> str:
        """The page as HTML text, offline."""
        match self.document:
            case DiffDocument() as document:
                return diff_page(document, document.lang)
            case document:
                return sensitivity_page(document, document.lang)

    def save(self, path: str | Path) -> None:
        """A file by its suffix: .html, .json, and of a comparison .png or .svg."""
        path, document = Path(path), self.document
        match path.suffix, document:
            case ".html", _:
                path.write_text(self.page, encoding="utf-8")
            case ".json", _:
                path.write_text(to_json(document) + "\n", encoding="utf-8")
            case ".png", DiffDocument():
                path.write_bytes(png_bytes(diff_picture(document, document.lang)))
            case ".svg", DiffDocument():
                path.write_text(svg_text(diff_picture(document, document.lang)), encoding="utf-8")
            case _:
                raise UsageError(f"cannot write {path.name}", "use .html or .json; of a comparison also .png, .svg")

    def __repr__(self) -> str:
        one, other = self.document.sides
        told = self.document.verdict if isinstance(self.document, DiffDocument) else f"KL {self.document.kl:.3g} nats"
        return f"<{one.name} ↔ {other.name}: {told}>"

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        return framed(self.page)


def diff(
    one: Compared,
    other: Compared,
    prompts: Sequence[str] | None = None,
    tokens: int = WRITTEN,
    sensitivity: bool = False,
    lang: Lang = "en",
) -> DiffResult:
    """Two runs of one model, compared down to the cause: what `whybox diff ONE OTHER` says.

    one, other: a side as it is typed ("smollm2@bf16", "@cache", "theirs.npz", "openai:NAME"), a path, or an open model.
    prompts: texts to compare on; the default ones if None. tokens: how many both sides write on. sensitivity: which
    parts of `other`, a quantised `one`, to keep in higher precision. Raises what the verb refuses.
    """
    first = _side(one, None)
    second = _side(other, first if isinstance(first, Live) else None)
    asked = Asked(None if prompts is None else tuple(_texts(prompts, first)), tokens)
    if not sensitivity:
        return DiffResult(compared(first, second, asked, lang=lang))
    if not isinstance(first, Live):
        raise UsageError("the first side must be a model that can be run", 'whybox.diff("smollm2", "@int4", …)')
    return DiffResult(diff_sensitivity(first, second, asked, lang=lang))


def _side(what: Compared, other: Live | None) -> Side:
    if isinstance(what, Model):
        return Live(what.name, what)
    return side_of(str(what), open_model, other)


def _texts(prompts: Sequence[str], first: Side) -> list[Text]:
    if isinstance(prompts, str) or not prompts:
        raise UsageError("expected a list of texts", 'prompts=["The capital of France is"]')
    model = first.model if isinstance(first, Live) else None
    return [
        Text(f"text {n}", () if model is None else tuple(model.prompt(text).ids), text)
        for n, text in enumerate(prompts, 1)
    ]
