"""Faults that are not of our list: planted in transformers' own configs and code, and recorded by its own means.

Nothing of `whybox.testing` takes part: what is found cannot have been found by knowing how it was planted.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from transformers.models.llama import modeling_llama

from bench.mutations.ours import against, ids_of
from bench.mutations.row import Planted, Row
from bench.mutations.subjects import DRAWN, LINEAR, PLAIN, built, model_of, split, twin
from bench.rebuilt import gemma_in_transformers, llama_in_transformers
from whybox.compare.comparison import Comparison
from whybox.compare.observation import Observation
from whybox.engine.trace import Key

Array = np.ndarray
Change = Callable[[Any], None]
HIDDEN = "hidden states, patterns, logits"
HOOKS = "hooks on its modules"
CACHED = "hidden states and logits, the last 8 tokens behind its cache"
STEPS = 8
ROTATION, ATTENTION = "apply_rotary_pos_emb", "eager_attention_forward"


@dataclass(frozen=True)
class Foreign:
    """subject; what is done to transformers; the name that it must get; why. settings: of another config. change: to
    the model that is made. around: while it runs.
    """

    subject: str
    what: str
    name: str
    why: str
    settings: tuple[tuple[str, object], ...] = ()
    change: Change | None = None
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    seen: str = HIDDEN


def _each_attention(name: str, value: object) -> Change:
    def change(model: Any) -> None:
        for layer in model.model.layers:
            setattr(layer.self_attn, name, value)

    return change


def _exchange(model: Any) -> None:
    for layer in model.model.layers:
        layer.mlp.gate_proj, layer.mlp.up_proj = layer.mlp.up_proj, layer.mlp.gate_proj


def _no_final_norm(model: Any) -> None:
    model.model.norm = torch.nn.Identity()


def _no_mlp_norm(model: Any) -> None:
    for layer in model.model.layers:
        layer.post_attention_layernorm = torch.nn.Identity()


def _tie(model: Any) -> None:
    model.lm_head.weight = torch.nn.Parameter(model.model.embed_tokens.weight.clone())


def _unbias(model: Any) -> None:
    with torch.no_grad():
        for layer in model.model.layers:
            for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj):
                projection.bias.zero_()


def _plain_gain(model: Any) -> None:
    """Gemma's 1 + w, with the 1 forgotten."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.sub_(1)


def _later_positions(model: Any) -> None:
    with torch.no_grad():
        table = model.transformer.wpe.weight
        table.copy_(table.roll(-1, dims=0))


def _neighbours(q: Any, k: Any, cos: Any, sin: Any, **_: Any) -> tuple[Any, Any]:
    """Pairs (2i, 2i + 1) turned, where Llama turns (i, i + d/2)."""
    half = cos.shape[-1] // 2
    cos, sin = (angle[..., :half].repeat_interleave(2, -1)[:, None] for angle in (cos, sin))
    return tuple(x * cos + _across(x) * sin for x in (q, k))


def _across(x: Any) -> Any:
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


def _tiled(states: Any, times: int) -> Any:
    return states.repeat(1, times, 1, 1)


def _coarse_softmax(scores: Any, dim: int = -1, dtype: Any = None) -> Any:
    return torch.softmax(scores.to(torch.bfloat16), dim).float()


def _masked_late(module: Any, query: Any, key: Any, value: Any, mask: Any, scaling: float, **_: Any) -> tuple[Any, Any]:
    """Hidden keys are zeroed when the softmax is done: rows no longer sum to 1."""
    key, value = (modeling_llama.repeat_kv(each, module.num_key_value_groups) for each in (key, value))
    pattern = torch.softmax(query @ key.transpose(2, 3) * scaling, -1) * (mask == 0)
    return (pattern @ value).transpose(1, 2).contiguous(), pattern


def _llama(what: str, value: object) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(modeling_llama, what, value)


def _softmax(value: object) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(modeling_llama.nn.functional, "softmax", value)


