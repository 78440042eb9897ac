"""Packed weights: every role where it belongs, products against plain ones, each precision within its bound."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.engine import random_models
from whybox.engine.fast.packed import (
    Packed,
    PackedMlp,
    PackedMoe,
    PackedNorm,
    norm,
    pack,
    pack_streamed,
    shared_views,
)
from whybox.engine.fast.precision import Precision
from whybox.engine.fast.products import Dense, Int4, Int8, Linear, Onednn, dense, linear, quantised, quantised_4bit
from whybox.errors import UsageError
from whybox.parts.norm import layer_norm, rms_norm
from whybox.spec import Activation, Layer, LearnedPositions, Mlp, Moe, Norm, NormKind, QkNorm, Spec
from whybox.weights import Weights, parameters

CPU = torch.device("cpu")
GENERATOR = torch.Generator().manual_seed(5)


def drawn(spec: Spec) -> Weights:
    return random_models.engine(spec, dtype=np.float32).weights


def full_spec() -> Spec:
    """Every optional parameter there is: biases, norms with bias, qk-norm, sinks, positions, an untied head."""
    plain = random_models.spec(2, bias=True, out_bias=True, qk_norm=QkNorm.PER_HEAD, sinks=True)
    norm_ = Norm(NormKind.LAYER, 1e-5, bias=True)
    mlp = Mlp(17, Activation.GELU_TANH, gated=False, bias=True)
    layers = tuple(replace(layer, mlp=mlp, norm=norm_) for layer in plain.layers)
    return replace(
        plain,
        layers=layers,
        final_norm=norm_,
        embed_norm=norm_,
        positions=LearnedPositions(64),
        tied=False,
        head_bias=True,
    )


def moe_spec() -> Spec:
    plain = random_models.spec(2)
    moe = Moe(experts=3, active=2, width=7, activation=Activation.SILU, normalise=True)
    return replace(plain, layers=tuple(replace(layer, mlp=moe) for layer in plain.layers))


def gated_bias_spec() -> Spec:
    plain = random_models.spec(2)
    mlp = Mlp(17, Activation.SILU, gated=True, bias=True)
    return replace(plain, layers=tuple(replace(layer, mlp=mlp) for layer in plain.layers))


SPECS = {"plain": random_models.spec(2), "full": full_spec(), "moe": moe_spec(), "gated bias": gated_bias_spec()}


def matrix(w: Linear) -> np.ndarray:
    """What the product multiplies by, seen through the product: its answer to the unit vectors."""
    plain = dense(w)
    return linear(torch.eye(plain.shape[1], dtype=plain.dtype), replace(w, bias=None)).float().T.numpy()


def products(packed: Packed) -> dict[tuple[str, ...], Linear]:
    """Every matrix of the model with the roles whose rows it holds."""
    found: dict[tuple[str, ...], Linear] = {("embed" if packed.spec.tied else "head",): packed.head}
    for i, layer in enumerate(packed.layers):
        found[tuple(f"layers.{i}.{r}" for r in ("query", "key", "value"))] = layer.qkv
        found[(f"layers.{i}.out",)] = layer.out
        if isinstance(layer.mlp, PackedMoe):
            found[(f"layers.{i}.router",)] = layer.mlp.router
            for e, expert in enumerate(layer.mlp.experts):
                found |= mlp_products(f"layers.{i}.experts.{e}.", expert, True)
        else:
            found |= mlp_products(f"layers.{i}.", layer.mlp, gated(layer.layer))
    return found


def gated(layer: Layer) -> bool:
    return isinstance(layer.mlp, Moe) or layer.mlp.gated


def mlp_products(place: str, mlp: PackedMlp, gated: bool) -> dict[tuple[str, ...], Linear]:
    wide = ("gate", "up") if gated else ("up",)
    return {tuple(place + role for role in wide): mlp.gate_up, (f"{place}down",): mlp.down}


def rows(weights: Weights, roles: tuple[str, ...]) -> np.ndarray:
    """Roles below one another as [out in]; `out` [c h d] has the width h·d."""
    parts = [weights[role] for role in roles]
    return np.concatenate(
        [
            part.reshape(len(part), -1) if role.endswith(".out") else part.reshape(-1, part.shape[-1])
            for role, part in zip(roles, parts, strict=True)
        ]
    )


@pytest.mark.parametrize("name", SPECS)
def test_every_matrix_is_where_it_belongs(name: str) -> None:
    spec = SPECS[name]
    weights = drawn(spec)
    for roles, product in products(pack(spec, weights, Precision.FP32, CPU)).items():
        np.testing.assert_array_equal(matrix(product), rows(weights, roles), err_msg=str(roles))


@pytest.mark.parametrize("name", SPECS)
def test_every_bias_and_gain_is_where_it_belongs(name: str) -> None:
    """All parameters that are no matrix, by the numbers that the packed model holds."""
    spec = SPECS[name]
    weights = drawn(spec)
    packed = pack(spec, weights, Precision.FP32, CPU)
    vectors = [packed.head.bias, packed.positions, packed.embed, *of_norm(packed.embed_norm)]
    vectors += of_norm(packed.final_norm)
    for layer in packed.layers:
        for held in layer.norms.values():
            vectors += of_norm(held)
        vectors += [layer.query_norm, layer.key_norm, layer.sinks, layer.qkv.bias, layer.out.bias]
        if isinstance(layer.mlp, PackedMlp):
            vectors += [layer.mlp.gate_up.bias, layer.mlp.down.bias]
    found = sorted(float(x) for v in vectors if v is not None for x in v.flatten())
    matrices = {role for roles in products(packed) for role in roles} - {"embed"}
    expected = sorted(float(x) for role, a in weights.items() if role not in matrices for x in a.flatten())
    assert found == expected


def of_norm(held: PackedNorm | None) -> list[torch.Tensor | None]:
    return [] if held is None else [held.gain, held.bias]


def test_biases_follow_the_rows_of_their_matrix() -> None:
    spec = full_spec()
    weights = drawn(spec)
    layer = pack(spec, weights, Precision.FP32, CPU).layers[1]
    expected = np.concatenate([weights[f"layers.1.{r}_bias"].ravel() for r in ("query", "key", "value")])
    assert layer.qkv.bias is not None
    assert layer.qkv.bias.tolist() == expected.tolist()


@pytest.mark.parametrize("precision", list(Precision))
def test_activations_keep_the_stated_type(precision: Precision) -> None:
    if precision is Precision.FP16:
        pytest.skip("float16 is for GPUs")
    packed = pack(SPECS["plain"], drawn(SPECS["plain"]), precision, CPU)
    x = packed.embed[:2]
    assert x.dtype is precision.compute
    layer = packed.layers[0]
    assert linear(norm(x, layer.norms["attn_norm"]), layer.qkv).dtype is precision.compute
    assert precision.emulates


def test_a_precision_that_the_device_is_no_good_at_is_not_packed() -> None:
    with pytest.raises(UsageError, match="fp16 on a GPU"):
        pack(SPECS["plain"], drawn(SPECS["plain"]), Precision.FP16, CPU)


def test_codes_are_within_half_a_step() -> None:
    weight = torch.randn(23, 64, generator=GENERATOR)
    weight[3] = 0
    packed = quantised(weight, None)
    step = packed.scale.float()[:, None]
    assert (packed.codes.abs().amax(1) <= 127).all()
    assert ((packed.codes.float() * step - weight).abs() <= 0.5001 * step + 0.004 * weight.abs().amax(1, True)).all()
    assert (packed.codes[3] == 0).all()


@pytest.mark.parametrize("count", [1, 2, 5, 16, 64, 200])
@pytest.mark.parametrize("bias", [None, torch.linspace(-1, 1, 48).bfloat16()])
def test_int8_is_the_product_with_the_rounded_weights(count: int, bias: torch.Tensor | None) -> None:
    packed = quantised(torch.randn(48, 64, generator=GENERATOR), bias)
    x = torch.randn(count, 64, generator=GENERATOR).bfloat16()
    exact = x.double() @ (packed.codes.double() * packed.scale.double()[:, None]).T
    exact += 0 if bias is None else bias.double()
    error = (linear(x, packed).double() - exact).abs()
    assert (error <= 0.01 * exact.abs() + 0.05).all()
    assert linear(x.view(1, count, 64), packed).shape == (1, count, 48)


def every_kind(out: int, width: int, bias: torch.Tensor | None) -> list[Linear]:
    """The same matrix as each kind of weight that a CPU uses."""
    weight = torch.randn(out, width, generator=GENERATOR)
    reordered = torch.ops.mkldnn._reorder_linear_weight(weight.bfloat16())
    low = None if bias is None else bias.bfloat16()
    rounded = [quantised(weight, low), quantised_4bit(weight, low)]
    return [Dense(weight, bias), Onednn(weight, bias), Onednn(reordered, low), *rounded]


@pytest.mark.parametrize("count", [1, 3, 16, 40])
@pytest.mark.parametrize(("out", "width"), [(7, 13), (48, 64)])
@pytest.mark.parametrize("biased", [False, True])
def test_every_kind_is_the_plain_product(count: int, out: int, width: int, biased: bool) -> None:
    """Rows may have any leading axes. In bfloat16 each result is rounded once, or twice: 2⁻⁷."""
    bias = torch.randn(out, generator=GENERATOR) if biased else None
    for product in every_kind(out, width, bias):
        x = torch.randn(count, 2, width, generator=GENERATOR).to(dense(product).dtype)
        exact = x.double() @ dense(product).double().T + (0 if product.bias is None else product.bias.double())
        tolerance = 2e-6 if x.dtype is torch.float32 else 2.0**-7
        result = linear(x, product)
        assert result.dtype is x.dtype
        assert ((result.double() - exact).abs() <= tolerance * (exact.abs() + 8)).all()


def test_gradients_are_those_of_the_plain_product() -> None:
    for product in every_kind(16, 32, torch.randn(16, generator=GENERATOR)):
        x = torch.randn(3, 5, 32, generator=GENERATOR).to(dense(product).dtype).requires_grad_()
        pull = torch.randn(3, 5, 16, generator=GENERATOR).to(x.dtype)
        out = linear(x, product)
        assert torch.equal(out, linear(x.detach(), product))
        (out * pull).sum().backward()
        assert x.grad is not None
        exact = pull.double() @ dense(product).double()
        tolerance = 2e-6 if x.dtype is torch.float32 else 2.0**-7
        assert ((x.grad.double() - exact).abs() <= tolerance * (exact.abs() + 8)).all()


def blocks(steps: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    """A [16 96] matrix on 4-bit grids, both ends of each grid in use."""
    codes = torch.randint(0, 16, (16, 3, 32), generator=GENERATOR)
    codes[..., 0], codes[..., 1] = 0, 15
    return ((codes - 8) * steps + centre).flatten(1)


@pytest.mark.parametrize("centred", [False, True])
def test_four_bit_files_keep_their_codes(centred: bool) -> None:
    """Of a number on Q4_1's or Q4_0's grid only scale and centre are rounded, to 8 significant bits."""
    steps = torch.rand(16, 3, 1, generator=GENERATOR) + 0.1
    centre = torch.zeros(1) if centred else torch.randn(16, 3, 1, generator=GENERATOR)
    weight = blocks(-steps if centred else steps, centre)
    packed = quantised_4bit(weight, None)
    assert isinstance(packed, Int4)
    exact = packed.scales.float().transpose(0, 1)
    largest = (exact[..., 0].abs() * 8 + exact[..., 1].abs()).repeat_interleave(32, 1)
    error = (dense(packed).float() - weight).abs()
    assert (error <= 2.0**-7 * largest).all()
    assert packed.codes.numel() == weight.numel() / 2


def test_four_bits_round_to_the_nearest_of_sixteen() -> None:
    weight = torch.randn(16, 64, generator=GENERATOR)
    weight[2] = 0
    packed = quantised_4bit(weight, None)
    grouped = weight.unflatten(1, (2, 32))
    step = ((grouped.amax(-1) - grouped.amin(-1)) / 15).repeat_interleave(32, 1)
    error = (dense(packed).float() - weight).abs()
    assert (error <= 0.5 * step + 0.02 * weight.abs().amax()).all()
    assert 0.2 < (error / step)[:2].square().mean().sqrt() < 0.35  # uniform rounding: 1/√12
    assert (dense(packed)[2] == 0).all()


def test_shapes_that_four_bits_cannot_hold_get_eight() -> None:
    assert isinstance(quantised_4bit(torch.randn(7, 64, generator=GENERATOR), None), Int8)
    assert isinstance(quantised_4bit(torch.randn(16, 13, generator=GENERATOR), None), Int8)


@pytest.mark.parametrize("count", [2, 5, 16, 128])
def test_a_neighbour_row_cannot_matter(count: int) -> None:
    for product in [*every_kind(48, 64, None), *every_kind(7, 13, None)]:
        x = torch.randn(count, len(dense(product).t()), generator=GENERATOR).to(dense(product).dtype)
        other = x.clone()
        other[1:] = torch.randn(count - 1, x.shape[1], generator=GENERATOR).to(x.dtype)
        assert torch.equal(linear(x, product)[0], linear(other, product)[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", list(NormKind))
def test_norms_are_those_of_the_parts(dtype: torch.dtype, kind: NormKind) -> None:
    """In bfloat16 the sums are still single precision: the only error is the last rounding, 2⁻⁹."""
    x = (100 * torch.randn(2, 3, 61, generator=GENERATOR)).to(dtype)
    gain, bias = (torch.randn(61, generator=GENERATOR).to(dtype) for _ in range(2))
    held = PackedNorm(gain, bias if kind is NormKind.LAYER else None, Norm(kind, 1e-5, kind is NormKind.LAYER))
    x64, gain64, bias64 = (t.double().numpy() for t in (x, gain, bias))
    expected = rms_norm(x64, gain64, 1e-5) if kind is NormKind.RMS else layer_norm(x64, gain64, bias64, 1e-5)
    ours = norm(x, held)
    assert ours.dtype is dtype
    rounding = {torch.float64: 1e-14, torch.float32: 2e-6, torch.bfloat16: 2.0**-8}[dtype]
    np.testing.assert_allclose(ours.double().numpy(), expected, rtol=rounding, atol=rounding * 0.5)


@pytest.mark.parametrize("name", SPECS)
def test_sharing_costs_no_memory_and_loses_no_number(name: str) -> None:
    """Every matrix of the views lies within a packed tensor, as it was."""
    weights = drawn(SPECS[name])
    packed = pack(SPECS[name], weights, Precision.FP32, CPU)
    views = shared_views(packed, weights)
    assert set(views) == set(parameters(SPECS[name]))
    for role, array in weights.items():
        assert views[role].shape == array.shape
        assert (views[role] == array).all()
    for roles, product in products(packed).items():
        for role in roles:
            assert inside(views[role], dense(product)), role


def inside(view: np.ndarray, tensor: torch.Tensor) -> bool:
    first = tensor.data_ptr()
    return first <= view.__array_interface__["data"][0] < first + tensor.nbytes


def test_shared_views_cannot_be_written() -> None:
    weights = drawn(SPECS["plain"])
    views = shared_views(pack(SPECS["plain"], weights, Precision.FP32, CPU), weights)
    with pytest.raises(ValueError, match="read-only"):
        views["layers.0.key"][0] = 0


def test_other_precisions_share_nothing() -> None:
    weights = drawn(SPECS["plain"])
    assert shared_views(pack(SPECS["plain"], weights, Precision.BF16, CPU), weights) is weights
    assert shared_views(pack_streamed(SPECS["plain"], weights, Precision.FP32, CPU), weights) is weights


@pytest.mark.parametrize("precision", [Precision.FP32, Precision.BF16, Precision.INT8, Precision.INT4])
def test_streamed_layers_are_the_packed_ones(precision: Precision) -> None:
    spec = SPECS["moe"]
    weights = drawn(spec)
    whole, streamed = pack(spec, weights, precision, CPU), pack_streamed(spec, weights, precision, CPU)
    assert len(streamed.layers) == len(whole.layers) == 2
    for (roles, one), (_, other) in zip(products(whole).items(), products(streamed).items(), strict=True):
        np.testing.assert_array_equal(matrix(one), matrix(other), err_msg=str(roles))
    assert streamed.layers[-1] is not streamed.layers[-1]
    with pytest.raises(IndexError):
        streamed.layers[2]


def test_packing_read_only_arrays_warns_of_nothing() -> None:
    weights = drawn(SPECS["plain"])
    for role in weights:
        weights[role].flags.writeable = False
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pack(SPECS["plain"], weights, Precision.FP32, CPU)
    assert told == []
