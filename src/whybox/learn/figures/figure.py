"""What a figure is: a small function that computes one number, or several side by side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whybox.learn.ground import Ground

Value = float | tuple[float, ...]
Toys = Mapping[str, Callable[[], Value]]


@dataclass(frozen=True)
class OnModel:
    """A figure of the default model. runs: how many passes over text A it takes, beside what the ground keeps."""

    compute: Callable[[Ground], Value]
    runs: int = 1


OnModels = Mapping[str, OnModel]
