"""Every row of the table of bots: what is drawn from a bot agrees with the truth that its settings have."""

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from scipy.stats import binomtest

from tests.targets.bots.asking import dialogue, items, ordered, scored, texts
from whybox.items.generate import DatedFact, Item
from whybox.items.generate.vocabulary import LANGUAGES, Language
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.reading import Bank
from whybox.targets.bots.truth import truth
from whybox.targets.target import Chat, Turn, chat

# Williams square for 4: each unit at each place once, behind each other one once.
ORDERS = ([0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1])
ALARM = 1e-4  # of each comparison, two-sided; seeds are fixed, so a test that passes passes always


def agrees(hits: int, n: int, share: float) -> bool:
    """Whether a count can come from the share."""
    return binomtest(hits, n, min(max(share, 0.0), 1.0)).pvalue > ALARM if 0 < share < 1 else hits == share * n


def rights(bot: Bot, chosen: Sequence[Item], prompt: Callable[[Item], Chat], bank: Bank | None = None) -> list[bool]:
    said = texts(bot, [prompt(item) for item in chosen], bank or Bank.of(chosen))
    return [scored(item, text).right for item, text in zip(chosen, said, strict=True)]


def runs(bot: Bot, chosen: Sequence[Item]) -> dict[str, list[list[str]]]:
    """Answers of each item: four orders, two runs of each."""
    found: dict[str, list[list[str]]] = {item.id: [] for item in chosen}
    for order in ORDERS:
        prompts = [ordered(item, order) for item in chosen]
        twice = [texts(bot, prompts, Bank.of(chosen), repeat) for repeat in range(2)]
        for item, first, second in zip(chosen, *twice, strict=True):
            found[item.id].append([first, second])
    return found


def flips(bot: Bot, chosen: Sequence[Item]) -> tuple[float, float]:
    """F between runs in different orders, F₀ between runs in one."""
    across, within = [], []
    for orders in runs(bot, chosen).values():
        within += [first != second for first, second in orders]
        across += [a != b for one, other in combinations(orders, 2) for a in one for b in other]
    return sum(across) / len(across), sum(within) / len(within)


CLOSE = 0.06  # of means over 150 items of dependent pairs
FACTS = {language: items("fact", language, 120) for language in LANGUAGES}


