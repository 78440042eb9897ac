"""Parts given back to a quantised model: every number against brute force on a small one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transformers import LlamaConfig

from tests.oracle import opened, tiny
from whybox.compare import sensitivity as measured
from whybox.compare.prompts import Text
from whybox.compare.sensitivity import Sensitivity, sensitivity
from whybox.compare.sides import Live
from whybox.engine.reference import ReferenceEngine
from whybox.engine.rounded import held_as, held_bits
from whybox.engine.trace import log_softmax
from whybox.errors import UsageError
from whybox.model import Model
from whybox.spec import Spec
from whybox.statistics.divergence import kl
from whybox.testing.noise import noisy
from whybox.weights import Weights

TEXTS = (
    Text("one", tuple(np.random.default_rng(0).integers(0, 61, 101).tolist()), None),
    Text("two", tuple(np.random.default_rng(1).integers(0, 61, 83).tolist()), None),
)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Live, Live]:
    """A small random model, and itself in int4."""
    folder: Path = tmp_path_factory.mktemp("llama")
    config = LlamaConfig(
        vocab_size=61, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=True,
    )  # fmt: skip
    tiny(config).save_pretrained(folder)
    engine = opened(folder).engine
    base = replace(noisy(0).model, engine=engine, weights=engine.weights)
    return Live("ours", base), Live("theirs", base.variant(engine="torch", precision="int4"))


@pytest.fixture(scope="module")
def found(sides: tuple[Live, Live]) -> Sensitivity:
    return sensitivity(*sides, TEXTS)


def by_brute_force(model: Model, roles: frozenset[str]) -> float:
    """A whole model built with these roles full, run from the first token on."""
    spec, held = held_as(model.spec, model.weights, "int4")
    arrays = dict(held.items())
    for role in roles:
        arrays[role] = model.weights["embed" if role == "head" else role]
    return mean_kl(model.spec, model.weights, spec, Weights(arrays))


def mean_kl(spec: Spec, weights: Weights, other_spec: Spec, other: Weights) -> float:
    one, two = ReferenceEngine(spec, weights), ReferenceEngine(other_spec, other)
    rows = []
    for text in TEXTS:
        p, q = (np.exp(log_softmax(engine.run(text.ids).logits)) for engine in (one, two))
        rows.append(kl(p, q))
    return float(np.concatenate(rows).mean())


def test_every_unit_is_what_brute_force_gives(sides: tuple[Live, Live], found: Sensitivity) -> None:
    assert found.kl == pytest.approx(by_brute_force(sides[0].model, frozenset()), rel=1e-4)
    for each in (*found.units, *found.sets):
        assert each.kl == pytest.approx(by_brute_force(sides[0].model, each.unit.roles), abs=2e-6), each.unit.name


def test_parts_roles_and_tensors_are_all_there(found: Sensitivity) -> None:
    names = {kind: [each.unit.name for each in found.units if each.unit.kind == kind] for kind in ("part", "role")}
    assert names["part"] == ["embedding", "layer 0", "layer 1", "layer 2", "head"]
    assert set(names["role"]) == {"query", "key", "value", "out", "gate", "up", "down"}
    assert len([each for each in found.units if each.unit.kind == "tensor"]) == 3 * 7
    assert found.runs == (len(found.units) + 10) * len(TEXTS)


def test_the_advice_is_the_cheapest_that_takes_away_half(found: Sensitivity) -> None:
    assert found.keep is not None
    assert found.keep.gain > measured.ENOUGH * found.kl
    assert found.keep.interval is not None
    assert found.keep.interval[0] > 0
    cheaper = [each for each in (*found.units, *found.sets) if (each.unit.bytes_more or 0) < found.keep.unit.bytes_more]  # type: ignore[operator]
    assert all(each.gain < measured.ENOUGH * found.kl for each in cheaper)


def test_float32_alone_moves_next_to_nothing(found: Sensitivity) -> None:
    assert 0 <= found.floor < 1e-6
    assert found.kl > 1e-3
    assert found.as_run > 0


def test_bytes_are_those_of_sixteen_bits_more(sides: tuple[Live, Live], found: Sensitivity) -> None:
    weights = sides[0].model.weights
    value = next(each.unit for each in found.units if each.unit.name == "1.value")
    assert held_bits("layers.1.value", weights["layers.1.value"], "int4") == 5
    assert value.bytes_more == weights["layers.1.value"].size * 11 // 8
    head = next(each.unit for each in found.units if each.unit.name == "head")
    assert head.bytes_more == 61 * 64


def test_sides_that_are_no_quantisation_are_refused(sides: tuple[Live, Live]) -> None:
    with pytest.raises(UsageError, match="not quantised"):
        sensitivity(sides[0], sides[0], TEXTS)
    with pytest.raises(UsageError, match="runs in int4"):
        sensitivity(sides[1], sides[1], TEXTS)


def test_the_same_weights_in_another_file_are_refused(sides: tuple[Live, Live]) -> None:
    """Nothing is rounded there, so that nothing can be given back."""
    model = sides[0].model
    copy = ReferenceEngine(model.spec, Weights(dict(model.weights.items())))
    with pytest.raises(UsageError, match="unrounded"):
        sensitivity(sides[0], Live("copy", replace(model, engine=copy, weights=copy.weights)), TEXTS)
