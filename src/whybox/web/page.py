"""The explorer's one page: its skeleton in a language, and the words that its scripts say."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from whybox.report.document import Lang
from whybox.report.html.page import script_json
from whybox.version import __version__
from whybox.web.words import WORDS


@cache
def explorer_page(lang: Lang) -> str:
    """The page, without a prompt: its scripts ask for everything else."""
    words = {key: pair[lang == "zh"] for key, pair in WORDS.items()}
    environment = Environment(
        loader=PackageLoader("whybox.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = script_json({"lang": lang, "words": words})
    template = environment.get_template("explorer.html.jinja")
    return template.render(lang=lang, say=words.__getitem__, data=data, version=__version__)
