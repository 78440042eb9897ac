"""Where an error stands between the least that is drawn and ten times the size of the value, by its logarithm."""

import math

TICKS = ((-9, "10⁻⁹"), (-6, "10⁻⁶"), (-3, "10⁻³"), (0, "1"))
LEAST = 1e-9  # below which an error is drawn as that: a logarithm needs an end


def height(value: float) -> float:
    """0 at LEAST, 1 at ten."""
    return min(1.0, max(0.0, (math.log10(max(value, LEAST)) - math.log10(LEAST)) / (1 - math.log10(LEAST))))
