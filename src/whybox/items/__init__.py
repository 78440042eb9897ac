"""Data and text of a test: the case file, seeded generators, deterministic scorers."""

from whybox.items.case import Case
from whybox.items.instance import CaseInstance, Decoding, Message, Part

__all__ = ["Case", "CaseInstance", "Decoding", "Message", "Part"]
