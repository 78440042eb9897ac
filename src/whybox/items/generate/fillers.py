"""Neutral sentences that fill a context: no numbers, no names, none twice in one prompt."""

from collections.abc import Iterator

import numpy as np

from whybox.items.generate.vocabulary import Language

_EN = (
    ("The morning light", "A quiet wind", "The old path", "A narrow bridge", "The smell of bread", "A heavy curtain",
     "The garden wall", "A painted boat", "The distant hill", "A wooden bench", "The evening rain", "A folded map",
     "The empty square", "A soft melody", "The winter field", "A broken lantern", "The market street", "A grey cloud"),
    ("moved slowly", "lay still", "looked brighter", "seemed familiar", "stayed in view", "faded a little",
     "drew some attention", "changed its colour", "kept its shape", "caught the eye", "felt almost warm",
     "appeared again"),
    ("behind the trees", "along the water", "under the roof", "near the fence", "before the storm", "after the harvest",
     "beside the tall grass", "above the valley", "in the early hours", "without any hurry", "at the edge of the wood",
     "between the houses", "during the long summer", "while people talked"),
)  # fmt: skip
_ZH = (
    ("清晨的阳光", "微凉的风", "弯曲的小路", "窄窄的木桥", "面包的香味", "厚重的窗帘", "花园的围墙", "彩色的小船",
     "远处的山坡", "门前的长椅", "傍晚的细雨", "折好的地图", "空旷的广场", "轻柔的旋律", "冬天的田野", "破旧的灯笼"),
    ("慢慢移动", "静静停着", "显得更亮", "看起来很熟悉", "始终看得见", "渐渐淡去", "引来了目光", "换了颜色",
     "保持着原样", "让人留意", "带着暖意", "又出现了"),
    ("在树林后面", "在水边", "在屋檐下", "在篱笆旁", "在暴雨之前", "在秋收以后", "在高高的草丛边", "在山谷上方",
     "在天刚亮的时候", "在不慌不忙之间", "在林子边缘", "在房屋之间", "在漫长的夏天里", "在人们闲谈的时候"),
)  # fmt: skip


def words(language: Language) -> tuple[str, ...]:
    """Every phrase that fillers are made of, for checks against names."""
    return tuple(phrase for group in _groups(language) for phrase in group)


def _groups(language: Language) -> tuple[tuple[str, ...], ...]:
    return _EN if language == "en" else _ZH


def most_fillers(language: Language) -> int:
    """How many different sentences there are."""
    starts, middles, ends = _groups(language)
    return len(starts) * len(middles) * len(ends)


def draw_fillers(generator: np.random.Generator, language: Language) -> Iterator[str]:
    """Different sentences in random order, each once, until the supply ends."""
    starts, middles, ends = _groups(language)
    for index in generator.permutation(most_fillers(language)):
        rest, start = divmod(int(index), len(starts))
        end, middle = divmod(rest, len(middles))
        if language == "en":
            yield f"{starts[start]} {middles[middle]} {ends[end]}."
        else:
            yield f"{starts[start]}{ends[end]}{middles[middle]}。"


def joiner(language: Language) -> str:
    """What stands between two sentences."""
    return " " if language == "en" else ""
