"""A wrong answer computed otherwise: which switch flips, and what is not called a fault of the computation."""

from dataclasses import replace

import pytest

from whybox.cause.answers import Asked, settings_of
from whybox.cause.decision import Decision, own_decision
from whybox.compare.switches import REFERENCE, Compared, Switched, compared, reference_of, switches
from whybox.engine.choice import Way
from whybox.testing.context_rows import not_looking
from whybox.testing.engine_rows import KINDS, engine_fault
from whybox.testing.planted import Planted


def asked_of(planted: Planted) -> tuple[Asked, Decision]:
    model, case = planted.model, planted.instance
    asked = Asked(case, model.prompt(case), case.wrong or "", settings_of(model, case, 4))
    written = model.generate(case, 4)
    place = written.text.index(asked.wrong)
    return asked, own_decision(model, asked.prompt, written.ids, place, asked.right, asked.wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sound_engine_flips_and_is_named(kind: str) -> None:
    planted = engine_fault(kind, 3)
    assert planted.sound is not None
    found = compared(planted.model, planted.sound, *asked_of(planted))
    names = [switch.name for switch in found.flipping]
    assert names == (["no cache", REFERENCE] if kind == "cache-slot" else [REFERENCE])
    assert all(switch.own > 1 for switch in found.flipping)
    assert found.first is not None


def test_a_fault_of_the_model_is_none_of_the_engine() -> None:
    planted = not_looking(1)
    torch = planted.model.variant(engine="torch")
    reference = reference_of(torch)
    assert reference is not None
    found = compared(torch, reference, *asked_of(planted))
    assert found.flipping == ()
    assert found.switches == ()
    assert found.first is None


def test_the_reference_is_asked_only_where_another_way_ran_and_it_is_not_too_large() -> None:
    model = not_looking(1).model
    assert reference_of(model) is None
    torch = model.variant(engine="torch")
    assert reference_of(torch, most_bytes=10) is None
    reference = reference_of(torch)
    assert reference is not None
    assert (reference.engine.name, reference.engine.precision) == ("numpy", "fp32")


def test_auto_without_torch_is_the_reference_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    model = replace(not_looking(1).model, way=Way("auto"))
    assert reference_of(model) is not None
    monkeypatch.setattr("whybox.engine.choice.find_spec", lambda _: None)
    assert reference_of(model) is None


def test_every_difference_from_the_reference_is_one_switch() -> None:
    model = not_looking(1).model.variant(engine="torch", precision="bf16", batch=2)
    reference = reference_of(model)
    assert reference is not None
    found = {switch.name: switch.model for switch in switches(model, reference)}
    assert list(found) == ["no cache", "batch 1", "plain attention kernel", "fp32"]
    assert not found["no cache"].cached
    assert found["fp32"].way == replace(model.way, precision="fp32")
    assert found["batch 1"].way == replace(model.way, batch=1)


def test_where_only_all_together_flip_all_are_listed() -> None:
    right = Switched(REFERENCE, "", True, True, 1.0, 1.0)
    alone = tuple(replace(right, name=name, flips=False) for name in ("no cache", "fp32"))
    (found,) = Compared(right, alone).flipping
    assert found.name == "no cache and fp32"
    assert Compared(replace(right, flips=False), (right,)).flipping == ()
