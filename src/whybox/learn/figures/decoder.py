"""The smallest decoder, with the documents' seed: what it prints, and why that says nothing of the prompt."""

from functools import cache

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.decoder import Decoder, draw_decoder, forward
from whybox.parts.embedding import lookup
from whybox.parts.position import sinusoid

Array = np.ndarray
IDS = np.array([10, 42, 7, 128, 200])


@cache
def _decoder() -> Decoder:
    return draw_decoder(np.random.RandomState(42))


@cache
def _last() -> Array:
    return np.asarray(forward(_decoder(), IDS)[-1])


def _best() -> Array:
    return np.argsort(-_last())[:5]


def _sizes() -> Value:
    """rms of the embeddings, of the position code, and their ratio."""
    token, code = (float(np.sqrt(np.mean(x**2))) for x in (lookup(IDS, _decoder().embedding), sinusoid(5, 64)))
    return token, code, code / token


def _always() -> Value:
    """Of 300 random prompts of 5 ids how many are followed by 13; of the 256 last tokens how many."""
    rng = np.random.default_rng(0)
    random = sum(_next(rng.integers(0, 256, 5)) == 13 for _ in range(300))
    last = sum(_next(np.array([*IDS[:-1], token])) == 13 for token in range(256))
    return float(random), float(last)


def _next(ids: Array) -> int:
    return int(forward(_decoder(), ids)[-1].argmax())


TOYS: Toys = {
    "decoder.sizes": _sizes,
    "decoder.shape": lambda: tuple(map(float, forward(_decoder(), IDS).shape)),
    "decoder.parameters": lambda: float(_decoder().parameters),
    "decoder.best": lambda: tuple(map(float, _best())),
    "decoder.best_logits": lambda: tuple(map(float, _last()[_best()])),
    "decoder.always": _always,
}
