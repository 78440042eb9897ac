"""Faults planted in transformers' own code, recorded with its hooks: named by name, from much and from little."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MixtralConfig,
    OPTConfig,
    PretrainedConfig,
    PreTrainedModel,
    Qwen2Config,
)

from tests.compare.recording import recorded
from tests.oracle import opened, tiny
from whybox.compare.naming import Walk, Walker
from whybox.compare.observation import Observation, errors, observation
from whybox.compare.pieces import Described, alone
from whybox.compare.suspects import changes_something
from whybox.sites import sites_of
from whybox.testing import faults

IDS = tuple(np.random.default_rng(0).integers(0, 64, 32).tolist())
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
SHAPE: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_parameters": PLAIN,
    "tie_word_embeddings": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def sound() -> PreTrainedModel:
    return tiny(LlamaConfig(**SHAPE))


@pytest.fixture(scope="module")
def model(sound: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Described:
    folder: Path = tmp_path_factory.mktemp("llama")
    sound.save_pretrained(folder)
    engine = opened(folder).engine
    return engine.spec, engine.weights


def variant(sound: PreTrainedModel, **settings: object) -> PreTrainedModel:
    """The same weights under another config."""
    config = LlamaConfig(**{**SHAPE, **settings})
    twin = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    twin.load_state_dict(sound.state_dict())
    return twin


def scale(value: float) -> Callable[[Any], None]:
    def change(twin: Any) -> None:
        for layer in twin.model.layers:
            layer.self_attn.scaling = value

    return change


def exchange(twin: Any) -> None:
    for layer in twin.model.layers:
        layer.mlp.gate_proj, layer.mlp.up_proj = layer.mlp.up_proj, layer.mlp.gate_proj


def no_norm(twin: Any) -> None:
    twin.model.norm = torch.nn.Identity()


def tie(twin: Any) -> None:
    twin.lm_head.weight = torch.nn.Parameter(twin.model.embed_tokens.weight.clone())


def one_layer_eps(twin: Any) -> None:
    twin.model.layers[1].input_layernorm.variance_epsilon = 1e-3
    twin.model.layers[1].post_attention_layernorm.variance_epsilon = 1e-3


LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
PLANTED: dict[str, tuple[dict[str, object], Callable[[Any], None] | None]] = {
    "RoPE base 1e+06": ({"rope_parameters": {**PLAIN, "rope_theta": 1e6}}, None),
    "positions divided by 4": ({"rope_parameters": LINEAR}, None),
    "ε 1e-06 in every norm": ({"rms_norm_eps": 1e-6}, None),
    "gelu (erf) for the right activation": ({"hidden_act": "gelu"}, None),
    "gelu (tanh) for the right activation": ({"hidden_act": "gelu_pytorch_tanh"}, None),
    "scores without 1/√d": ({}, scale(1.0)),
    "scores times 0.2": ({}, scale(0.2)),
    "gate and up projection exchanged": ({}, exchange),
    "no norm before the head": ({}, no_norm),
    "the embedding used as head, though the file has its own": ({}, tie),
}


def planted(sound: PreTrainedModel, name: str) -> Observation:
    settings, change = PLANTED[name]
    twin = variant(sound, **settings)
    if change is not None:
        change(twin)
    return recorded(twin, IDS)


def names(walk: Walk) -> list[str]:
    return [each.fault.what for each in walk.named]


def kept(seen: Observation, *sites: str) -> Observation:
    return Observation(seen.ids, {key: value for key, value in seen.sites.items() if key[0] in sites})


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_of_transformers_is_named_from_its_hooks(model: Described, sound: PreTrainedModel, name: str) -> None:
    walk = Walker(model, planted(sound, name)).walk()
    assert names(walk) == [name]
    assert walk.left == ()


@pytest.mark.parametrize("name", PLANTED)
def test_logits_alone_are_enough_for_a_single_fault(model: Described, sound: PreTrainedModel, name: str) -> None:
    assert names(Walker(model, kept(planted(sound, name), "logits")).walk()) == [name]


def test_hidden_states_are_enough(model: Described, sound: PreTrainedModel) -> None:
    seen = kept(planted(sound, "positions divided by 4"), "embed", "resid_post", "logits")
    assert names(Walker(model, seen).walk()) == ["positions divided by 4"]


def test_a_fault_of_one_layer_is_named_with_its_layer(model: Described, sound: PreTrainedModel) -> None:
    twin = variant(sound)
    one_layer_eps(twin)
    walk = Walker(model, recorded(twin, IDS)).walk()
    assert [(each.fault.what, each.layers) for each in walk.named] == [("ε 0.001 in every norm", (1,))]


def test_the_sound_program_is_not_accused(model: Described, sound: PreTrainedModel) -> None:
    walk = Walker(model, recorded(variant(sound), IDS)).walk()
    assert (walk.parted, walk.named, walk.tried) == (None, (), ())


def test_bfloat16_is_rounding_where_it_is_known_and_only_there(model: Described, sound: PreTrainedModel) -> None:
    seen = recorded(variant(sound).to(torch.bfloat16), IDS)
    assert Walker(model, seen, "bf16").walk().parted is None
    assert Walker(model, seen, "fp32").walk().parted is not None


def test_a_corrupt_tensor_is_placed_and_nothing_is_accused(model: Described, sound: PreTrainedModel) -> None:
    twin = variant(sound)
    with torch.no_grad():
        twin.model.layers[1].mlp.down_proj.weight[8:16] = 0.1
    walk = Walker(model, recorded(twin, IDS)).walk()
    assert walk.named == ()
    assert walk.parted is not None
    assert (walk.parted.site, walk.parted.layer) == ("mlp_out", 1)
    assert [piece for piece, _ in walk.left] == ["layer 1"]


PAIRS = [
    (faults.eps(1e-6), faults.theta(1e6)),
    (faults.ROPE_PAIRING, faults.theta(5e5)),
    (faults.KV_HEADS_TILED, faults.softmax_in("bf16")),
    (faults.MASK_AFTER_SOFTMAX, faults.FINAL_NORM_MISSING),
    (faults.GAIN_TWICE, faults.GATE_UP_EXCHANGED),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " + ".join(each.name for each in pair))
def test_two_faults_are_peeled_one_after_the_other(model: Described, pair: tuple[faults.Fault, faults.Fault]) -> None:
    both = faults.together(pair)
    seen = observation(both.engine_for(*model).run(IDS, [site.name for site in sites_of(model[0])]))
    found = " + ".join(each.fault.name for each in Walker(model, seen).walk().named)
    assert set(found.split(" + ")) == {each.name for each in pair}


SINGLE = [each for each in faults.FAULTS.values() if each.cached is None]


@pytest.mark.parametrize("fault", SINGLE, ids=lambda fault: fault.name)
def test_every_known_fault_is_named_or_changes_nothing(model: Described, fault: faults.Fault) -> None:
    run = fault.engine_for(*model).run(IDS, [site.name for site in sites_of(model[0])])
    sound = faults.NO_FAULT.engine_for(*model).run(IDS)
    walk = Walker(model, observation(run)).walk()
    if not changes_something(fault, *model) or np.array_equal(run.logits, sound.logits):
        assert walk.named == ()
        return
    assert len(walk.named) == 1
    named = walk.named[0].fault.engine_for(*model).run(IDS)
    np.testing.assert_allclose(named.logits, run.logits, atol=1e-4)


def test_a_number_next_to_the_right_one_is_found(model: Described) -> None:
    """Nearer to it than any of those that are scanned: Gemma's embeddings times 25.25 for 25.298 are such a fault."""
    run = faults.embed_scale(1.002).engine_for(*model).run(IDS, [site.name for site in sites_of(model[0])])
    (named,) = Walker(model, observation(run)).walk().named
    assert named.fault.name == "embed-scale"
    np.testing.assert_allclose(named.fault.engine_for(*model).run(IDS).logits, run.logits, atol=1e-4)


