"""What a bot finds in a prompt, against what the generators put there."""

import pytest

from tests.targets.bots.asking import dialogue, items, ordered
from whybox.items.generate import canary_pair
from whybox.items.generate.vocabulary import LANGUAGES, Language
from whybox.targets.bots.reading import Bank, Rule, read
from whybox.targets.bots.text import cut, ids_of, rendered, split
from whybox.targets.target import Chat, Raw, Turn, chat


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["fact", "keyvalue", "claim"])
def test_facts_are_found_at_their_places_without_any_bank(kind: str, language: Language) -> None:
    for item in items(kind, language, 24):
        seen = read(ordered(item))
        assert seen.asked == item.asked
        assert seen.given == item.instance.right
        assert len(seen.passages) == len(item.facts)
        turned = read(ordered(item, [3, 2, 1, 0]))
        assert turned.asked == 3 - (item.asked or 0)
        assert turned.given == item.instance.right
        assert read(ordered(item, keep=[i for i in range(4) if i != item.asked])).asked is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_value_is_read_as_it_stands(language: Language) -> None:
    item = items("fact", language, 1)[0]
    fact = item.facts[item.asked or 0]
    changed = fact.sentence.replace(fact.value, "5678")
    prompt = ordered(item)
    moved = Chat(tuple(Turn(turn.role, turn.content.replace(fact.sentence, changed)) for turn in prompt.turns))
    assert read(moved).given == item.instance.right.replace(fact.value, "5678")


@pytest.mark.parametrize("language", LANGUAGES)
def test_options_and_their_labels(language: Language) -> None:
    for item in items("choice", language, 8):
        seen = read(ordered(item))
        assert dict(seen.options)[item.instance.right] == seen.given
        assert len(seen.options) == 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_and_how_long_ago_they_were_told(language: Language) -> None:
    told = [read(ordered(item)) for item in items("rule", language, 4)]
    assert [seen.rule.kind if seen.rule else None for seen in told] == ["never", "json", "never", "json"]
    assert all(seen.rule_told and seen.turns == 1 for seen in told)
    item = items("rule", language, 1)[0]
    rule, question = item.instance.parts[0].text, item.instance.parts[-1].text
    later = [read(dialogue(rule, fillers, question)) for fillers in (0, 5, 20)]
    assert [seen.turns for seen in later] == [1, 6, 21]
    at_once = read(dialogue(rule, 20, question, inside=True))
    assert at_once.turns == 1
    assert at_once.tokens == pytest.approx(later[2].tokens - 20, abs=1)  # less the twenty replies of one word


def test_a_rule_that_nobody_told_is_known_from_the_bank_only() -> None:
    item = items("rule", "en", 1)[0]
    question = item.instance.parts[-1].text
    assert read(chat(question)).rule is None
    seen = read(chat(question), Bank.of([item]))
    assert isinstance(seen.rule, Rule)
    assert not seen.rule_told


@pytest.mark.parametrize("language", LANGUAGES)
def test_canaries(language: Language) -> None:
    canary = canary_pair(language, 3)
    whole = f"{canary.head} x {canary.tail}\n{canary.question}"
    assert read(chat(whole)).codes == (canary.first, canary.last)
    assert read(chat(whole.replace(canary.head, ""))).codes == (canary.last,)
    assert read(chat("Hello")).codes is None


def test_a_common_fact_contradicted_by_the_text() -> None:
    item = next(item for item in items("common", "en", 30) if item.variant.startswith("capital"))
    bank = Bank.of([item])
    question = item.instance.parts[-1].text
    assert read(chat(question), bank).passages == ()
    other = item.instance.wrong or ""
    seen = read(chat(f"As everybody knows, it is {other}.\n{question}"), bank)
    assert seen.given == other
    assert seen.known is not None
    assert seen.known.right == item.instance.right


def test_an_edit_is_noticed() -> None:
    item = items("fact", "en", 1)[0]
    bank = Bank.of([item])
    prompt = ordered(item)
    assert not read(prompt, bank).edited
    moved = Chat(tuple(Turn(turn.role, turn.content.replace("documents", "papers")) for turn in prompt.turns))
    assert read(moved, bank).edited


@pytest.mark.parametrize("text", ["A  b,c!\n天氣 好 ok-1 x_y's\t😊", "", " ", "a b c d e f"])
def test_tokens_lose_nothing(text: str) -> None:
    assert "".join(split(text)) == text


def test_a_prompt_is_cut_from_either_end() -> None:
    prompt = chat("a b c d", "x y")
    assert cut(prompt, 3, "start") == chat("b c d".replace("b", " b"))
    assert cut(prompt, 3, "end") == Chat((Turn("system", "x y"), Turn("user", "a")))
    assert cut(prompt, 99, "start") == prompt
    assert cut(Raw("a b c"), 2, "start") == Raw(" b c")


def test_ids_depend_on_text_alone() -> None:
    tokens = rendered(chat("hi hi"))
    assert ids_of(tokens, 2)[:2] == (1, 1)
    assert len(ids_of(tokens, 1)) == len(tokens) + 1
    assert ids_of(["a", "b"], 0) != ids_of(["b", "a"], 0)
