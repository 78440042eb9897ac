"""The skeleton of every page: one file that works offline, with one escaping point and a ceiling on its size.

Text from elsewhere reaches a page in two ways only: through jinja's autoescape, and as JSON in a data block whose
`<`, `>`, `&`, U+2028 and U+2029 are escaped. The content policy allows our own style and script, by hash, and no more.
"""

import base64
import hashlib
import json
import math
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from whybox.report import numbers, visible
from whybox.report.document import Lang
from whybox.report.reasons import reason
from whybox.report.words import say
from whybox.verdict.experiment_words import named, segment_named
from whybox.version import __version__

MOST_BYTES = 8_000_000
MOST_NODES = 3_000
MOST_DATA = 0.86  # part of the bytes that data may take; the rest is for markup, style and script


@dataclass(frozen=True)
class Bundle:
    """The assets of a kind of page, in the order in which they stand in it, and the elements of its tables."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    table_nodes: int = 1_100


WHY = Bundle(
    ("theme.js", "copy.js", "tokens.js", "numbers.js", "paint.js", "heatmap.js", "start.js"), ("base.css", "why.css")
)
WHY_FULL = replace(WHY, table_nodes=250)  # its sections show rows of their own


@dataclass(frozen=True)
class Table:
    """Exact numbers of a figure. `shown` rows are drawn; a copy holds all of them."""

    name: str
    columns: list[str]
    rows: list[list[str]]
    most: int = 64

    @property
    def shown(self) -> list[list[str]]:
        return self.rows[: self.most]

    @property
    def left_out(self) -> int:
        return max(0, len(self.rows) - self.most)

    @property
    def nodes(self) -> int:
        """Elements that the shown rows need."""
        return len(self.shown) * (len(self.columns) + 1)


def fitted(tables: list[Table], most_nodes: int) -> list[Table]:
    """The tables, the longest shortened where together they would need too many elements; short ones stay whole."""
    longest = max((len(table.shown) for table in tables), default=0)
    fits = (most for most in range(longest, 2, -1) if sum(_cut(table, most).nodes for table in tables) <= most_nodes)
    most = next(fits, 2)
    return [_cut(table, most) for table in tables]


def _cut(table: Table, most: int) -> Table:
    return replace(table, most=min(table.most, most))


def page(
    template: str, lang: Lang, tables: list[Table], data: dict[str, Any], bundle: Bundle = WHY, **values: Any
) -> str:
    """The finished HTML of one template.

    tables: by name, for the figures and their copy buttons. data: what scripts read; `data["document"]` may be left
    out where the page would grow beyond MOST_BYTES, and the page then says so.
    """
    copies = {table.name: numbers.csv_text(table.columns, table.rows) for table in tables}
    payload = {"words": _script_words(lang), "tables": copies} | data
    too_large = len(json.dumps(payload, ensure_ascii=False).encode(errors="surrogatepass")) > MOST_DATA * MOST_BYTES
    if too_large:
        payload = {**payload, "document": None, "tables": {}}
    return (
        _environment(lang)
        .get_template(template)
        .render(
            lang=lang,
            tables={table.name: table for table in fitted(tables, bundle.table_nodes)},
            policy=_policy(bundle),
            style=Markup(_style(bundle)),
            script=Markup(_script(bundle)),
            data=script_json(payload),
            too_large=too_large,
            most_mb=MOST_BYTES // 1_000_000,
            version=__version__,
            **values,
        )
    )


def framed(html: str, height: int = 860) -> str:
    """A page as a part of another, such as a notebook: cut off from it, its scripts run in the frame alone."""
    rights = 'sandbox="allow-scripts" allow="clipboard-write"'
    return f'<iframe {rights} width="100%" height="{height}" style="border:0" srcdoc="{escape(html)}"></iframe>'


def script_json(data: object) -> Markup:
    """JSON for a data block: no character in it can end the block or start markup, none is half a character."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text))


@cache
def _environment(lang: Lang) -> Environment:
    environment = Environment(
        loader=PackageLoader("whybox.report.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": numbers.number,
        "interval": numbers.interval,
        "percent": numbers.percent,
        "probability": _probability,
        "visible": visible.visible,
        "calm": visible.calm,
        "segment": lambda info: info.name if info.kind == "part" else segment_named(info.name, lang),
        "named": lambda what: visible.calm(named(what, lang)),
        "reason": lambda text: visible.calm(reason(text, lang)),
    }
    environment.globals["say"] = lambda key, **values: say(key, lang, **values)
    return environment


def _probability(logprob: float) -> str:
    """P = 9.73 %, P < 0.1 %; on one line."""
    share = numbers.percent(math.exp(logprob))
    return f"P {'' if share.startswith('<') else '= '}{share}".replace(" ", "\u00a0")


def _asset(name: str) -> str:
    return files("whybox.report.html").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _style(bundle: Bundle) -> str:
    return "\n" + "".join(map(_asset, bundle.styles))


@cache
def _script(bundle: Bundle) -> str:
    """The ES modules in one block: a page that loads nothing cannot import, so the import and export words go."""
    joined = "\n".join(map(_asset, bundle.scripts))
    return "\n" + re.sub(r"^(import .*?;\n|export (default )?)", "", joined, flags=re.MULTILINE)


@cache
def _policy(bundle: Bundle) -> str:
    style, script = _hash(_style(bundle)), _hash(_script(bundle))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _script_words(lang: Lang) -> dict[str, str]:
    keys = ("page.copy", "page.copied", "map.masked", "map.sink.notice")
    return {key: say(key, lang) for key in keys}
