"""Self-contained HTML pages of the machine documents."""

from whybox.report.html.why import why_page

__all__ = ["why_page"]
