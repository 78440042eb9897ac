"""Who is compared with whom, as a document says it."""

from whybox.compare.sides import Live, Side
from whybox.report.document.diff import SideRow


def side_row(side: Side) -> SideRow:
    """Who is compared, and how it runs, as far as that is known."""
    if isinstance(side, Live):
        engine = side.model.engine
        return SideRow(name=side.name, precision=side.precision, engine=engine.name, kernel=engine.kernel)
    return SideRow(name=side.name, precision=side.precision)
