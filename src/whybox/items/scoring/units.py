"""Units of measure as answers write them: each with its English and Chinese forms, and what it is a measure of."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache


@dataclass(frozen=True)
class Unit:
    """One unit: canonical name, the forms written after a number, the signs written before it."""

    name: str
    after: tuple[str, ...]
    before: tuple[str, ...] = ()


UNITS: tuple[Unit, ...] = (
    Unit("second", ("seconds", "second", "secs", "sec", "秒钟", "秒")),
    Unit("minute", ("minutes", "minute", "mins", "min", "分钟")),
    Unit("hour", ("hours", "hour", "hrs", "hr", "h", "个小时", "小时", "个钟头", "钟头")),
    Unit("working day", ("working days", "working day", "business days", "business day", "个工作日", "工作日")),
    Unit("day", ("days", "day", "d", "天", "日")),
    Unit("week", ("weeks", "week", "wks", "wk", "个星期", "星期", "个礼拜", "礼拜", "周")),
    Unit("month", ("months", "month", "个月")),
    Unit("year", ("years", "year", "yrs", "yr", "年")),
    Unit("percent", ("%", "percent", "per cent", "pct"), ("百分之",)),
    Unit("per mille", ("‰", "per mille", "permille"), ("千分之",)),
    Unit("per ten thousand", ("‱", "basis points", "basis point", "bps"), ("万分之",)),
    Unit("percentage point", ("percentage points", "percentage point", "个百分点", "百分点")),
    Unit("tenth", ("成",)),
    Unit("tenth of the price", ("折",)),
    Unit("times as much", ("fold", "倍")),
    Unit("dozen", ("dozen",)),
    Unit("dollar", ("dollars", "dollar", "usd", "美元"), ("$", "usd")),
    Unit("euro", ("euros", "euro", "eur", "欧元"), ("€", "eur")),
    Unit("yuan", ("yuan", "rmb", "cny", "元", "块钱", "块"), ("¥", "rmb")),
    Unit("millimetre", ("millimetres", "millimeters", "millimetre", "millimeter", "mm", "毫米")),
    Unit("centimetre", ("centimetres", "centimeters", "centimetre", "centimeter", "cm", "厘米")),
    Unit("metre", ("metres", "meters", "metre", "meter", "m", "米")),
    Unit("kilometre", ("kilometres", "kilometers", "kilometre", "kilometer", "km", "公里", "千米")),
    Unit("gram", ("grams", "gram", "g", "克")),
    Unit("kilogram", ("kilograms", "kilogram", "kilos", "kilo", "kg", "公斤", "千克")),
    Unit("tonne", ("tonnes", "tons", "tonne", "ton", "吨")),
    Unit("litre", ("litres", "liters", "litre", "liter", "l", "升")),
    Unit("degree", ("degrees celsius", "degrees", "degree", "°c", "°", "摄氏度", "度")),
    Unit("watt", ("watts", "watt", "w", "瓦")),
    Unit("piece", ("pieces", "piece", "items", "item", "件", "个")),
    Unit("seat", ("seats", "seat", "个座位", "座位", "座")),
    Unit("person", ("people", "persons", "person", "个人", "人")),
    Unit("page", ("pages", "page", "页")),
)

# With one of these a number is another one than without: 7 % are 0.07.
SCALES = frozenset(
    {
        "percent",
        "per mille",
        "per ten thousand",
        "percentage point",
        "tenth",
        "tenth of the price",
        "times as much",
        "dozen",
    }
)

# What a unit measures, and how many of the smallest make one; None where that is no fixed number (a month of days).
MEASURES: dict[str, tuple[str, int | None]] = {
    "second": ("time", 1),
    "minute": ("time", 60),
    "hour": ("time", 3_600),
    "day": ("time", 86_400),
    "week": ("time", 604_800),
    "working day": ("time", None),
    "month": ("time", None),
    "year": ("time", None),
    "millimetre": ("length", 1),
    "centimetre": ("length", 10),
    "metre": ("length", 1_000),
    "kilometre": ("length", 1_000_000),
    "gram": ("mass", 1),
    "kilogram": ("mass", 1_000),
    "tonne": ("mass", 1_000_000),
    "dollar": ("money", None),
    "euro": ("money", None),
    "yuan": ("money", None),
}


_MONTHS = {"month": 1, "year": 12}


def of_one_kind(one: str | None, other: str | None) -> bool:
    """Whether two units measure the same thing, so that a value in one stands beside a value in the other."""
    kinds = [MEASURES.get(unit, (unit, None))[0] for unit in (one or "", other or "")]
    return kinds[0] == kinds[1]


def same_amount(value: Decimal, unit: str | None, other: Decimal, of: str | None) -> bool:
    """Whether two quantities are equal, in one unit or converted exactly: 7 days and 1 week, 12 months and 1 year."""
    if unit == of:
        return value == other
    if unit in _MONTHS and of in _MONTHS:
        return value * _MONTHS[unit] == other * _MONTHS[of]
    kind, scale = MEASURES.get(unit or "", ("", None))
    other_kind, other_scale = MEASURES.get(of or "", ("", None))
    if kind != other_kind or scale is None or other_scale is None:
        return False
    return value * scale == other * other_scale


def unit_named(written: str) -> Unit:
    """The unit that a case writes; an unlisted one stands for itself, singular and plural."""
    for unit in UNITS:
        if written in unit.after or written in unit.before:
            return unit
    forms = {written, written.removesuffix("s"), written + "s"} if written.isascii() else {written}
    return Unit(written, tuple(sorted(forms, key=len, reverse=True)))


@lru_cache(maxsize=256)
def after_pattern(units: tuple[Unit, ...]) -> re.Pattern[str]:
    """Pattern of a unit behind a number: an optional bracket, blank or hyphen, longest form first, no letter after."""
    forms = sorted((form for unit in units for form in unit.after), key=len, reverse=True)
    latin = "|".join(re.escape(form) for form in forms if form.isascii())
    other = "|".join(re.escape(form) for form in forms if not form.isascii())
    return re.compile(
        r"\)?[ \t]*[-(]?[ \t]*(?:(?:full|calendar|whole|consecutive)[ \t]+|整)?"
        rf"(?:(?P<latin>{latin})(?![^\W\d_])|(?P<other>{other}))(?!半)"
    )
