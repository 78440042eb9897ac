"""What a target reads for a case: the same ids as for the request that is sent, and where each part stands in them."""

import asyncio
from collections.abc import Callable

import pytest

from tests.real import real
from whybox.items.generate import LANGUAGES, Language, generate
from whybox.probes.design import Ground
from whybox.probes.edit import EditProbe
from whybox.probes.encoding import encoder_of
from whybox.probes.evidence import EvidenceProbe
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.local import LocalTarget
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.target import Target, prompt_of


def local() -> Target:
    return LocalTarget(real("smollm2"))


def bot() -> Target:
    return BotTarget(kinds.Honest())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("target_of", [local, bot])
def test_ids_are_those_that_are_sent(language: Language, target_of: Callable[[], Target]) -> None:
    target = target_of()
    encode = encoder_of(target)
    assert encode is not None
    for item in generate("fact", language, 4, 1, len):
        encoded = encode(item.instance)
        assert encoded.ids == asyncio.run(target.ids(prompt_of(item.instance)))
        moved = item.instance.reordered(["doc4", "doc1", "doc2", "doc3"])
        for name in ("doc1", "doc4", "question"):
            start, end = encoded.spans[name]
            other = slice(*encode(moved).spans[name])
            assert end > start
            assert encoded.ids[start:end] == encode(moved).ids[other], "a part keeps its ids where it goes"


@pytest.mark.parametrize("language", LANGUAGES)
def test_plans_hold_on_a_real_tokenizer(language: Language) -> None:
    """Equal lengths, edits within five per cent of one another, passages where they should stand."""
    target = LocalTarget(real("smollm2"))
    tokenizer = target.model.tokenizer
    ground = Ground(
        "local",
        target.abilities,
        count=lambda text: len(tokenizer.encode(text)),
        counted=True,
        encode=encoder_of(target),
    )
    edits = EditProbe(items=3, language=language).plan("edit", ground)
    for item in edits.items:
        facts = [dict(call.facts) for call in edits.calls if call.item == item.id]
        assert len({each["ids"] for each in facts}) == 1
        assert not any("flag" in each for each in facts)
    places = EvidenceProbe(items=2, language=language).plan("evidence", ground)
    for call in places.calls:
        stood = dict(call.facts)
        if call.arm.isdecimal():
            assert abs(float(stood["realised"]) - float(stood["requested"])) < 0.05
            assert "flag" not in stood


def test_an_endpoint_reveals_nothing() -> None:
    assert encoder_of(OpenAITarget(Endpoint("name", "http://127.0.0.1:9/v1"))) is None
