"""Attention that another library computed, with everything that `look` shows of it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from whybox.errors import UsageError
from whybox.jobs.look_brought import brought_payload, look_at_brought
from whybox.measure import brought
from whybox.measure.brought import Brought, Named
from whybox.report.document import Lang, LookDocument, to_json
from whybox.report.draw import ModelView, Picture, look_picture, png_bytes, svg_text
from whybox.report.html import look_page
from whybox.report.html.page import framed
from whybox.report.text_look import heads_csv

ALL_HEADS = ModelView()


class BroughtLook(Brought):
    """Brought attention that can be looked at: as a document, as a page or a file, and by itself in a notebook."""

    def look(self, title: str = "", lang: Lang = "en", wrong: bool | None = None) -> LookDocument:
        """The document of `whybox look`, as far as arrays tell.

        wrong: whether the answer that the model gave was, which two diagnoses of the evidence rest on.
        """
        return look_at_brought(self, title, lang, wrong)

    def page(self, title: str = "", lang: Lang = "en", wrong: bool | None = None) -> str:
        """The page of `whybox look` as HTML text: offline, with whole patterns of the heads that it opens."""
        document = self.look(title, lang, wrong)
        return look_page(document, brought_payload(self, document.opened), lang)

    def save(self, path: str | Path, lang: Lang = "en", picture: Picture = ALL_HEADS) -> None:
        """A file by its suffix: .html, .json, .csv (the table of heads), .png or .svg (a picture)."""
        path = Path(path)
        document = self.look(path.stem, lang)
        match path.suffix:
            case ".html":
                path.write_text(self.page(path.stem, lang), encoding="utf-8")
            case ".json":
                path.write_text(to_json(document) + "\n", encoding="utf-8")
            case ".csv":
                path.write_text(heads_csv(document), encoding="utf-8", newline="")
            case ".png" | ".svg":
                scene = look_picture(document, brought_payload(self, document.opened), picture, lang)
                path.write_bytes(png_bytes(scene) if path.suffix == ".png" else svg_text(scene).encode())
            case _:
                raise UsageError(f"cannot write {path.name}", "use one of .html, .json, .csv, .png, .svg")

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        return framed(self.page())


def attention(
    arrays: Iterable[object],
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    batch: int | None = None,
    segments: Named | None = None,
    query: int | None = None,
    causal: bool | None = None,
) -> BroughtLook:
    """Attention weights as models return them: a tuple over layers of (batch, heads, q, k) or (heads, q, k).

    tokens: labels of the queries. keys: labels of the keys, for cross-attention. batch: which sequence, where there are
    several. segments: name → range of keys, or (range, role) with a role of system, evidence, generated or template;
    what none holds counts as template. query: the row that decides (default: the last one, unless queries look both
    ways; 0 for a [CLS]). causal: whether no query may see a later key (default: as the weights are).

    A row that sums to less than 1 is a diagnosis (MASK_BUG). Raises UsageError for what is no attention, and says what
    it looks like: scores, swapped axes, padding, a batch that is not chosen from, a kernel that keeps no weights.
    """
    found = brought.attention(arrays, tokens, keys, batch, segments, query, causal)
    return BroughtLook(**vars(found))
