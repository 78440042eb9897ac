"""Hugging Face transformers as the oracle: tiny random models, saved as files, read back by whybox."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from transformers import AutoModelForCausalLM, PretrainedConfig, PreTrainedModel
from transformers.initialization import no_init_weights

from whybox import families, weights
from whybox.engine.fast import FastEngine, Precision, pack
from whybox.engine.reference import ReferenceEngine
from whybox.formats import open_weights
from whybox.sites import sites_of

torch.set_num_threads(1)  # tiny models: more threads only wait for each other

IDS = (3, 17, 5, 2, 11, 23, 7, 5, 29, 1, 13, 19)
LONG = (*IDS, 4, 4, 27, 30, 8, 0, 22, 15, 6, 10, 26, 9, 14, 3, 20)


def tiny(config: PretrainedConfig, seed: int = 0) -> PreTrainedModel:
    """A random float32 model whose every parameter is moved away from its neutral start (gains, biases, sinks)."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager").eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            wide = 0.3 if parameter.dim() == 1 else 0.15
            parameter.add_(torch.randn_like(parameter) * wide)
            if parameter.dim() == 1:  # so that Gemma's 1 + w is exact in float32
                parameter.copy_((parameter * 2**16).round() / 2**16)
            if "embed" in name and parameter.dim() == 2:
                parameter.add_(torch.randn_like(parameter))
    return model


@dataclass(frozen=True)
class Opened:
    engine: ReferenceEngine
    engine64: ReferenceEngine


def opened(path: Path) -> Opened:
    """The file as whybox reads it, in both precisions."""
    file = open_weights(path)
    spec, rules = families.describe(file)
    loaded = weights.load(file, spec, rules)
    return Opened(ReferenceEngine(spec, loaded), ReferenceEngine(spec, weights.in_precision(loaded, np.float64)))


class TrulyDouble(TorchFunctionMode):
    """transformers computes angles, norms and softmax in float32 even in a float64 model; here that means float64."""

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        widened = {key: _widened(value) for key, value in (kwargs or {}).items()}
        return func(*map(_widened, args), **widened)


def _widened(value: object) -> object:
    return torch.float64 if value is torch.float32 else value


def doubled(model: PreTrainedModel) -> PreTrainedModel:
    """The same weights in float64, buffers (rotary frequencies) computed anew in float64. Run it in `TrulyDouble`."""
    with TrulyDouble(), no_init_weights():
        twin = type(model)._from_config(deepcopy(model.config), dtype=torch.float64).eval()
        twin.load_state_dict(model.state_dict())
    twin.config._attn_implementation = "eager"
    return twin


def hf_logits(model: PreTrainedModel, ids: tuple[int, ...]) -> np.ndarray:
    """Logits [q v] of transformers in the model's own precision."""
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0].double().numpy()


def hf_truth(model: PreTrainedModel, ids: tuple[int, ...]) -> np.ndarray:
    """Logits [q v] of transformers in float64 throughout."""
    with TrulyDouble():
        return hf_logits(doubled(model), ids)


def assert_as_exact_as_hf(
    model: PreTrainedModel, path: Path, ids: tuple[int, ...] = IDS, stored: float = 1e-10
) -> Opened:
    """Against HF in float64: in float32 at most 2 × HF's own error (or float32's floor), in float64 the same.

    stored: what the file's own float32 constants (epsilon, rotary divisors) leave in float64 arithmetic.
    """
    truth, mine = hf_truth(model, ids), opened(path)
    size = np.abs(truth).max()
    theirs = np.abs(hf_logits(model, ids) - truth).max()
    error = np.abs(mine.engine.run(ids).logits - truth).max()
    floor = 8 * np.finfo(np.float32).eps * size
    assert error <= max(2 * theirs, floor), f"error {error:.3g}, transformers' own {theirs:.3g}"
    double = np.abs(mine.engine64.run(ids).logits - truth).max()
    assert double <= stored * size, f"float64 error {double:.3g} of {size:.3g}"
    assert size > 0.5, "the oracle's logits are too flat to prove anything"
    assert_streams_alike(path, mine.engine.weights)
    return mine


