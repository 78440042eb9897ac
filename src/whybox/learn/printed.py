"""Numbers as a text prints them: 0.0743, 1,048,576, 5.2e-22. The printed digits say how exactly they are meant."""

import re
from dataclasses import dataclass

_FORM = re.compile(r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?:e(-?\d+))?")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SLACK = 1e-9  # of the number: what decimal fractions lose as binary ones


@dataclass(frozen=True)
class Printed:
    """text: as printed. half: half of its last digit, the farthest that a number may be from it and print the same."""

    text: str
    value: float
    half: float

    @property
    def bounds(self) -> tuple[float, float]:
        return self.value - self.half, self.value + self.half

    def agrees(self, value: float) -> bool:
        """Whether a number prints as this one does."""
        return abs(value - self.value) <= self.half + SLACK * abs(self.value)

    def like(self, value: float) -> str:
        """Another number in the same form."""
        fraction = self.text.partition(".")[2].partition("e")[0]
        if "e" in self.text:
            return in_powers(value, len(fraction))
        comma = "," if "," in self.text else ""
        written = f"{value:{comma}.{len(fraction)}f}"
        return (written.lstrip("-") if float(written.replace(",", "")) == 0 else written).replace("-", "−")


def printed(text: str) -> Printed:
    """ValueError for what is no number as texts print it."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no printed number")
    value = float(text.replace(",", "").replace("−", "-"))
    return Printed(text, value, 0.5 * 10.0 ** (int(found[2] or 0) - len(found[1] or "")))


def several(text: str) -> tuple[Printed, ...]:
    """Numbers side by side."""
    return tuple(map(printed, text.split()))


def in_powers(value: float, digits: int) -> str:
    """5.2 × 10⁻²², with so many digits behind the point."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}".replace("-", "−")
