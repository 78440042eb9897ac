"""Attention that another library computed, with everything that `look` shows of it."""

from collections.abc import Iterable, Sequence

from whybox.jobs.look_brought import brought_payload, look_at_brought
from whybox.measure import brought
from whybox.measure.brought import Brought
from whybox.report.document import Lang, LookDocument
from whybox.report.html import look_page
from whybox.report.html.page import framed


class BroughtLook(Brought):
    """Brought attention that can be looked at: as a document, as a page, and by itself in a notebook."""

    def look(self, title: str = "", lang: Lang = "en") -> LookDocument:
        """The document of `whybox look`, as far as arrays tell."""
        return look_at_brought(self, title, lang)

    def page(self, title: str = "", lang: Lang = "en") -> str:
        """The page of `whybox look` as HTML text: offline, with whole patterns of the heads that it opens."""
        document = self.look(title, lang)
        return look_page(document, brought_payload(self, document.opened), lang)

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        return framed(self.page())


def attention(
    arrays: Iterable[object], tokens: Sequence[str], keys: Sequence[str] | None = None, batch: int | None = None
) -> BroughtLook:
    """Attention weights as models return them: a tuple over layers of (batch, heads, q, k) or (heads, q, k).

    tokens: labels of the queries. keys: labels of the keys, for cross-attention. batch: which sequence, where there are
    several. Raises UsageError for an empty tuple (a kernel that keeps no weights), a batch that is not chosen from,
    another length, and rows that are no distribution.
    """
    found = brought.attention(arrays, tokens, keys, batch)
    return BroughtLook(found.patterns, found.tokens, found.keys, found.direction)