@pytest.mark.parametrize(
    ("bot", "language"),
    [
        (kinds.Honest(0.7), "en"),
        (kinds.TieFlipper(0.2), "zh"),
        (kinds.AlwaysFirst(), "en"),
        (kinds.AlwaysLast(), "zh"),
        (kinds.PositionBiased(0.4), "en"),
        (kinds.PositionBiased(0.4), "zh"),
        (kinds.ItemBiased(0.4), "en"),
        (kinds.Misattributes(0.4), "zh"),
    ],
)
def test_flips_between_orders(bot: Bot, language: Language) -> None:
    true = truth(kinds.PositionBiased(bot.q) if isinstance(bot, kinds.Misattributes) else bot, 4)
    across, within = flips(bot, FACTS[language])
    assert within == pytest.approx(true["F0"], abs=CLOSE)
    assert across - within == pytest.approx(true["D"], abs=CLOSE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_honest_is_right_for_the_same_items_whatever_stands_around(language: Language) -> None:
    chosen = FACTS[language]
    bot, bank = kinds.Honest(0.7), Bank.of(chosen)
    full = rights(bot, chosen, ordered, bank)
    assert agrees(sum(full), len(full), 0.7)
    assert rights(bot, chosen, lambda item: ordered(item, ORDERS[2]), bank) == full
    assert rights(bot, chosen, lambda item: ordered(item, keep=[item.asked or 0]), bank) == full
    assert rights(bot, chosen, lambda item: ordered(item, keep=[]), bank) == full


def evidence_at(item: Item, place: int, k: int = 4) -> Chat:
    """The asked fact at one place among k, the others in their cyclic order."""
    others = [i for i in range(k) if i != item.asked]
    return ordered(item, [*others[:place], item.asked or 0, *others[place:]])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("bot", [kinds.RecencyWeighted(0.5), kinds.MiddleBlind(0.4), kinds.AlwaysFirst()])
def test_places(bot: Bot, language: Language) -> None:
    chosen = FACTS[language]
    true = truth(bot, 4)
    found = [rights(bot, chosen, lambda item, place=place: evidence_at(item, place)) for place in range(4)]  # type: ignore[misc]
    if isinstance(bot, kinds.RecencyWeighted):
        shares = [float(true[f"accuracy[{place + 1}]"]) for place in range(4)]
        assert shares == pytest.approx([1 / 15, 2 / 15, 4 / 15, 8 / 15])
    elif isinstance(bot, kinds.MiddleBlind):
        shares = [1.0, 0.6, 0.6, 1.0]
    else:
        shares = [1.0, 0.0, 0.0, 0.0]
    for hits, share in zip(found, shares, strict=True):
        assert agrees(sum(hits), len(hits), share)
    accuracy = [sum(hits) / len(hits) for hits in found]
    assert accuracy[-1] - accuracy[0] == pytest.approx(float(true["L"]), abs=0.09)
    assert (accuracy[0] + accuracy[-1]) / 2 - sum(accuracy[1:-1]) / 2 == pytest.approx(float(true["Q"]), abs=0.09)


def test_recency_is_the_published_row() -> None:
    true = truth(kinds.RecencyWeighted(0.5), 5)
    assert [round(float(true[f"accuracy[{place}]"]), 3) for place in range(1, 6)] == [0.032, 0.065, 0.129, 0.258, 0.516]
    assert (round(float(true["L"]), 3), round(float(true["Q"]), 3)) == (0.484, 0.124)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels(language: Language) -> None:
    chosen = items("choice", language, 60)
    said = texts(kinds.LabelBiased(0.4), [ordered(item) for item in chosen])
    true = truth(kinds.LabelBiased(0.4), 4)
    assert agrees(said.count("A"), len(said), float(true["label_A"]))
    assert agrees(
        sum(scored(i, t).right for i, t in zip(chosen, said, strict=True)), len(said), float(true["accuracy"])
    )
    assert set(texts(kinds.AlwaysFirst(), [ordered(item) for item in chosen])) == {"A"}
    assert set(texts(kinds.AlwaysLast(), [ordered(item) for item in chosen])) == {"D"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_memory_and_text(language: Language) -> None:
    chosen, bank = FACTS[language], Bank.of(FACTS[language])
    closed = rights(kinds.ClosedBook(0.4), chosen, lambda item: ordered(item, keep=[]), bank)
    assert closed == rights(kinds.ClosedBook(0.4), chosen, ordered, bank)
    assert agrees(sum(closed), len(closed), 0.4)
    assert agrees(sum(rights(kinds.Reader(0.2), chosen, ordered)), len(chosen), 0.8)
    declined = texts(kinds.Reader(0.2), [ordered(item, keep=[]) for item in chosen], bank)
    assert all(scored(item, text).outcome == "abstain" for item, text in zip(chosen, declined, strict=True))


def contradicted(item: Item) -> Chat:
    return chat(f"{item.instance.wrong}\n{item.instance.parts[-1].text}")


@pytest.mark.parametrize(
    ("bot", "memory"),
    [(kinds.Stubborn(0.3), 0.3), (kinds.Gullible(0.3), 0.7), (kinds.ClosedBook(1.0), 1.0), (kinds.Reader(), 0.0)],
)
def test_conflicts(bot: Bot, memory: float) -> None:
    chosen = [item for item in items("common", "en", 250) if item.variant.startswith(("capital", "weekday"))]
    said = texts(bot, [contradicted(item) for item in chosen], Bank.of(chosen))
    kept = sum(text == item.instance.right for item, text in zip(chosen, said, strict=True))
    assert agrees(kept, len(chosen), memory)
    assert all(text in (item.instance.right, item.instance.wrong) for item, text in zip(chosen, said, strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_boundaries(language: Language) -> None:
    chosen = items("boundary", language, 90)
    bank = Bank.of(chosen)
    answerable = [item for item in chosen if item.variant == "answerable"]
    not_so = [item for item in chosen if item.variant == "unanswerable"]
    for item_set, bot, share in (
        (not_so, kinds.Bluffer(0.4), 0.6),
        (not_so, kinds.OverRefuser(0.3), 1.0),
        (not_so, kinds.Honest(), 1.0),
        (answerable, kinds.Bluffer(0.4), 1.0),
        (answerable, kinds.OverRefuser(0.3), 0.7),
    ):
        assert agrees(sum(rights(bot, item_set, ordered, bank)), len(item_set), share), (bot, share)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("bot", "fillers", "share"),
    [
        (kinds.ForgetsAt(7, 0.3), 0, 1.0),
        (kinds.ForgetsAt(7, 0.3), 4, 1.0),
        (kinds.ForgetsAt(7, 0.3), 9, 0.3),
        (kinds.ForgetsAt(7, 0.3), 19, 0.3),
        (kinds.ForgetsGeometric(5.0), 4, 0.5),
        (kinds.ForgetsGeometric(5.0), 9, 0.25),
        (kinds.ForgetsTokens(100), 4, 1.0),
        (kinds.ForgetsTokens(100), 19, 0.0),
        (kinds.NoRuleObeyer(0.2), 19, 0.2),
        (kinds.Honest(), 19, 1.0),
    ],
)
def test_rules_are_forgotten(bot: Bot, fillers: int, share: float, language: Language) -> None:
    chosen = items("rule", language, 60)
    kept = rights(bot, chosen, lambda item: dialogue(item.instance.parts[0].text, fillers, _with_documents(item)))
    assert agrees(sum(kept), len(kept), share)
    if isinstance(bot, kinds.ForgetsTokens | kinds.NoRuleObeyer) and fillers == 19:
        inside = rights(
            bot, chosen, lambda item: dialogue(item.instance.parts[0].text, fillers, _with_documents(item), inside=True)
        )
        assert agrees(sum(inside), len(inside), share)


def _with_documents(item: Item) -> str:
    return "\n".join(part.text for part in item.instance.parts[1:])


def test_without_the_rule_only_the_obeyer_obeys() -> None:
    chosen = items("rule", "en", 60)
    bank = Bank.of(chosen)

    def untold(item: Item) -> Chat:
        return chat(_with_documents(item))

    assert sum(rights(kinds.ForgetsAt(), chosen, untold, bank)) == 0
    assert agrees(sum(rights(kinds.NoRuleObeyer(0.2), chosen, untold, bank)), 60, 0.2)


def edited(item: Item) -> Chat:
    """The value in the asked fact replaced."""
    fact = item.facts[item.asked or 0]
    moved = fact.sentence.replace(fact.value, "7531")
    return Chat(tuple(Turn(turn.role, turn.content.replace(fact.sentence, moved)) for turn in ordered(item).turns))


@pytest.mark.parametrize("language", LANGUAGES)
def test_edits(language: Language) -> None:
    chosen, bank = FACTS[language], Bank.of(FACTS[language])
    base = texts(kinds.KeywordDeaf(), [ordered(item) for item in chosen], bank)
    assert texts(kinds.KeywordDeaf(), [edited(item) for item in chosen], bank) == base
    assert all(rights(kinds.Brittle(0.3), chosen, ordered, bank))
    followed = texts(kinds.Brittle(0.3), [edited(item) for item in chosen], bank)
    assert agrees(sum("7531" not in text for text in followed), len(followed), 0.3)


def test_dated_facts() -> None:
    facts = [
        DatedFact(
            f"{2020 + i // 24}-{1 + i // 2 % 12:02d}", f"Who won cup {i}?", f"Velmora{i}", (f"Tanrik{i}",), "https://x"
        )
        for i in range(240)
    ]
    said = texts(kinds.CutoffAt("2024-01", 0.9, 0.2), [chat(fact.question) for fact in facts], Bank.of(facts))
    known = [text == fact.right for fact, text in zip(facts, said, strict=True)]
    assert agrees(sum(known[:96]), 96, 0.9)
    assert agrees(sum(known[96:]), 144, 0.2)
    said = texts(kinds.Guesser(0.25), [chat(fact.question) for fact in facts], Bank.of(facts))
    assert agrees(sum(text == fact.right for fact, text in zip(facts, said, strict=True)), 240, 0.25)


@pytest.mark.parametrize("language", LANGUAGES)
def test_broken_forms_hold_the_right_content(language: Language) -> None:
    chosen = FACTS[language]
    said = texts(kinds.FormatDrift(0.3), [ordered(item) for item in chosen])
    strict = [scored(item, text).right for item, text in zip(chosen, said, strict=True)]
    assert agrees(sum(strict), len(strict), 0.7)
    assert all(item.instance.lenient_scorer().score(text).right for item, text in zip(chosen, said, strict=True))
