"""KV cache, FLOPs, scores: worked by hand, by brute force over tokens, against the engine and torch's own counter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.random_models import IDS, engine, spec
from tests.models import model_path
from tests.real import real
from whybox.engine.memory import cache_bytes_per_token
from whybox.size import cache, held, parameters, roofline, work
from whybox.size.load import Load, Machine
from whybox.size.outline import Block, Grouped, Latent, Matrix, Outline, of_spec
from whybox.size.source import Wish, find
from whybox.size.units import DTYPES
from whybox.spec import Activation, Moe, Spec

SMOLLM2 = pytest.param("smollm2", marks=pytest.mark.model)
GEMMA = pytest.param("gemma3-270m", marks=pytest.mark.gemma)
BOTH = pytest.mark.parametrize("name", [SMOLLM2, GEMMA])
FP32 = DTYPES["fp32"]


def outline(name: str) -> Outline:
    return find(Wish(str(model_path(name)))).outline


def toy(window: int | None = None, heads: int = 3, kv_heads: int = 1) -> Outline:
    """Two layers, the first through a window; c 10, d 5."""
    a = Grouped(heads, kv_heads, 5)
    matrix = Matrix("query", 15, 10, "attention")
    return Outline("toy", 10, 7, 64, (Block(a, (matrix,), 4, window), Block(a, (matrix,), 4)), 10, tied=True)


# Parameters


@BOTH
def test_facts_of_the_two_files(name: str) -> None:
    """CASES: parameters, embedding, without, counted twice, bits, matrix FLOPs."""
    facts = {
        "smollm2": (134_515_008, 28_311_552, 106_203_456, 162_826_560, 5.744, 268_959_744),
        "gemma3-270m": (268_098_176, 167_772_160, 100_326_016, 435_870_336, 7.358, 536_084_480),
    }
    found = find(Wish(str(model_path(name))))
    of = found.outline
    counted = [
        parameters.total(of),
        parameters.embedding(of),
        parameters.without_embedding(of),
        parameters.used_twice(of),
    ]
    assert [figure.value for figure in counted] == list(facts[name][:4])
    nbytes, bits = parameters.stored(of, found.nbytes)
    assert nbytes.value == sum(share.nbytes for share in found.types)
    assert bits.value == pytest.approx(facts[name][4], abs=5e-4)
    assert work.matrices(of).value == facts[name][5]
    assert parameters.active(of).value == facts[name][0]


@BOTH
def test_the_outline_of_a_file_is_that_of_its_spec(name: str) -> None:
    assert outline(name) == of_spec(real(name).spec)
    assert parameters.total(outline(name)).value == sum(array.size for array in real(name).weights.values())


def mixture() -> Spec:
    of = spec(layers=2)
    return replace(of, layers=(replace(of.layers[0], mlp=Moe(7, 2, 11, Activation.SILU, normalise=True)),) * 2)


def test_sleeping_experts_are_not_active() -> None:
    of = of_spec(mixture())
    assert parameters.total(of).value - parameters.active(of).value == 2 * 5 * 3 * 11 * 13
    assert parameters.embedding(replace(of, tied=False)).value == 2 * 19 * 13


@pytest.mark.parametrize("of", [spec(), replace(spec(), tied=False), mixture()])
def test_parameters_are_the_arrays(of: Spec) -> None:
    assert parameters.total(of_spec(of)).value == sum(array.size for array in engine(of).weights.values())


def test_weights_in_a_type() -> None:
    of = toy()
    total = parameters.total(of).value
    assert total == 7 * 10 + 2 * (150 + 4) + 10
    assert parameters.in_type(of, DTYPES["fp16"])[0].value == 2 * total
    assert parameters.in_type(of, DTYPES["int4"])[0].value == -(-total // 2)
    assert parameters.in_type(of, DTYPES["q4_0"])[0].value == -(-total * 18 // 32)
    assert parameters.in_type(of, DTYPES["q4_0"])[1].value == pytest.approx(4.5, abs=0.05)


def test_a_step_reads_the_experts_that_its_tokens_are_sent_to() -> None:
    of = of_spec(mixture())
    everything, one = parameters.total(of).value, parameters.active(of).value
    assert parameters.read_at_a_step(of, 1) == pytest.approx(one, abs=1e-6)
    assert one < parameters.read_at_a_step(of, 3) < parameters.read_at_a_step(of, 30) < everything
    assert parameters.read_at_a_step(of, 10_000) == pytest.approx(everything, rel=1e-9)
    untied = replace(of, tied=False)
    assert parameters.read_at_a_step(untied, 1) == pytest.approx(one, abs=1e-6)  # one row of the embedding, the head


# KV cache


@pytest.mark.gemma
def test_gemma_keeps_the_window_or_reserves_all() -> None:
    of = outline("gemma3-270m")
    assert cache.per_token(of, Load(1)).value == cache.per_request(of, Load(1)).value == 18_432
    assert cache.per_request(of, Load(4096)).value == 20_447_232
    assert cache.reserved(of, Load(4096)).value == 75_497_472
    assert cache.kind(of) == "MQA, window 512"
    assert work.attention(of, Load(4096)).value == 4096 * (3 * 4096 + 15 * 512)
    assert cache.as_mha(of, Load(1)).value == 4 * 18_432


@pytest.mark.model
def test_smollm2_at_its_context() -> None:
    of = outline("smollm2")
    assert cache.per_token(of, Load(1)).value == 23_040
    assert cache.per_request(of, Load(8192)).value == 188_743_680
    assert cache.as_mha(of, Load(1)).value == 69_120
    assert work.attention(of, Load(100)).value == 69_120 * 100
    assert cache.per_token(of, Load(1, cache=DTYPES["fp8"])).value == 11_520
    assert cache.per_token(of, Load(1, cache=DTYPES["q8_0"])).value == 23_040 * 34 // 64


@BOTH
@pytest.mark.parametrize("tokens", [7, 40])
def test_the_cache_of_the_engine_is_as_large(name: str, tokens: int) -> None:
    model = real(name)
    trace = model.run(list(range(100, 100 + tokens)))
    assert held_by(trace.cache) == cache.per_request(of_spec(model.spec), Load(tokens, cache=FP32)).value
    assert cache_bytes_per_token(model.spec, 4) == cache.per_token(of_spec(model.spec), Load(1, cache=FP32)).value


@pytest.mark.parametrize("window", [None, 3, 5, 100])
def test_the_cache_of_a_random_model_lets_go_what_leaves_the_window(window: int | None) -> None:
    of = spec(window=window)
    trace = engine(of).run(IDS)
    expected = cache.per_request(of_spec(of), Load(len(IDS), cache=DTYPES["fp64"])).value
    assert held_by(trace.cache) == expected
    pattern = engine(of).run(IDS, see=["pattern"])["pattern", 0]
    assert held.scores(of_spec(of), Load(len(IDS), weights=DTYPES["fp64"])).value == pattern.nbytes


def held_by(kept: object) -> int:
    """Bytes of the keys and values of a cache of the reference engine."""
    return sum(layer.key.nbytes + layer.value.nbytes for layer in kept.layers)  # type: ignore[attr-defined]


def test_blocks_and_their_waste() -> None:
    """33 tokens in blocks of 16: 48 slots in both layers; a window of 20 takes 32 in the first."""
    load = Load(33, batch=4)
    assert cache.paged(toy(), load).value == 4 * 2 * 48 * 2 * 5 * 2
    assert cache.waste(toy(), load).value == 4 * 2 * 15 * 2 * 5 * 2
    assert cache.most_waste(toy(), load).value == 2 * 15 * 2 * 5 * 2
    assert cache.paged(toy(window=20), load).value == 4 * (32 + 48) * 2 * 5 * 2
    assert cache.blocks(toy(), load).value == 3
    assert cache.waste(toy(), Load(48, batch=4)).value == 0


def test_a_shared_beginning_is_kept_once() -> None:
    load = Load(40, batch=3, shared=20)
    each = 2 * 5 * 2
    assert cache.of_batch(toy(), load).value == 2 * (20 + 3 * 20) * each
    assert cache.saved(toy(), load).value == 2 * 2 * 20 * each
    # in blocks of 16 only the first 16 tokens can be shared: 16 + 3 · 32
    assert cache.paged(toy(), load).value == 2 * (16 + 3 * 32) * each
    # a window of 8 has let the beginning go
    assert cache.of_batch(toy(window=8), load).value == (3 * 8 + 20 + 3 * 20) * each
    assert cache.of_batch(toy(), replace(load, batch=1)).value == cache.per_request(toy(), load).value


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 90), st.integers(1, 6), st.integers(1, 20), st.integers(0, 90), st.sampled_from([None, 1, 7, 30]))
def test_a_cache_is_what_its_tokens_are(n: int, batch: int, block: int, shared: int, window: int | None) -> None:
    """By brute force: which tokens of which request are kept, and which of these are the same."""
    load, of = Load(n, batch, min(shared, n), block=block), toy(window=window)
    slots = set()
    for layer, each in enumerate(of.blocks):
        kept = range(max(0, n - (each.window or n)), n)
        slots |= {(layer, 0 if t < load.shared else b, t) for b in range(batch) for t in kept}
    assert cache.of_batch(of, load).value == len(slots) * 2 * 5 * 2
    assert cache.of_batch(of, load).value + cache.saved(of, load).value == batch * cache.per_request(of, load).value
    paged, least = cache.paged(of, load).value, cache.of_batch(of, load).value
    assert least <= paged <= least + batch * cache.most_waste(of, load).value + (batch - 1) * 2 * (block - 1) * 20


def test_a_latent_is_kept_once_for_all_heads() -> None:
    a = Latent(heads=128, rank=512, plain=128, turned=64, value=128)
    of = replace(toy(), blocks=(Block(a, (), 0),) * 61)
    assert cache.per_token(of, Load(1)).value == 70_272
    assert cache.as_mha(of, Load(1)).value == 61 * 128 * (192 + 128) * 2
    assert cache.kind(of) == "MLA"


def test_rows_that_concatenation_copies() -> None:
    assert cache.rows_copied(Load(4096)).value == 8_390_656 == sum(range(1, 4097))


# FLOPs


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.sampled_from([None, 1, 4, 25]))
def test_pairs_by_brute_force(n: int, window: int | None) -> None:
    block = toy(window=window).blocks[0]
    seen = [min(i + 1, window or n) for i in range(n)]
    assert work.pairs_of(block, n) == sum(seen)
    assert work.prefixes_of(block, n) == sum(sum(seen[: t + 1]) for t in range(n))


def test_a_prompt_is_its_tokens_one_by_one_but_for_their_logits() -> None:
    of = toy(window=4)
    steps = sum(work.decode(of, Load(t)).value for t in range(1, 31))
    assert work.prefill_all_logits(of, Load(30)).value == steps
    assert work.prefill(of, Load(30)).value == steps - 29 * work.head(of).value
    assert work.prefill(of, Load(1)).value == work.decode(of, Load(1)).value


def test_torch_counts_the_same() -> None:
    """A tiny Llama, eager attention: torch counts what it computes, also the half of n · n that a mask takes away."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import LlamaConfig, LlamaForCausalLM

    numbers = {
        "hidden_size": 24,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "num_hidden_layers": 3,
        "intermediate_size": 40,
        "vocab_size": 37,
        "max_position_embeddings": 64,
    }
    of, n = find(Wish("llama", numbers)).outline, 11
    model = LlamaForCausalLM(LlamaConfig(**numbers, attn_implementation="eager"))
    with torch.no_grad(), FlopCounterMode(display=False) as counted:
        model(torch.arange(n)[None])
    ours = work.prefill_all_logits(of, Load(n)).value
    full = sum(2 * a.heads * 2 * a.width * (n * n - n * (n + 1) // 2) for a in [b.attention for b in of.blocks])
    assert counted.get_total_flops() == ours + full


@pytest.mark.model
def test_ratios_that_are_often_quoted() -> None:
    """Without a cache 50 × at 100, 477 × at 1,000, 1,737 × at 4,000; 4k → 128k: attention 1,024 ×, a prompt 429 ×."""
    of = outline("smollm2")
    for n, ratio in ((100, 50), (1000, 477), (4000, 1737)):
        assert round(work.without_cache(of, Load(n)).value) == pytest.approx(ratio, abs=1)
    short, long = Load(4096), Load(131_072)
    assert round(work.without_head(of, 131_072) / work.without_head(of, 4096)) == 429
    scores = [held.scores(of, load).value for load in (short, long)]
    assert scores[1] == 1024 * scores[0]
    assert work.attention(of, long).value == 32 * work.attention(of, short).value


# What is held


def test_scores_of_32_heads_at_8192() -> None:
    """67,108,864 numbers: 128 MiB a head and layer at 16 bit, 4 GiB for 32 heads; tiled 4 MiB."""
    of = toy(heads=32, kv_heads=8)
    load = Load(8192)
    assert held.scores_of_head(load).value == 67_108_864 * 2 == 128 << 20
    assert held.scores(of, load).value == 4 << 30
    assert held.patterns(of, load).value == 8 << 30
    assert held.flash(of, load).value == 32 * 8192 * 2 * 4
    assert held.scores_of_head(replace(load, weights=FP32)).value == 256 << 20


def test_tiled_attention_needs_memory_that_grows_with_the_text() -> None:
    of = toy()
    assert held.flash(of, Load(2000)).value == 2 * held.flash(of, Load(1000)).value
    assert held.scores(of, Load(2000)).value == 4 * held.scores(of, Load(1000)).value


def test_what_a_layer_holds_of_a_prompt() -> None:
    """12 tokens, c 13, MLP wider than attention."""
    of = of_spec(spec())
    mlp = sum(m.out for m in of.blocks[0].matrices if m.sublayer == "mlp")
    attention = sum(m.out for m in of.blocks[0].matrices if m.sublayer == "attention")
    assert held.activations(of, Load(12)).value == 12 * (13 + max(mlp, attention)) * 2


def test_naive_scores_are_what_numpy_holds() -> None:
    import tracemalloc

    from whybox.parts.softmax import softmax

    n, scores = 600, np.zeros((3, 600, 600), np.float32)
    tracemalloc.start()
    kept = softmax(scores, np.ones((n, n), bool))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = held.scores(toy(), Load(n, weights=FP32)).value
    assert kept.nbytes == predicted
    assert predicted <= peak <= 4 * predicted


# Roofline


@pytest.mark.parametrize(("heads", "kv_heads", "each"), [(8, 8, 1), (9, 3, 3), (64, 8, 8)])
def test_attention_does_as_many_flops_a_byte_as_heads_share_a_key(heads: int, kv_heads: int, each: int) -> None:
    assert roofline.of_attention(toy(heads=heads, kv_heads=kv_heads), Load(500)).value == each
    assert roofline.of_attention(toy(heads=heads, kv_heads=kv_heads), Load(500, batch=9)).value == each


def test_times_by_hand() -> None:
    """One step of 3 requests: 3 · FLOPs of a token; weights once, three caches."""
    of, load = toy(), Load(50, batch=3)
    one = roofline.one_pass(of, load, 1000, "decode")
    assert one.flops == 3 * (2 * (2 * 150 + 70) + 2 * 2 * 3 * 10 * 50)
    assert one.nbytes == 1000 + 3 * 2 * 50 * 2 * 5 * 2
    slow = roofline.time(one, Machine(bandwidth=100, flops=10**12))
    fast = roofline.time(one, Machine(bandwidth=10**12, flops=100))
    assert slow is not None
    assert fast is not None
    assert (slow.limit, slow.seconds.value, slow.rate.value) == ("memory", one.nbytes / 100, 300 / one.nbytes)
    assert (fast.limit, fast.seconds.value) == ("compute", one.flops / 100)
    assert roofline.time(one, Machine(flops=100)) is None


def test_what_requests_share_is_read_once() -> None:
    of = toy()
    alone = roofline.one_pass(of, Load(30), 0, "prefill").flops
    together = roofline.one_pass(of, Load(30, batch=4, shared=30), 0, "prefill").flops
    assert roofline.one_pass(of, Load(30, batch=4), 0, "prefill").flops == 4 * alone
    assert together == alone + 3 * work.head(of).value
