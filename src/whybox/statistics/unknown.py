"""What stands where a number was not obtained."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unknown:
    """A number that was not obtained, and why. Reports print the reason; nobody prints 0."""

    reason: str