_TURN = "Position 0 is exact, and what stands before the rotation."
_SCORE = "Query and key are exact; weights are those of scores with another factor."
_HEADS = "Query, key and value are exact; heads that read another key/value head are not."
_COARSE = "Scores are exact; weights are numbers of bfloat16."
_MASK = "Scores are exact; rows sum to less than 1 wherever a later key exists."
_WINDOW = "Exact up to the window's edge."
_CAP = "Small scores are exact, large ones are not."
_CACHE = "The prompt is exact; what follows it behind the cache is not."
_HEAD = "The last residual stream is exact."
_MLP = "The stream up to the MLP is exact, and what it reads."
_NORM = "Each norm's output is off by what its own rows explain."
FAULTS: tuple[Foreign, ...] = (
    Foreign("llama", "rope_theta 1e6", "rope-base", _TURN, (("rope_parameters", {**PLAIN, "rope_theta": 1e6}),)),
    Foreign("llama", "rope_type linear, factor 4", "rope-factor", _TURN, (("rope_parameters", LINEAR),)),
    Foreign("llama", "rms_norm_eps 1e-6", "norm-eps", _NORM, (("rms_norm_eps", 1e-6),)),
    Foreign("llama", "hidden_act gelu", "activation", _MLP, (("hidden_act", "gelu"),)),
    Foreign("llama", "self_attn.scaling = 1", "no-score-scale", _SCORE, change=_each_attention("scaling", 1.0)),
    Foreign("llama", "self_attn.scaling = 0.2", "score-scale", _SCORE, change=_each_attention("scaling", 0.2)),
    Foreign("llama", "gate_proj and up_proj exchanged", "gate-up-exchanged", _MLP, change=_exchange, seen=HOOKS),
    Foreign("llama", "model.norm = Identity", "final-norm-missing", _HEAD, change=_no_final_norm),
    Foreign("llama", "post_attention_layernorm = Identity", "mlp-norm-missing", _MLP, change=_no_mlp_norm),
    Foreign("llama", "lm_head = embed_tokens", "head-tied", _HEAD, change=_tie),
    Foreign("llama", "rotate_half on neighbours", "rope-pairing", _TURN, around=_llama(ROTATION, _neighbours)),
    Foreign("llama", "repeat_kv tiles", "kv-heads-tiled", _HEADS, around=_llama("repeat_kv", _tiled)),
    Foreign("llama", "softmax in bfloat16", "softmax-precision", _COARSE, around=_softmax(_coarse_softmax)),
    Foreign("llama", "softmax, then the mask", "mask-after-softmax", _MASK, around=_llama(ATTENTION, _masked_late)),
    Foreign("llama", "position_ids + 1 behind the cache", "cache-position", _CACHE, seen=CACHED),
    Foreign("llama", "the cache's last slot overwritten", "cache-slot", _CACHE, seen=CACHED),
    Foreign("llama-scaled", "rope_type default", "rope-unscaled", _TURN, (("rope_parameters", PLAIN),)),
    Foreign("llama-yarn", "attention_factor 1", "rope-magnitude", _TURN, (("rope_parameters", "yarn-1"),)),
    Foreign("qwen2", "biases of q, k, v zero", "no-qkv-bias", "A constant vector at every position.", change=_unbias),
    Foreign("qwen3", "rope_theta 5e5", "rope-base", _TURN, (("rope_parameters", {**PLAIN, "rope_theta": 5e5}),)),
    Foreign("gemma2", "sliding_window 6", "window", _WINDOW, (("sliding_window", 6),)),
    Foreign("gemma2", "query_pre_attn_scalar 10", "score-scale", _SCORE, (("query_pre_attn_scalar", 10),)),
    Foreign("gemma2", "attn_logit_softcapping None", "score-cap", _CAP, (("attn_logit_softcapping", None),)),
    Foreign("gemma2", "final_logit_softcapping None", "logit-cap", _HEAD, (("final_logit_softcapping", None),)),
    Foreign("gemma2", "hidden_activation gelu", "activation", _MLP, (("hidden_activation", "gelu"),)),
    Foreign("gemma2", "norms with w for 1 + w", "gain-plus-one-never", _NORM, change=_plain_gain),
    Foreign("gemma3", "sliding_window 4", "window", _WINDOW, (("sliding_window", 4),)),
    Foreign("mixtral", "num_experts_per_tok 1", "experts-active", _MLP, (("num_experts_per_tok", 1),)),
    Foreign("gpt2", "activation_function relu", "activation", _MLP, (("activation_function", "relu"),)),
    Foreign("gpt2", "scale_attn_weights False", "no-score-scale", _SCORE, (("scale_attn_weights", False),)),
    Foreign("gpt2", "wpe one row further", "position-offset", "Off by neighbouring rows.", change=_later_positions),
    Foreign("gpt-neox", "rotary_pct 0.5", "rope-width", _TURN, (("rope_parameters", "half"),)),
    Foreign("opt", "activation_function gelu", "activation", _MLP, (("activation_function", "gelu"),)),
    Foreign("smollm2", "rope_theta 1e4", "rope-base", _TURN, (("rope_parameters", PLAIN),)),
    Foreign("smollm2", "rms_norm_eps 1e-6", "norm-eps", _NORM, (("rms_norm_eps", 1e-6),)),
    Foreign("smollm2", "hidden_act gelu_pytorch_tanh", "activation", _MLP, (("hidden_act", "gelu_pytorch_tanh"),)),
    Foreign("smollm2", "repeat_kv tiles", "kv-heads-tiled", _HEADS, around=_llama("repeat_kv", _tiled)),
)  # fmt: skip
SILENT = ("rope_theta 1e4", "rms_norm_eps 1e-6")


