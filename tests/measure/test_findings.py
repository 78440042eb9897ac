"""What the literature found in other models, found in both real ones: sinks, induction, previous and duplicate heads.

Sources: sinks 2309.17453, 2410.10781; induction 2209.11895; duplicate tokens 2211.00593.
"""

from functools import cache

import numpy as np
import pytest

from tests.real import real
from whybox.engine.edit import Edit, zero
from whybox.measure.heads import heads_of
from whybox.measure.looking import Looked, look_at
from whybox.measure.probe import FIRST, LAST, Probed, probe
from whybox.model import Model

HeadAt = tuple[int, int]
PROSE: dict[str, tuple[str, ...]] = {
    "en": (
        "The harbour was quiet in the early morning, and the boats lay still upon the water. A man in a grey "
        "coat walked along the quay with a small dog, which stopped at every post. He had come to the town to "
        "find his brother, who had left the farm ten years before and had never written. In the market the "
        "women were setting out their baskets of fish and bread, and the bells of the church rang for the "
        "first time that day. Nobody knew the name that he asked for, but an old sailor told him to try the "
        "house on the hill, where people from the north used to live when the railway was being built.",
        "Glass is made by melting sand with soda and lime in a furnace. For many centuries this was the work "
        "of small families, who kept their recipes secret and moved from forest to forest, because each "
        "furnace burned whole woods of beech and oak. When coal came into use, the workshops moved to the "
        "valleys, and the price of a window fell so far that even farmers could see the winter from a warm "
        "room. Today most sheets float on a bath of liquid tin, which leaves both sides smooth and needs no "
        "polishing at all afterwards. Old panes are broken, sorted by colour and melted once more. "
        "Nothing is lost, and no furnace ever rests.",
        "When the library opened its new wing last spring, nobody expected that so many people would come in "
        "the evening. Students brought their own lamps, parents read to their children between the shelves, "
        "and an old carpenter repaired a chair that had stood in the cellar for years. The director decided "
        "to keep the doors open until midnight, and the city agreed to pay for the heating. Since then the "
        "building has become a second home for those who live alone, and the number of borrowed books has "
        "grown every month. On Sundays there is music in the reading room, and the children bring cakes. "
        "The oldest visitor is ninety years old and comes by boat from the other side of the lake.",
    ),
    "zh": (
        "清晨的港口很安静，船只静静地停在水面上。一个穿灰色大衣的男人牵着一条小狗沿着码头慢慢走，小狗在每根木桩前都要停下来。"
        "他来到这座小城是为了寻找他的哥哥，哥哥十年前离开了农场，从此再也没有来过信。市场上，妇女们正在摆放装满鱼和面包的篮子，"
        "教堂的钟声在这一天第一次响起。没有人知道他打听的那个名字，但是一位老水手告诉他，可以去山坡上的那座房子看看，"
        "修建铁路的时候，从北方来的人曾经住在那里。",
    ),
}
INDUCTION: dict[str, list[HeadAt]] = {
    "smollm2": [(18, 6), (17, 3), (17, 4), (17, 5), (18, 7)],
    "gemma3-270m": [(5, 1), (11, 2), (5, 2)],
}
PREVIOUS: dict[str, list[HeadAt]] = {
    "smollm2": [(16, 0), (11, 1), (2, 1), (1, 2), (19, 3)],
    "gemma3-270m": [(2, 3), (4, 1)],
}
FEEDERS = {"smollm2": PREVIOUS["smollm2"], "gemma3-270m": [*PREVIOUS["gemma3-270m"], (10, 1)]}
DUPLICATE: dict[str, HeadAt] = {"smollm2": (8, 0), "gemma3-270m": (3, 3)}
BOTH = pytest.mark.parametrize(
    "name", [pytest.param("smollm2", marks=pytest.mark.model), pytest.param("gemma3-270m", marks=pytest.mark.gemma)]
)
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@cache
def probed(name: str) -> Probed:
    found = probe(real(name, "torch"), draws=10)
    assert isinstance(found, Probed)
    return found


@cache
def looked(name: str, language: str, tokens: int) -> list[Looked]:
    """Each text of a language, at that length."""
    model = real(name, "torch")
    ids = [model.prompt(text).ids[:tokens] for text in PROSE[language]]
    assert all(len(each) == tokens for each in ids), "a text is too short"
    return [look_at(model, model.prompt(list(each))) for each in ids]


