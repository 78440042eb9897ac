"""Edges as edits."""

from whybox.cause.spans import Edge
from whybox.engine.edit import boost, cut


def test_an_edge_holds_from_its_row_on() -> None:
    assert Edge("cut", (2, 3)).from_row(9) == cut(q=slice(9, None), k=(2, 3))
    assert Edge("boost", (2,), (1,), (4,)).from_row(5) == boost((1,), q=slice(5, None), k=(2,), h=(4,))
