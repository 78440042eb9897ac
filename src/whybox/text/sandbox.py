"""Chat templates are programs from a stranger: rendered without reach, bounded in time and size.

Jinja's immutable sandbox keeps attributes and state out of reach. What it leaves open is cost: here loops and calls are
counted against a budget and a clock, products, powers and joins are measured before they are made, and methods that pad
are not offered.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from types import BuiltinMethodType
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from whybox.errors import PromptError, UnsupportedError

TODAY = datetime(2024, 7, 26)  # every day is this day, so that the same messages give the same ids on any two days
_MOST_STEPS, _MOST_SECONDS, _COST_OF_CALL = 300_000, 5.0, 10
_MOST_TEMPLATE, _MOST_CHARACTERS, _MOST_IN_ALL = 1_000_000, 8_000_000, 64_000_000
_MOST_NUMBER, _MOST_EXPONENT = 2**31, 32
_FILTERS = frozenset((
    "abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "forceescape",
    "groupby", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject",
    "rejectattr", "replace", "reverse", "round", "safe", "select", "selectattr", "sort", "string", "sum", "title",
    "tojson", "trim", "unique", "upper", "indent",
))  # fmt: skip
_METHODS = frozenset((
    "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition", "startswith",
    "endswith", "upper", "lower", "title", "capitalize", "replace", "join", "find", "rfind", "index", "rindex",
    "count", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "removeprefix", "removesuffix",
    "items", "keys", "values", "get", "copy",
))  # fmt: skip


class _Refused(SecurityError):
    """A template that would cost more than any honest one."""


class _Raised(Exception):
    """`raise_exception` of a template: it does not accept these messages."""


def render(template: str, variables: Mapping[str, object]) -> tuple[str, bool]:
    """The rendered text, and whether the template asked for a date.

    PromptError if the template itself refuses the messages; UnsupportedError for a template that is broken or not safe.
    """
    environment = _Environment()
    try:
        pieces = environment.from_string(template).generate(**variables)
        return "".join(environment.bounded(pieces)), environment.dated
    except _Raised as error:
        raise PromptError(
            f"the chat template refuses these messages: {error}", "change the messages, or use raw text"
        ) from None
    except (
        jinja2.TemplateError,
        ArithmeticError,
        LookupError,
        TypeError,
        SyntaxError,
        ValueError,
        AttributeError,
        RecursionError,
        MemoryError,
    ) as error:
        raise UnsupportedError(
            f"the chat template cannot be rendered: {error}", "use raw text, without template"
        ) from None


class _Generation(Extension):
    """`{% generation %} … {% endgeneration %}` marks what a model wrote, for training; here it changes nothing."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Meters(NodeTransformer):
    """Every loop counts its rounds; whatever makes a new text or list is measured."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        assert isinstance(node.iter, nodes.Expr)
        node.iter = _through("_counted", node.iter)
        return node

    def _visit_maker(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _through("_measured", node)

    visit_Concat = visit_Filter = _visit_maker

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        return self._visit_maker(node) if isinstance(node.arg, nodes.Slice) else self.generic_visit(node)


def _through(name: str, node: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Environment(ImmutableSandboxedEnvironment):
    """One environment per rendering: it holds the budget."""

    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation])
        self._steps, self._made, self.dated = 0, 0, False
        self._deadline = time.monotonic() + _MOST_SECONDS
        self.globals = {"range": self._range, "namespace": jinja2.utils.Namespace, "dict": dict,
                        "raise_exception": _raise, "strftime_now": self._now}  # fmt: skip
        chosen = {name: self.filters[name] for name in _FILTERS if name in self.filters}
        self.filters = chosen | {
            "tojson": _to_json, "_counted": self._counted, "_measured": self._measured,
            "replace": self._replace, "join": self._join, "indent": self._indent, "map": chosen["map"],
        }  # fmt: skip

    def bounded(self, pieces: Iterable[str]) -> Iterator[str]:
        """Output as it comes, up to the most that an honest template writes."""
        for piece in pieces:
            self._step()
            self._measure(len(piece))
            yield piece

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > _MOST_TEMPLATE:
            raise _Refused(f"a template of {len(source):,} characters; the most allowed is {_MOST_TEMPLATE:,}")
        tree: nodes.Template = _Meters().visit(super()._parse(source, name, filename))
        return tree

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._step(_COST_OF_CALL)
        match obj:
            case BuiltinMethodType(__self__=str(text), __name__="replace"):
                return self._replace(text, *args)
            case BuiltinMethodType(__self__=str(between), __name__="join"):
                return self._join(args[0], between)
            case BuiltinMethodType(__self__=str() | bytes() | dict() | list() | tuple()) if (
                obj.__name__ not in _METHODS
            ):
                raise _Refused(f"a template may not call {type(obj.__self__).__name__}.{obj.__name__}")
        return self._measured(super().call(context, obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        if wrapped is not None and re.search(r"{[^}]*:", value.__self__):
            raise _Refused("a padded format")
        return wrapped

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self._step()
        match operator:
            case "*" if _sized(left) or _sized(right):
                self._measure(_size(left) * _size(right))
            case "*" if max(abs(left), abs(right)) > _MOST_NUMBER:
                raise _Refused(f"a product of numbers beyond {_MOST_NUMBER:,}")
            case "**" if abs(right) > _MOST_EXPONENT or abs(left) > _MOST_NUMBER:
                raise _Refused(f"a power with exponent {right}")
            case "%" if isinstance(left, str) and re.search(r"%[^a-zA-Z%]*[\d*]", left):
                raise _Refused("a padded format")
            case "+" if _sized(left) and _sized(right):
                self._measure(_size(left) + _size(right))
        return super().call_binop(context, operator, left, right)

    def _step(self, cost: int = 1) -> None:
        self._steps += cost
        if self._steps > _MOST_STEPS or time.monotonic() > self._deadline:
            raise _Refused(f"it does not end within {_MOST_STEPS:,} steps and {_MOST_SECONDS:g} seconds")

    def _measure(self, size: int) -> None:
        self._made += size
        if size > _MOST_CHARACTERS or self._made > _MOST_IN_ALL:
            raise _Refused(f"it would make {size:,} characters at once, {self._made:,} in all")

    def _measured(self, value: Any) -> Any:
        self._step()
        self._measure(len(value) if _sized(value) else 0)
        return value

    def _counted(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self._step()
            yield value

    def _range(self, *bounds: int) -> range:
        found = range(*bounds)
        if abs(found.stop - found.start) > _MOST_STEPS * abs(found.step):
            raise _Refused(f"a range of more than {_MOST_STEPS:,}")
        return found

    def _replace(self, text: str, old: str, new: str, count: int = -1) -> str:
        self._step()
        self._measure(len(text) + text.count(old) * max(len(new) - len(old), 0))
        return str(text).replace(old, new, count)

    def _join(self, values: Iterable[Any], between: str = "", attribute: str | None = None) -> str:
        found = [value if attribute is None else self.getitem(value, attribute) for value in self._counted(values)]
        self._measure(sum((len(value) if _sized(value) else 20) + len(between) for value in found))
        return between.join(map(str, found))

    def _indent(self, text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
        self._measure((text.count("\n") + 1) * _size(width) + len(text))
        indented: str = jinja2.filters.do_indent(text, width, first, blank)
        return indented

    def _now(self, form: str) -> str:
        self.dated = True
        if len(form) > 64 or re.search(r"%[^a-zA-Z%]", form):
            raise _Refused("a padded date")
        return TODAY.strftime(form)


def _raise(message: str) -> None:
    raise _Raised(message)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """JSON without HTML escapes, as templates are written for."""
    width = None if indent is None else min(indent, 16)
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=width, separators=separators, sort_keys=sort_keys)


def _sized(value: object) -> bool:
    return isinstance(value, (str, bytes, list, tuple, dict))


def _size(value: Any) -> int:
    """Length of a text or list; of a number, how often it would repeat one."""
    return len(value) if _sized(value) else max(int(value), 1)
