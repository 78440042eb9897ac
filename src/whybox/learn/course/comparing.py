"""Remarks of hidden tests: what was tried, what was expected, what came. They show numbers, and no way to get them."""

import numpy as np
from jaxtyping import Shaped

from whybox.learn.course.computed import Remark

Both = tuple[str, str]
"""What was tried or found, in English and in Chinese."""
WITHIN = 1e-10


def equal(
    tried: Both, came: Shaped[np.ndarray, "..."], expected: Shaped[np.ndarray, "..."], within: float = WITHIN
) -> Remark:
    """The same shape, and numbers that differ by at most `within` times the largest expected one (or 1)."""
    en, zh = tried
    if came.dtype.kind not in "fiub":
        return Remark(False, f"{en}: expected numbers, found {came.dtype}", f"{zh}：应为数字，得到 {came.dtype}")
    if came.shape != expected.shape:
        return Remark(
            False,
            f"{en}: expected shape {_shape(expected)}, found {_shape(came)}",
            f"{zh}：形状应为 {_shape(expected)}，得到 {_shape(came)}",
        )
    differs = _differs(came, expected, within)
    if not differs.any():
        return _as_expected(tried)
    place = tuple(map(int, np.argwhere(differs)[0]))
    where, right, found = _place(place), f"{float(expected[place]):.6g}", f"{float(came[place]):.6g}"
    return Remark(
        False, f"{en}: expected {right}{where[0]}, found {found}", f"{zh}：{where[1]}应为 {right}，得到 {found}"
    )


def unlike(mistake: Both, came: Shaped[np.ndarray, "..."], wrong: Shaped[np.ndarray, "..."]) -> Remark:
    """Names a classic mistake where what came is what that mistake makes."""
    made = came.shape == wrong.shape and came.dtype.kind in "fiub" and not _differs(came, wrong, 1e-9).any()
    return Remark(not made, mistake[0], mistake[1], mistake=True)


def found(tried: Both, holds: bool, expected: Both, came: Both = ("", "")) -> Remark:
    """What is no array: whether something was refused, left alone, asked for. came: said where it does not hold."""
    if holds:
        return _as_expected(tried)
    ends = tuple(f"{comma}{each}" if each else "" for comma, each in zip((", found ", "，得到"), came, strict=True))
    return Remark(False, f"{tried[0]}: expected {expected[0]}{ends[0]}", f"{tried[1]}：应{expected[1]}{ends[1]}")


def _as_expected(tried: Both) -> Remark:
    return Remark(True, f"{tried[0]}: as expected", f"{tried[1]}：符合预期")


def _differs(
    came: Shaped[np.ndarray, "*any"], expected: Shaped[np.ndarray, "*any"], within: float
) -> Shaped[np.ndarray, "*any"]:
    """Where numbers are apart; NaN only fits NaN."""
    came, expected = came.astype(float), expected.astype(float)
    finite = np.abs(expected[np.isfinite(expected)])
    allowed = within * max(1.0, float(finite.max(initial=0.0)))
    return np.asarray(~np.isclose(came, expected, rtol=0, atol=allowed, equal_nan=True))


def _shape(x: Shaped[np.ndarray, "..."]) -> str:
    return " × ".join(map(str, x.shape)) or "()"


def _place(place: tuple[int, ...]) -> Both:
    if not place:
        return "", ""
    told = f"[{', '.join(map(str, place))}]"
    return f" at {told}", f"{told} 处"
