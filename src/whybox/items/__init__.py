"""Data and text of a test: the case file, seeded generators, deterministic scorers."""

from whybox.items.case import Case
from whybox.items.instance import CaseInstance, Decoding, Message
from whybox.text.prompt import Part

__all__ = ["Case", "CaseInstance", "Decoding", "Message", "Part"]