def assert_fast_is_the_same(reference: ReferenceEngine, ids: tuple[int, ...]) -> None:
    """The fast engine in float64 at every site, and through its cache."""
    fast = FastEngine(pack(reference.spec, reference.weights, Precision.FP64, torch.device("cpu")))
    everything = [site.name for site in sites_of(reference.spec)]
    mine, theirs = fast.run(ids, see=everything), reference.run(ids, see=everything)
    assert set(mine.sites) == set(theirs.sites)
    for key, value in theirs.sites.items():
        np.testing.assert_allclose(mine.sites[key], value, rtol=0, atol=1e-10 * max(1, np.abs(value).max()))
    first = fast.run(ids[:5], cache=fast.fresh_cache(len(ids)))
    rest = fast.run(ids[5:], cache=first.cache).logits
    np.testing.assert_allclose(rest, theirs.logits[5:], rtol=0, atol=1e-10 * max(1, np.abs(rest).max()))


def assert_streams_alike(path: Path, held: weights.Weights) -> None:
    """Every role decoded on its own, last to first, is what decoding all at once gives; tables also row by row."""
    file = open_weights(path)
    streamed = weights.stream(file, *families.describe(file))
    assert set(streamed) == set(held)
    assert streamed.ledger == held.ledger
    for role in reversed(list(held)):
        assert np.array_equal(streamed[role], held[role]), role
    for table in {"embed", "head", "positions"} & set(held):
        assert np.array_equal(streamed.rows(table, np.array([3, 0, 3])), held[table][[3, 0, 3]]), table


def hf_hidden(model: PreTrainedModel, ids: tuple[int, ...]) -> Mapping[str, np.ndarray]:
    """What HF shows without hooks: hidden states and attentions of every layer, float64."""
    with torch.no_grad(), TrulyDouble():
        out = doubled(model)(torch.tensor([ids]), output_hidden_states=True, output_attentions=True, use_cache=False)
    shown = {f"hidden.{i}": state[0].numpy() for i, state in enumerate(out.hidden_states)}
    shown |= {f"pattern.{i}": pattern[0].numpy() for i, pattern in enumerate(out.attentions)}
    return shown


def assert_like_hf(model: PreTrainedModel, path: Path, ids: tuple[int, ...] = IDS, stored: float = 1e-10) -> Opened:
    """Logits, every state that HF shows, and the text that it writes with its cache."""
    model.save_pretrained(path)
    mine = assert_as_exact_as_hf(model, path, ids, stored)
    assert_same_sites(model, mine.engine64, ids, stored)
    assert_fast_is_the_same(mine.engine64, ids)
    assert greedy(mine.engine, ids, 5) == hf_greedy(model, ids, 5)
    return mine


def assert_same_sites(
    model: PreTrainedModel, engine: ReferenceEngine, ids: tuple[int, ...], stored: float = 1e-10
) -> None:
    """The residual stream before each block, each head's pattern, and what the head reads."""
    shown, last = hf_hidden(model, ids), len(engine.spec.layers)
    trace = engine.run(ids, see=["resid_pre", "pattern", "final"])
    for layer in range(last):
        _close(trace["resid_pre", layer], shown[f"hidden.{layer}"], stored)
        _close(trace["pattern", layer], shown[f"pattern.{layer}"], stored)
    _close(trace["final"], shown[f"hidden.{last}"], stored)


def _close(mine: np.ndarray, theirs: np.ndarray, stored: float) -> None:
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=stored * max(1, np.abs(theirs).max()))


def greedy(engine: ReferenceEngine, ids: tuple[int, ...], count: int) -> list[int]:
    """The next ids, one at a time through the cache."""
    trace, written = engine.run(ids, cache=engine.fresh_cache(len(ids) + count)), []
    for _ in range(count):
        written.append(int(trace.logits[-1].argmax()))
        trace = engine.run(written[-1:], cache=trace.cache)
    return written


def hf_greedy(model: PreTrainedModel, ids: tuple[int, ...], count: int) -> list[int]:
    """What transformers writes, with its own cache."""
    prompt = torch.tensor([ids])
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=count,
        min_new_tokens=count,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    return out[0, len(ids) :].tolist()
