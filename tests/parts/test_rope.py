"""RoPE's frequencies against transformers' tables, the documents' wavelengths, and the three YaRN magnitudes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from whybox.errors import UsageError
from whybox.parts import rope
from whybox.parts.position import rope_angles
from whybox.spec import DividedRope, LinearRope, Llama3Rope, LongRope, NtkRope, PlainRope, Rope, YarnRope

PLAIN = PlainRope(10000.0, 62)
SHORT, LONG = (tuple(np.linspace(1, top, 31)) for top in (1.5, 40.0))


def oracle(kind: str, length: int | None, **parameters: Any) -> tuple[np.ndarray, float]:
    """transformers' inverse frequencies (float32) and attention factor, for a head of 62 and a context of 4,096."""
    config = LlamaConfig(
        hidden_size=248,
        num_attention_heads=4,
        head_dim=62,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": kind, "rope_theta": 10000.0} | parameters,
    )
    frequencies, factor = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)
    return frequencies.numpy(), factor


YARN = YarnRope(PLAIN, 8.0, 512, 32.0, 1.0, *rope.yarn_magnitude(8.0))

TABLE: list[tuple[str, int, Rope, dict[str, Any]]] = [
    ("linear", 100, LinearRope(PLAIN, 4.0), {"factor": 4.0}),
    ("dynamic", 4096, NtkRope(PLAIN, 2.0, 4096), {"factor": 2.0}),
    ("dynamic", 9001, NtkRope(PLAIN, 2.0, 4096), {"factor": 2.0}),
    (
        "llama3",
        100,
        Llama3Rope(PLAIN, 8.0, 1.0, 4.0, 1024),
        {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 1024},
    ),
    ("yarn", 100, YARN, {"factor": 8.0, "original_max_position_embeddings": 512}),
    (
        "yarn",
        100,
        replace(YARN, beta_fast=16.0, beta_slow=2.0, truncate=False),
        {
            "factor": 8.0,
            "original_max_position_embeddings": 512,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
            "truncate": False,
        },
    ),
]


@pytest.mark.parametrize(("base", "original"), [(20.0, 4000), (1e4, 100)])
def test_yarns_ramp_is_held_within_the_head(base: float, original: int) -> None:
    """So slow a base that the ramp would end beyond the last pair; so short a context that it would begin before 0."""
    ours = replace(YARN, plain=PlainRope(base, 62), original=original)
    theirs, _ = oracle("yarn", 10, factor=8.0, original_max_position_embeddings=original, rope_theta=base)
    np.testing.assert_allclose(rope.frequencies(ours, 10), theirs, rtol=2e-6)


@pytest.mark.parametrize(("kind", "length", "ours", "parameters"), TABLE)
def test_against_transformers(kind: str, length: int, ours: Rope, parameters: dict[str, Any]) -> None:
    theirs, factor = oracle(kind, length, **parameters)
    np.testing.assert_allclose(rope.frequencies(ours, length), theirs, rtol=2e-6)
    assert rope.magnitude(ours) == pytest.approx(factor, rel=1e-12)
    if length != 4096:  # dynamic NTK changes nothing within the original context
        assert not np.allclose(theirs, rope.frequencies(PLAIN, length), rtol=1e-3)


@pytest.mark.parametrize("length", [1024, 1025])
def test_longrope_against_transformers(length: int) -> None:
    ours = LongRope(PLAIN, SHORT, LONG, 1024, rope.longrope_magnitude(4096, 1024)[0])
    parameters = {
        "short_factor": list(SHORT),
        "long_factor": list(LONG),
        "original_max_position_embeddings": 1024,
        "factor": 4.0,
    }
    theirs, factor = oracle("longrope", length, **parameters)
    np.testing.assert_allclose(rope.frequencies(ours, length), theirs, rtol=2e-6)
    assert rope.magnitude(ours) == pytest.approx(factor, rel=1e-12)
    assert factor == pytest.approx(1.0954, abs=5e-5)


def test_the_length_chooses_once_for_every_position() -> None:
    """Position 3 turns alike wherever the run is cut, and differently in a run beyond the original length."""
    ours = LongRope(PLAIN, SHORT, LONG, 1024, 1.0)
    whole, _ = rope_angles(ours, np.arange(10), 2000)
    part, _ = rope_angles(ours, np.array([3]), 2000)
    short, _ = rope_angles(ours, np.array([3]), 10)
    assert (whole[3] == part[0]).all()
    assert not np.allclose(whole[3], short[0], atol=1e-3)


