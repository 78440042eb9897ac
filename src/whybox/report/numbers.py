"""How a number is written: three significant digits, a true minus sign, its unit; below the floor it is not written."""

import math

MINUS = "−"
BELOW_FLOOR = "≈ 0"


def number(value: float, *, signed: bool = False) -> str:
    """Three significant digits: −1.96, 0.0455, 12,300, 3.20 × 10⁻⁵. `signed` writes + before positive values."""
    size = abs(value)
    sign = MINUS if value < 0 else "+" if signed and value > 0 else ""
    if size == 0:
        return "0"
    if not math.isfinite(size):
        return f"{sign}∞" if math.isinf(size) else "?"
    if size < 1e-4:
        mantissa, exponent = f"{size:.2e}".split("e")
        return f"{sign}{mantissa} × 10{_superscript(int(exponent))}"
    if size >= 999.5:
        keep = 10 ** (math.floor(math.log10(size)) - 2)
        return f"{sign}{round(size / keep) * keep:,}"
    return sign + f"{size:#.3g}".removesuffix(".")


def interval(bounds: tuple[float, float]) -> str:
    """[−2.10, −1.83]"""
    return f"[{number(bounds[0])}, {number(bounds[1])}]"


def percent(share: float) -> str:
    """A share in [0, 1] as percent: 41.2 %, 100 %, 0 %; below 0.1 % said as a bound."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{number(100 * share)} %"


def exact(value: float | int | str | None) -> str:
    """For tables that are copied: six significant digits, ASCII minus, empty when there is no number."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def below(value: float, floor: float) -> bool:
    """Whether a change cannot be told from none: |value| ≤ floor."""
    return abs(value) <= floor


def csv_text(columns: list[str], rows: list[list[str]]) -> str:
    """RFC 4180 text. A cell that a spreadsheet would run (= + - @ at its start) and is no number is quoted as text."""
    return "".join(",".join(map(_csv_cell, line)) + "\r\n" for line in [columns, *rows])


def _csv_cell(text: str) -> str:
    if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') or text.startswith("'") else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
