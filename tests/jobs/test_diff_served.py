"""`diff` with an endpoint: a small model served with planted faults, bots, and what endpoints do not offer."""

from dataclasses import dataclass, replace
from functools import cache

import pytest

from tests.targets.folder import tiny_folder
from whybox.compare.comparison import Asked
from whybox.compare.prompts import Text
from whybox.compare.served import Served
from whybox.compare.sides import Live
from whybox.engine.rounded import held_as, in_format
from whybox.engine.trace import log_softmax
from whybox.errors import EndpointError
from whybox.jobs.diff import diff
from whybox.model import Model, open_model
from whybox.report.document import DiffDocument
from whybox.targets.bots.kinds import bot_from
from whybox.targets.bots.process import BotTarget
from whybox.targets.local import LocalTarget
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Outcome,
    Raw,
    Reply,
    Request,
    ScoreOutcome,
)
from whybox.testing import faults

TEXTS = ("The cat sat on the", "How many are there in")
ASKED = Asked(tuple(Text(f"text {n}", (), text) for n, text in enumerate(TEXTS)), 6)


@cache
def model() -> Model:
    return open_model(str(tiny_folder()), "numpy")


@dataclass(eq=False)
class Lacking(LocalTarget):
    """A served model that offers less: most of the most probable tokens, an echo, ids, log-probabilities, raw text."""

    most: int | None = 20
    echoes: bool = True
    raw: bool = True
    shows_ids: bool = False

    async def ask(self, request: Request) -> Outcome:
        if not self.raw and isinstance(request.prompt, Raw):
            return Failure("http", "does not serve this address", status=404, fatal=True)
        if request.logprobs is not None and self.most is not None and request.logprobs > self.most:
            return Failure("http", "too many log-probabilities", status=400)
        found = await super().ask(request)
        if self.most is None and isinstance(found, Reply):
            return replace(found, tokens=None, tokens_reason="the endpoint gave none")
        return found

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        return await super().score(request) if self.echoes else Failure("malformed", "no echo")

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        return await super().ids(prompt) if self.shows_ids else None


def against(theirs: Model, asked: Asked = ASKED, **lacks: object) -> DiffDocument:
    return diff(Live("ours", model()), Served("theirs", Lacking(theirs, **lacks)), asked)  # type: ignore[arg-type]


def why(found: DiffDocument, what: str) -> str:
    return next((each.why for each in found.unsaid if what in each.what), "")


def test_the_same_model_served_is_the_same() -> None:
    found = against(model(), shows_ids=True)
    assert found.verdict in ("identical", "rounding")
    assert {rung.check: rung.state for rung in found.ladder} == {"template": "same", "ids": "same"}
    assert found.named == ()
    assert found.harm is not None
    assert (found.harm.flips, found.harm.prompts, found.harm.same_top, found.harm.kl_is) == (0, 2, 1.0, "at least")
    assert found.repeats is not None
    assert (found.repeats.moved, found.repeats.texts_differ, found.repeats.calls) == (0.0, 0, 4)
    assert "text and log-probabilities" in why(found, "sites")


@pytest.mark.parametrize("fault", [faults.NO_ROPE, faults.NO_SCORE_SCALE, faults.FINAL_NORM_MISSING])
def test_a_fault_that_reproduces_the_numbers_is_named(fault: faults.Fault) -> None:
    found = against(fault.of(model()))
    assert found.verdict == "named", (found.rivals, found.suspects[:4])
    assert found.named[0].what in (fault.what, "scores without 1/√d")
    assert found.explained_by == "fp32"
    assert found.first is not None
    assert found.first.error is not None
    assert found.first.allowed is not None
    assert found.first.error > found.first.allowed


def in_bf16(fault: faults.Fault) -> Model:
    """The model with a fault, in bfloat16 as the engine has it."""
    described = held_as(*fault.changed(model().spec, model().weights), "bf16")
    return replace(model(), engine=in_format(*described, "bf16", fault.rewires))


def test_bf16_may_be_rounding_and_names_a_fault_only_where_it_is_told() -> None:
    sound = against(in_bf16(faults.NO_FAULT))
    assert (sound.verdict, sound.explained_by) == ("rounding", "bf16")
    untold = against(in_bf16(faults.NO_ROPE))
    assert (untold.verdict, untold.named) == ("not-determined", ())
    assert "not told" in why(untold, "bf16")
    told = diff(Live("ours", model()), Served("theirs", Lacking(in_bf16(faults.NO_ROPE)), "bf16"), ASKED)
    assert told.verdict == "named", (told.rivals, told.suspects[:3])
    assert told.named[0].what == faults.NO_ROPE.what


