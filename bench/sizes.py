"""Sizes of the behaviour suite: how many items find what, by enumeration of every table that they can give.

python -m bench.sizes
"""

from collections.abc import Iterator
from functools import partial

from rich.console import Console
from rich.table import Table

from whybox.statistics.power import closed_form, first_size, harm_power, paired_power, rate_power, same_power

PAIRED = [(0.05, 0.2), (0.10, 0.2), (0.10, 0.3), (0.15, 0.2), (0.15, 0.3), (0.20, 0.3), (0.20, 0.4), (0.30, 0.4)]
SAME = [
    *((0.02, share) for share in (0.02, 0.05, 0.10)),
    *((0.03, share) for share in (0.05, 0.10)),
    *((0.05, share) for share in (0.05, 0.10, 0.20)),
    *((0.10, share) for share in (0.20, 0.30)),
]
HARM = [*((0.10, share) for share in (0.1, 0.2, 0.3)), *((0.05, share) for share in (0.1, 0.2, 0.3))]
RATES = [(0.90, 0.80), (0.95, 0.80), (0.95, 0.90), (0.98, 0.95), (1.0, 0.90), (1.0, 0.95)]


def rows() -> Iterator[tuple[str, str, int | None, int | None]]:
    """(what, condition, first n, closed form)."""
    for difference, share in PAIRED:
        size = first_size(partial(paired_power, difference=difference, discordance=share))
        yield f"paired, {100 * difference:.0f} points", f"{share:.0%} differ", size, closed_form(difference, share)
    for margin, share in SAME:
        size = first_size(partial(same_power, margin=margin, discordance=share))
        yield f"same within ±{100 * margin:.0f} points", f"{share:.0%} differ", size, None
    for most, share in HARM:
        size = first_size(partial(harm_power, most=most, discordance=share))
        yield f"harm ≤ {100 * most:.0f} points", f"{share:.0%} differ", size, None
    for true, least in RATES:
        yield f"rate ≥ {least}", f"true {true}", first_size(partial(rate_power, least=least, true=true)), None


def main() -> None:
    table = Table("gate", "condition", "n for 80 %", "closed form")
    for what, condition, size, planned in rows():
        table.add_row(what, condition, str(size), "" if planned is None else str(planned))
    Console().print(table)


if __name__ == "__main__":
    main()
