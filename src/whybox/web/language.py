"""The language that a browser asks for: a page's own scripts ask in the page's."""

from starlette.datastructures import Headers

from whybox.report.document import Lang


def language_of(accepted: str) -> Lang:
    """The language that comes first, of the two that there are."""
    return "zh" if accepted.strip().lower().startswith("zh") else "en"


def asked_language(headers: Headers) -> Lang:
    """That of a request."""
    return language_of(headers.get("accept-language", ""))