def test_what_no_known_fault_gives_is_not_determined() -> None:
    found = against(faults.corrupt("layers.0.out", slice(0, 8)).of(model()))
    assert (found.verdict, found.named) == ("not-determined", ())
    assert len(found.suspects) > 20


def test_an_endpoint_that_lists_five_tokens_and_echoes_nothing() -> None:
    found = against(faults.NO_ROPE.of(model()), most=5, echoes=False)
    assert found.verdict in ("named", "not-determined")
    assert "no echo" in why(found, "prompt of")
    assert found.harm is not None
    assert found.harm.positions == 12
    assert found.harm.variation is not None
    assert 0 <= found.harm.variation[0] <= found.harm.variation[1] <= 1


def test_without_log_probabilities_only_texts_are_told() -> None:
    same = against(model(), most=None, echoes=False)
    assert (same.verdict, same.floor, same.first) == ("same-text", None, None)
    assert "gave none" in why(same, "log-probabilities")
    other = against(faults.NO_ROPE.of(model()), most=None, echoes=False)
    assert (other.verdict, other.named, other.suspects) == ("not-determined", (), ())
    assert other.harm is not None
    assert (other.harm.positions, other.harm.kl_mean) == (0, None)
    assert other.harm.flips


def test_an_endpoint_without_raw_text_is_asked_by_chat() -> None:
    found = against(model(), raw=False)
    assert found.verdict in ("identical", "rounding")
    assert "asked as chat" in why(found, "raw text")


class Behind(Lacking):
    """Its echo gives every token the number of the next place, as servers do that forget to shift."""

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        assert isinstance(request.prompt, Raw)
        found = await super().score(request)
        assert isinstance(found, AnswerScore)
        ids = self.prompt(Raw(request.prompt.text + request.answer)).ids
        rows = log_softmax(self.model.engine.run(ids).logits)
        own = ids[-len(found.tokens) :]
        placed = zip(found.tokens, rows[-len(own) :], own, strict=True)
        late = [replace(token, logprob=float(row[i]), top=()) for token, row, i in placed]
        return replace(found, tokens=tuple(late))


def test_an_echo_that_stands_one_place_behind_is_found_and_used() -> None:
    long = Asked((Text("long", (), " ".join(TEXTS * 3)),), 4)
    found = diff(Live("ours", model()), Served("theirs", Behind(model())), long)
    assert found.verdict == "rounding", found.suspects[:3]
    assert "next token" in why(found, "own place")


class OtherTokens(Lacking):
    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        return (7, 8, 9)


def test_another_tokenizer_is_no_experiment() -> None:
    found = diff(Live("ours", model()), Served("theirs", OtherTokens(model())), ASKED)
    assert (found.verdict, found.same_experiment) == ("unlike", False)
    assert found.named == ()
    assert found.harm is not None


class Dead(Lacking):
    async def ask(self, request: Request) -> Outcome:
        return Failure("unreachable", "nobody there", "start it", fatal=True)


def test_a_dead_endpoint_is_one_message() -> None:
    with pytest.raises(EndpointError, match="nobody there"):
        diff(Live("ours", model()), Served("theirs", Dead(model())), ASKED)


def bots(*names: str) -> DiffDocument:
    one, other = (Served(name, BotTarget(bot_from(name))) for name in names)
    return diff(one, other, ASKED)


def test_two_endpoints() -> None:
    assert bots("honest", "honest").verdict == "identical"
    apart = bots("logit_noise(sigma=0)", "logit_noise(sigma=0.5)")
    assert apart.verdict == "not-determined"
    assert apart.harm is not None
    assert apart.harm.kl_mean is not None
    assert apart.harm.kl_mean > 0
    assert "weights" in why(apart, "a cause")
    assert apart.model.digest


def test_sides_may_stand_either_way_round() -> None:
    found = diff(Served("theirs", Lacking(model())), Live("ours", model()), ASKED)
    assert [side.name for side in found.sides] == ["ours", "theirs"]
