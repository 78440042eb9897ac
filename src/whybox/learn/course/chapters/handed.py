"""What judges of a handed-in file share: reading YAML, and remarks that say what came."""

from collections.abc import Callable
from typing import Any

import yaml

from whybox.errors import WhyboxError
from whybox.learn.course.computed import Judge, Remark
from whybox.learn.ground import Ground

Remarks = tuple[Remark, ...]


class Unusable(Exception):
    """What was handed in cannot be judged; says why, in both languages."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.remark = Remark(False, en, zh)


def judged(judge: Callable[[str, Ground], Remarks]) -> Judge:
    """The judge, with one failed remark in place of what cannot be judged at all."""

    def kept(text: str, ground: Ground) -> Remarks:
        try:
            return judge(text, ground)
        except Unusable as fault:
            return (fault.remark,)
        except WhyboxError as error:
            return (Remark(False, f"it cannot be read: {error}", f"读不了：{error}"),)

    return kept


def mapping(text: str) -> dict[str, Any]:
    """The file as a mapping; every scalar is text, so that 18.7 names a head and no number."""
    try:
        found = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise Unusable(f"this is no YAML: {said}", f"这不是 YAML：{said}") from error
    if not isinstance(found, dict):
        raise Unusable(f"expected a mapping, found {type(found).__name__}", f"应为映射，得到 {type(found).__name__}")
    return found


def listed(value: Any, name: str) -> list[Any]:
    """A list under a name."""
    if not isinstance(value, list) or not value:
        raise Unusable(f"{name}: expected a list, found {value!r:.60}", f"{name}：应为列表，得到 {value!r:.60}")
    return value
