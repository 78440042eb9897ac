"""Self-contained HTML pages of the machine documents."""

from whybox.report.html.claims import claims_page
from whybox.report.html.comparison import comparison_page
from whybox.report.html.look import look_page
from whybox.report.html.run import run_page
from whybox.report.html.size import size_page
from whybox.report.html.why import why_page

__all__ = ["claims_page", "comparison_page", "look_page", "run_page", "size_page", "why_page"]