def column(texts: list[Looked], name: str) -> np.ndarray:
    """One column of the table of heads, [text head]."""
    return np.array([heads_of(each, "").table[name] for each in texts], float)


def ranked(layers: tuple[np.ndarray, ...]) -> list[HeadAt]:
    heads = [(layer, head) for layer, row in enumerate(layers) for head in range(len(row))]
    return sorted(heads, key=lambda at: -layers[at[0]][at[1]])


@BOTH
@LANGUAGES
def test_the_first_token_is_a_sink(name: str, language: str) -> None:
    assert 0.35 < column(looked(name, language, 124), "sink").mean() < 0.60
    assert 0.65 < (column(looked(name, language, 64), "sink") > 0.3).mean() < 0.85


@pytest.mark.model
def test_three_layers_of_smollm2_have_none() -> None:
    texts = looked("smollm2", "en", 124)
    layers, sinks = column(texts, "layer")[0], column(texts, "sink").mean(axis=0)
    assert all(sinks[layers == layer].mean() < 0.1 for layer in (0, 1, 11))
    assert sinks[layers == 18].mean() > 0.5


@BOTH
@LANGUAGES
def test_a_sink_is_loud_in_weight_and_quiet_in_what_it_writes(name: str, language: str) -> None:
    texts = looked(name, language, 124)
    raw, weighted = column(texts, "decision_sink"), column(texts, "value_sink")
    assert (weighted < raw)[raw > 0.3].mean() >= 0.9


@BOTH
def test_induction_heads_are_the_known_ones(name: str) -> None:
    found = probed(name)
    assert ranked(found.induction)[:3] == INDUCTION[name][:3]
    layer, head = INDUCTION[name][0]
    assert found.induction[layer][head] >= 0.8
    assert max(row.max() for row in found.control) <= 0.03


@BOTH
def test_previous_and_duplicate_heads_are_the_known_ones(name: str) -> None:
    found = probed(name)
    assert all(found.previous[layer][head] > 0.5 for layer, head in PREVIOUS[name])
    layer, head = DUPLICATE[name]
    assert found.duplicate[layer][head] > 0.5
    assert DUPLICATE[name] in ranked(found.duplicate)[:2]


def halves(model: Model, seed: int, edits: list[Edit]) -> tuple[float, float]:
    """Mean NLL (nats) of the ids of the first half, and of their copies."""
    ids = np.random.default_rng(seed).integers(FIRST, LAST + 1, 50)
    whole = [model.tokenizer.bos or 0, *map(int, ids), *map(int, ids)]
    logits = model.run(whole, edits=edits).logits.astype(np.float64)
    scores = logits[np.arange(100), whole[1:]] - np.logaddexp.reduce(logits[:-1], axis=1)
    return float(-scores[:50].mean()), float(-scores[50:].mean())


def silenced(heads: list[HeadAt]) -> list[Edit]:
    return [zero("head_out", layer, h=head) for layer, head in heads]


def others(model: Model, heads: list[HeadAt]) -> list[HeadAt]:
    """As many other heads of the same layers."""
    taken, chosen = set(heads), []
    for layer, _ in heads:
        free = [(layer, h) for h in range(model.spec.layers[layer].attention.heads) if (layer, h) not in taken]
        chosen += free[:1]
        taken |= set(free[:1])
    return chosen


@BOTH
@pytest.mark.parametrize(("which", "least", "most"), [("induction", 5, 1.5), ("feeders", 4, 3)])
def test_they_copy_and_without_them_nothing_is_copied(name: str, which: str, least: float, most: float) -> None:
    model, heads = real(name, "torch"), (INDUCTION if which == "induction" else FEEDERS)[name]
    first, second = halves(model, 0, [])
    assert first - second >= 8
    without = halves(model, 0, silenced(heads))
    null = halves(model, 0, silenced(others(model, heads)))
    assert without[1] - second >= least
    assert null[1] - second <= most
    assert without[1] - null[1] >= 4
    if which == "induction" and name == "smollm2":
        assert without[0] == pytest.approx(first, abs=0.3)
