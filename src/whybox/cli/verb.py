"""A verb as it is read from the command line: nothing that was typed is passed over in silence."""

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from whybox.cli.options import language

LANG = "whybox.lang"


class Verb(TyperCommand):
    """Refuses an option that takes one value and was given several: the last would win, and the others be lost."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and isinstance(option, TyperOption) and not option.multiple and not option.is_flag:
                raise typer.BadParameter("it takes one value, and was given several: name it once", ctx, option)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Says first in which language its errors are told: that of its report."""
        ctx.meta[LANG] = language(ctx.params.get("lang"))
        return super().invoke(ctx)