SMALL = {"vocab_size": 31, "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**SMALL, "num_key_value_heads": 2}
CONFIGS: dict[str, PretrainedConfig] = {
    "gpt2": GPT2Config(vocab_size=31, n_positions=32, n_embd=24, n_layer=2, n_head=4),
    "bloom": BloomConfig(vocab_size=31, hidden_size=24, n_layer=2, n_head=4),
    "gpt-neox": GPTNeoXConfig(**{**SMALL, "hidden_size": 32}),
    "opt": OPTConfig(
        vocab_size=31, hidden_size=24, ffn_dim=20, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=24
    ),
    "gemma2": Gemma2Config(**GROUPED, head_dim=6, sliding_window=5),
    "qwen2": Qwen2Config(**GROUPED),
    "mixtral": MixtralConfig(**GROUPED, num_local_experts=3, num_experts_per_tok=2),
}


@pytest.mark.parametrize("family", CONFIGS)
def test_every_suspect_can_be_imposed_on_every_family(family: str, tmp_path: Path) -> None:
    """No suspect fails on a family that lacks what it changes, and the sound model is accused of none."""
    tiny(CONFIGS[family]).save_pretrained(tmp_path)
    engine = opened(tmp_path).engine
    described: Described = (engine.spec, engine.weights)
    ids = tuple(token % engine.spec.vocab for token in IDS[:12])
    seen = observation(engine.run(ids, [site.name for site in sites_of(engine.spec)]))
    walker = Walker(described, seen)
    assert walker.walk().parted is None
    piece = walker.pieces[1]
    for fault in [each.fault for each in walker.fixed] + [f.make(f.tried[0]) for f in walker.families]:
        imposed = errors(alone(piece, described, seen, fault), seen, engine.spec)
        assert imposed, fault.what
