"""Self-contained HTML pages of the machine documents."""

from whybox.report.html.claims import claims_page
from whybox.report.html.comparison import comparison_page
from whybox.report.html.course import chapter_page, course_page
from whybox.report.html.look import look_page
from whybox.report.html.run import run_page
from whybox.report.html.size import size_page
from whybox.report.html.why import why_page

__all__ = [
    "chapter_page", "claims_page", "comparison_page", "course_page", "look_page", "run_page", "size_page", "why_page",
]  # fmt: skip
