"""Pauses of a text."""

from tests.measure.looked_at import prompt_of
from whybox.measure.anchors import anchors


def test_anchors_are_pauses() -> None:
    prompt = prompt_of(["The", "end", ".", "\n", " (", "a", "<|x|>", "3.5", "。"])
    assert anchors(prompt) == {2, 3, 4, 6, 8}
    assert anchors(prompt_of([".", "a"])) == frozenset()
