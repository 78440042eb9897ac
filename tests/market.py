"""A text that anyone can rebuild, as the real models read it."""

from functools import cache

from tests.real import real

_ANIMALS = ["fox", "hen", "ox", "owl", "eel"]


@cache
def market_ids(name: str, lines: int, count: int) -> tuple[int, ...]:
    """The first ids of a text that anyone can rebuild: animals sell apples in towns."""
    text = " ".join(
        f"Line {i}: the {_ANIMALS[i % 5]} sold {i * i % 89} apples to the {_ANIMALS[(i + 2) % 5]} in town {i % 7}."
        for i in range(1, lines + 1)
    )
    return real(name).prompt(text).ids[:count]
