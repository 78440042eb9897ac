"""Which runs go together: of the same numbers in the same precision; everything else is refused in one sentence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import whybox
from tests.engine.fast.pairs import fast, reference
from tests.engine.random_models import IDS, drawn, spec
from tests.real import real
from whybox.engine.likeness import require_like
from whybox.engine.read import logit_difference
from whybox.engine.trace import Trace
from whybox.errors import UsageError
from whybox.model import Model
from whybox.testing.faults import FINAL_GAIN_ONE
from whybox.weights import Origin, in_precision

OTHER = "with other weights than this model has, in the same architecture"


def test_equal_architecture_is_not_enough() -> None:
    mine, other = reference(spec()), reference(spec(), seed=1)
    require_like(mine.run(IDS), mine)
    with pytest.raises(UsageError, match=OTHER):
        require_like(mine.run(IDS), other)


def test_one_file_opened_twice_is_the_same() -> None:
    read = []
    digest = lambda name: lambda: read.append(name) or name.upper()  # noqa: E731
    one, again, other = Origin(digest("a")), Origin(digest("a")), Origin(digest("b"))
    assert one.is_of(one)
    assert read == []
    assert one.is_of(again)
    assert not one.is_of(other)
    assert not one.is_of(Origin())
    assert not Origin().is_of(Origin())


def test_a_precision_is_of_the_same_numbers_and_a_fault_is_not() -> None:
    weights = drawn(spec(), 0, np.float32)
    assert in_precision(weights, np.float64).origin is weights.origin
    assert replace(weights, ledger=()).origin is weights.origin


@pytest.mark.model
class TestModels:
    fast: Model

    @pytest.fixture(autouse=True)
    def opened(self) -> None:
        self.fast = real("smollm2").variant(engine="torch")

    def attempts(self, model: Model, trace: Trace) -> list[Callable[[], object]]:
        """Every way in which a model takes a run that was made before."""
        return [
            lambda: model.sweep(trace, [whybox.Change()], lambda run: 0.0),
            lambda: model.changed(trace, whybox.Change()),
            lambda: model.gradient(trace, logit_difference(1, 2), ["embed"]),
            lambda: model.pattern(trace, 0, 0),
            lambda: model.run("ab", after=trace),
            lambda: model.generate("ab", 1, after=trace),
        ]

    def test_other_weights_are_refused(self) -> None:
        """Faulty: one matrix of the same model is another."""
        model = real("smollm2")
        trace = FINAL_GAIN_ONE.of(model).run("a")
        assert trace.spec == model.spec
        for attempt in self.attempts(self.fast, trace):
            with pytest.raises(UsageError, match=OTHER):
                attempt()

    def test_another_precision_is_refused(self) -> None:
        double = self.fast.variant(precision="fp64")
        for attempt in self.attempts(double, self.fast.run("a")):
            with pytest.raises(UsageError, match="made in fp32, this model runs in fp64"):
                attempt()

    def test_engines_kernels_and_chunks_may_differ_and_so_may_the_opening(self, tmp_path: Path) -> None:
        """What they differ by is the noise of a sum's order; a copy of the file holds the same numbers."""
        model = real("smollm2")
        trace, change = model.run("a b c"), whybox.Change(edits=(whybox.zero("head_out", 3, h=1),))
        expected = model.changed(trace, change).logits[-1]
        copy = tmp_path / "copy.gguf"
        copy.symlink_to(Path(model.file.path).resolve())
        ways = [self.fast, self.fast.variant(kernel="plain"), self.fast.variant(chunk=2), whybox.open(str(copy))]
        for way in ways:
            (found,) = way.sweep(trace, [change], lambda run: run.logits[-1])
            assert 0 <= np.abs(found - expected).max() < 1e-4


def test_a_cache_belongs_to_its_engine() -> None:
    slow, quick = reference(spec()), fast(spec())
    with pytest.raises(UsageError, match="made by another engine"):
        quick.run((1, 2), cache=slow.run(IDS).cache)
    with pytest.raises(UsageError, match="made by another engine"):
        slow.run((1, 2), cache=quick.run(IDS).cache)
