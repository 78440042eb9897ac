"""The texts of the bench: anyone can rebuild them, and every side gets the same ids."""

ANIMALS = ("fox", "hen", "ox", "owl", "eel")
PLACES = (
    "Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Juniper", "Laurel", "Maple", "Oak",
    "Pine", "Rowan", "Spruce", "Willow", "Yew", "Aster", "Briar", "Clover", "Daisy", "Fern",
    "Heather", "Iris", "Lily", "Moss", "Nettle", "Poppy", "Rose", "Sage", "Thyme", "Violet",
)  # fmt: skip
OTHERS = ("Basalt", "Chalk", "Flint", "Gneiss", "Granite", "Marble", "Quartz", "Slate", "Tuff")
POSITIONS = (0, 2, 4, 6, 9)


def market(lines: int) -> str:
    """A long text of few words: animals sell apples in towns."""
    return " ".join(
        f"Line {i}: the {ANIMALS[i % 5]} sold {i * i % 89} apples to the {ANIMALS[(i + 2) % 5]} in town {i % 7}."
        for i in range(1, lines + 1)
    )


def questions() -> list[str]:
    """30 questions × 5 positions of the right passage among 9 others that all prompts share."""
    return [_prompt(number, place, position) for number, place in enumerate(PLACES) for position in POSITIONS]


def _prompt(number: int, place: str, position: int) -> str:
    passages = [_passage(other, 100 + i) for i, other in enumerate(OTHERS)]
    passages.insert(position, _passage(place, number))
    documents = "\n".join(passages)
    return (
        f"Answer from the documents only.\n\n{documents}\n\n"
        f"Question: How many coins does a day ticket of the {place} museum cost?\nAnswer:"
    )


def _passage(place: str, number: int) -> str:
    return (
        f"The {place} museum opens at {7 + number % 5} and closes at {16 + number % 4}. A day ticket costs "
        f"{11 + 7 * number % 83} coins, and groups of ten people pay half of it. The garden behind the house is free."
    )
