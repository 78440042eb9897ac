"""How much of the attention one segment keeps as filler makes the context longer.

The filler stands right behind the segment (before it, where it is the last): what came before it is computed once, and
grows; each length runs only the rest of the prompt behind it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from whybox.engine.trace import Cache, Trace, Wish
from whybox.errors import PromptError
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.generate.vocabulary import Language
from whybox.measure.budget import budget
from whybox.measure.looking import pieces
from whybox.model import Model
from whybox.parts.mask import visible
from whybox.text.prompt import Prompt

LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)

_Row = tuple[list[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True)
class Diluted:
    """One length. share, lift: of the segment at the decision, mean over heads. brightest: the head with most of it."""

    tokens: int
    share: float
    lift: float | None
    brightest: tuple[int, int]
    brightest_share: float


@dataclass(frozen=True)
class Subject:
    """Ids in front of the filler, behind it, and where the segment lies: in front, or at so many tokens of the end."""

    name: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    keys: range
    moves: bool

    def places(self, tokens: int) -> range:
        """The segment's positions in a prompt of that length."""
        shift = tokens - len(self.before) - len(self.after) if self.moves else 0
        return range(self.keys.start + shift, self.keys.stop + shift)


def subject(prompt: Prompt, name: str) -> Subject:
    """A segment by its name, or a token by its number. PromptError where there is none, or it is all there is."""
    keys = _keys(prompt, name)
    if keys.stop < len(prompt):
        return Subject(name, prompt.ids[: keys.stop], prompt.ids[keys.stop :], keys, moves=False)
    if keys.start > 0:
        return Subject(name, prompt.ids[: keys.start], prompt.ids[keys.start :], keys, moves=True)
    raise PromptError(f"{name!r} is the whole prompt: nothing can be diluted", "name a part of it (docs/case.md)")


def lengths(model: Model, prompt: Prompt) -> list[int]:
    """The prompt's own length, then those of LENGTHS that are longer, within the trained context unless allowed."""
    longer = [n for n in LENGTHS if n > len(prompt) and (model.allow_long or n <= model.spec.context)]
    return [len(prompt), *longer]


def dilute(
    model: Model, prompt: Prompt, name: str, tell: Callable[[int, int], None], seed: int = 0
) -> Iterator[Diluted]:
    """The curve, point by point. tell: tokens of filler and prompt done, of all."""
    what, wanted = subject(prompt, name), lengths(model, prompt)
    filler = _filler(model, prompt, wanted[-1] - len(prompt), seed)
    grown: Cache | None = None
    for tokens in wanted:
        if grown is None or model.spec.length_dependent:
            grown = model.engine.fresh_cache(tokens if model.spec.length_dependent else wanted[-1])
        ids = (*what.before, *filler[: tokens - len(prompt)])
        grown = _feed(model, ids[grown.seen :], grown)
        trace = model.engine.run(what.after, _sites(model), (), grown, 1)
        tell(tokens, wanted[-1])
        yield _point(trace, what, tokens)


def _feed(model: Model, ids: tuple[int, ...], cache: Cache) -> Cache:
    """A cache with these ids behind it, piece by piece."""
    for piece in pieces(model.spec, len(ids)) if ids else ():
        cache = model.engine.run(ids[piece.start : piece.stop], (), (), cache, 1).cache
    return cache


def _sites(model: Model) -> list[Wish]:
    sinks = any(layer.attention.sinks for layer in model.spec.layers)
    return ["pattern", "sink_mass"] if sinks else ["pattern"]


def _point(trace: Trace, what: Subject, tokens: int) -> Diluted:
    rows, places, masses = [], [], []
    for index, layer in enumerate(trace.spec.layers):
        pattern = trace["pattern", index][:, -1]
        keys = np.arange(tokens - pattern.shape[1], tokens)
        seen = visible(np.array([tokens - 1]), keys, layer.attention.window)[0]
        rows.append(pattern[:, seen])
        places.append(keys[seen])
        masses.append(trace["sink_mass", index][:, -1] if layer.attention.sinks else np.zeros(len(pattern)))
    found = budget(rows, {what.name: what.places(tokens)}, places, masses)
    shares = found.per_head(what.name)
    brightest = max(
        ((layer, int(row.argmax())) for layer, row in enumerate(shares)), key=lambda at: shares[at[0]][at[1]]
    )
    return Diluted(
        tokens=tokens,
        share=found.mean()[what.name],
        lift=found.mean_lift(what.name),
        brightest=brightest,
        brightest_share=float(shares[brightest[0]][brightest[1]]),
    )


def _keys(prompt: Prompt, name: str) -> range:
    if name.isdecimal() and name not in {segment.name for segment in prompt.segments}:
        token = int(name)
        prompt.segment_of(token)
        return range(token, token + 1)
    segment = prompt.segment(name)
    if segment.start == segment.end:
        raise PromptError(f"segment {name!r} owns no token", "name another, or give it a text")
    return range(segment.start, segment.end)


def _filler(model: Model, prompt: Prompt, tokens: int, seed: int) -> tuple[int, ...]:
    """Neutral sentences in the prompt's language, none twice."""
    language: Language = "zh" if sum("一" <= c <= "鿿" for c in prompt.text) > len(prompt.text) / 4 else "en"
    ids: list[int] = []
    for sentence in draw_fillers(np.random.default_rng(seed), language):
        if len(ids) >= tokens:
            break
        ids += model.tokenizer.encode(joiner(language) + sentence)
    if len(ids) < tokens:
        raise PromptError(f"the supply of filler ends at {len(ids)} tokens, {tokens} are needed")
    return tuple(ids[:tokens])