def test_divisors_of_a_file() -> None:
    got = rope.frequencies(DividedRope(PLAIN, LONG), 5)
    np.testing.assert_allclose(got * LONG, rope.frequencies(PLAIN, 5), rtol=1e-15)
    with pytest.raises(UsageError, match="31 divisors, found 2"):
        rope.frequencies(DividedRope(PLAIN, (1.0, 2.0)), 5)


def test_the_width_is_the_heads_and_the_base_is_data() -> None:
    assert rope.frequencies(PlainRope(1e5, 64), 1)[1] == pytest.approx(0.69783, abs=5e-6)
    assert rope.frequencies(PlainRope(1e5, 576), 1)[1] == pytest.approx(0.96081, abs=5e-6)


@pytest.mark.parametrize(("base", "longest"), [(1e4, 47_117), (1e5, 438_460)])
def test_wavelengths(base: float, longest: float) -> None:
    waves = rope.wavelengths(PlainRope(base, 64), 1)
    assert waves[0] == pytest.approx(2 * np.pi)
    assert waves[-1] == pytest.approx(longest, abs=0.5)


def test_two_ropes_of_one_model_differ_by_layer() -> None:
    """Gemma 3: base 1e4 in local, 1e6 in global layers, width 256; at position 100 pair 64 is base^(−1/2) · 100."""
    local, world = (rope_angles(PlainRope(base, 256), np.array([100]), 101) for base in (1e4, 1e6))
    assert np.arctan2(local[1], local[0])[0, 64] == pytest.approx(1.0, abs=1e-12)
    assert np.arctan2(world[1], world[0])[0, 64] == pytest.approx(0.1, abs=1e-12)


class TestYarnMagnitude:
    def test_an_explicit_factor_is_final(self) -> None:
        value, rule = rope.yarn_magnitude(128.0, attention_factor=1.4852, mscale=1.0, mscale_all_dim=1.0)
        assert (value, rule) == (1.4852, "attention_factor, as given")

    def test_both_coefficients_cancel(self) -> None:
        value, rule = rope.yarn_magnitude(16.0, mscale=1.0, mscale_all_dim=1.0)
        assert value == pytest.approx(1.0, abs=1e-12)
        assert rule == "mscale over mscale_all_dim"

    def test_coefficients_enter_as_transformers_has_them(self) -> None:
        parameters = {"factor": 40.0, "original_max_position_embeddings": 512, "mscale": 0.707, "mscale_all_dim": 1.3}
        value, _ = rope.yarn_magnitude(40.0, mscale=0.707, mscale_all_dim=1.3)
        assert value == pytest.approx(oracle("yarn", 10, **parameters)[1], rel=1e-12)
        assert value == pytest.approx(1.260809 / 1.479555, rel=1e-5)

    def test_factor_alone(self) -> None:
        value, rule = rope.yarn_magnitude(64.0)
        assert value == pytest.approx(1.4159, abs=5e-5)
        assert rule == "0.1·ln(factor) + 1"
        assert rope.yarn_magnitude(1.0)[0] == 1.0

    def test_one_coefficient_alone_is_named(self) -> None:
        value, rule = rope.yarn_magnitude(64.0, mscale=0.5)
        assert value == pytest.approx(1.4159, abs=5e-5)
        assert "alone is not used" in rule

    def test_cos_and_sin_carry_it_once(self) -> None:
        cos, sin = rope_angles(replace(YARN, magnitude=1.4852), np.arange(7), 7)
        np.testing.assert_allclose(np.hypot(cos, sin), 1.4852, rtol=1e-12)


def test_longrope_magnitude_rules() -> None:
    assert rope.longrope_magnitude(4096, 1024, 1.25) == (1.25, "attention_factor, as given")
    assert rope.longrope_magnitude(1024, 1024)[0] == 1.0
    assert rope.longrope_magnitude(131_072, 4096)[0] == pytest.approx(1.1902, abs=5e-5)  # Phi-3 128k


@pytest.mark.parametrize("width", [0, 7])
def test_a_width_without_pairs_is_refused(width: int) -> None:
    with pytest.raises(UsageError, match=f"found {width}"):
        rope.frequencies(PlainRope(1e4, width), 1)