def rows() -> Iterator[Row]:
    """Those above, a float16 that overflows, and sound models, which must not be accused."""
    for each in FAULTS:
        silent = each.subject == "smollm2" and each.what in SILENT
        planted = Planted(each.what, (each.name,), each.why, by="transformers", silent=silent)
        yield Row(each.subject, "single", planted, each.seen, partial(_compared, each))
    overflow = Planted(
        "dtype float16", ("fp16-overflow",), "The stream behind layer 7 is beyond 65,504.", "transformers"
    )
    yield Row("gemma3-270m", "single", overflow, "hidden states and logits", _gemma_in_fp16)
    for name in (*DRAWN, "smollm2"):
        planted = Planted("none: transformers", (), "The same weights in another program.", by="transformers")
        sound = Foreign(name, "nothing", "", "")
        yield Row(name, "self", planted, HIDDEN, partial(_compared, sound))


def _compared(planted: Foreign) -> Comparison:
    model = _made(planted)
    ids = ids_of(planted.subject)
    with planted.around(), torch.no_grad():
        if planted.seen == CACHED:
            shown = _behind_cache(model, ids, planted.name)
        else:
            shown = recorded(model, ids, hooks=planted.seen == HOOKS)
    return against(planted.subject, shown)


def _made(planted: Foreign) -> Any:
    family = split(planted.subject)[0]
    sound = _smollm2() if family == "smollm2" else twin(planted.subject)
    settings = {key: _setting(family, value) for key, value in planted.settings}
    config = (
        type(sound.config)(**{**sound.config.to_dict(), **settings})
        if family == "smollm2"
        else DRAWN[family].made(**settings)
    )
    model = built(config)
    model.load_state_dict(sound.state_dict())
    if planted.change is not None:
        planted.change(model)
    return model


def _setting(family: str, value: object) -> object:
    """Settings of RoPE that are made from the sound ones."""
    if value == "yarn-1":
        return {**DRAWN[family].settings["rope_parameters"], "attention_factor": 1.0}
    if value == "half":
        return {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
    return value


def recorded(model: Any, ids: tuple[int, ...], hooks: bool = False) -> Observation:
    """Its hidden states, attentions and logits; with hooks, what its modules give as well."""
    kept: dict[Key, Array] = {}
    handles = [hook for n, layer in enumerate(model.model.layers) for hook in _hooked(layer, n, kept)] if hooks else []
    out = model(torch.tensor([list(ids)]), output_hidden_states=True, output_attentions=True, use_cache=False)
    for handle in handles:
        handle.remove()
    kept |= {("pattern", n): each[0].float().numpy() for n, each in enumerate(out.attentions)}
    return Observation(tuple(ids), {**kept, **_hidden(out)})


def _hidden(out: Any) -> dict[Key, Array]:
    first, *behind, last = (state[0].float().numpy() for state in out.hidden_states)
    found: dict[Key, Array] = {("resid_post", n): state for n, state in enumerate(behind)}
    return found | {("embed", None): first, ("final", None): last, ("logits", None): out.logits[0].float().numpy()}


def _hooked(layer: Any, n: int, kept: dict[Key, Array]) -> list[Any]:
    def keep(site: str) -> Callable[..., None]:
        def hook(module: Any, inputs: Any, out: Any) -> None:
            value = out[0] if isinstance(out, tuple) else out
            kept[site, n] = value.detach().float().numpy()[0].copy()

        return hook

    modules = {
        "attn_in": layer.input_layernorm,
        "attn_out": layer.self_attn,
        "mlp_in": layer.post_attention_layernorm,
        "mlp_out": layer.mlp,
    }
    return [module.register_forward_hook(keep(site)) for site, module in modules.items()]


def _behind_cache(model: Any, ids: tuple[int, ...], fault: str) -> Observation:
    """The prompt at once, the rest token by token: each at a wrong place, or behind a cache without its last slot."""
    first = len(ids) - STEPS
    outs = [model(torch.tensor([list(ids[:first])]), output_hidden_states=True, use_cache=True)]
    for at in range(first, len(ids)):
        past = outs[-1].past_key_values
        by = 1 if fault == "cache-position" else 0
        if fault == "cache-slot":
            past.crop(-1)
        place = torch.tensor([[at + by]])
        outs.append(
            model(
                torch.tensor([[ids[at]]]),
                position_ids=place,
                past_key_values=past,
                output_hidden_states=True,
                use_cache=True,
            )
        )
    parts = [_hidden(out) for out in outs]
    return Observation(ids, {key: np.concatenate([part[key] for part in parts]) for key in parts[0]})


@cache
def _smollm2() -> Any:
    return llama_in_transformers(model_of("smollm2"))


def _gemma_in_fp16() -> Comparison:
    """Gemma 3 270M of transformers, every weight and value in float16."""
    model = model_of("gemma3-270m")
    ids = tuple(model.prompt("The capital of France is").ids)
    theirs = gemma_in_transformers(model).to(torch.float16)
    with torch.no_grad():
        out = theirs(torch.tensor([list(ids)]), output_hidden_states=True, use_cache=False)
    return against("gemma3-270m", Observation(ids, _hidden(out), "fp16"))
