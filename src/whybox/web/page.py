"""The explorer's pages: their skeletons in a language, and the words that their scripts say."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from whybox.report.document import Lang
from whybox.report.html.page import script_json
from whybox.version import __version__
from whybox.web.learn_words import LEARN_WORDS
from whybox.web.words import WORDS


@cache
def explorer_page(lang: Lang) -> str:
    """The page, without a prompt: its scripts ask for everything else."""
    words = _in(WORDS, lang)
    data = script_json({"lang": lang, "words": words})
    template = _template("explorer.html.jinja")
    return template.render(lang=lang, say=words.__getitem__, data=data, version=__version__)


def learn_page(lang: Lang, chapter: str = "", beside: Mapping[str, Any] | None = None) -> str:
    """The course's outline, or one chapter. beside: what the scripts are told besides words: the chapters around it."""
    words = _in(LEARN_WORDS, lang)
    data = script_json({"lang": lang, "words": words, "chapter": chapter} | dict(beside or {}))
    title = f"{chapter} · {words['course.title']}" if chapter else words["course.title"]
    return _template("learn.html.jinja").render(
        lang=lang, say=words.__getitem__, data=data, version=__version__, chapter=chapter, title=title
    )


def _in(words: Mapping[str, tuple[str, str]], lang: Lang) -> dict[str, str]:
    return {key: pair[lang == "zh"] for key, pair in words.items()}


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("whybox.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
