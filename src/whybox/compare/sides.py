"""The two sides of a comparison: a model run in some way, what another program recorded, or an endpoint.

A side is written NAME or NAME@way,way: `smollm2@bf16,sdpa`, `model.gguf@numpy`, `smollm2@int8,batch=4,cache`. An
endpoint is `openai:NAME`, at OPENAI_BASE_URL or at an address of its own, with its precision where that is known:
`openai:NAME@http://127.0.0.1:8000/v1@bf16`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from whybox.compare.observation import Observation, observation
from whybox.compare.recorded import Recorded, read_recorded
from whybox.compare.served import NOT_TOLD, Served
from whybox.engine.choice import KERNELS, TORCH_PRECISIONS
from whybox.engine.edit import row_axis, site_axes
from whybox.engine.trace import Key, Trace
from whybox.errors import UsageError
from whybox.model import Model
from whybox.sites import sites_of
from whybox.targets.naming import OPENAI, endpoint_of, is_remote, target_of
from whybox.targets.openai import OpenAITarget

Array = np.ndarray
OF_PLAIN_ATTENTION = ("scores", "pattern", "sink_mass")
STEPPED = 8
"""Tokens that are fed one by one behind a cache, where a side is to be seen as it writes."""
RECORDINGS = (".npz", ".safetensors")


@dataclass(frozen=True)
class Live:
    """A model that can be run. stepped: the last tokens of a prompt are fed one by one behind a cache."""

    name: str
    model: Model
    stepped: bool = False

    @property
    def precision(self) -> str:
        return self.model.engine.precision

    def observe(self, ids: Sequence[int], rows: int) -> Observation:
        """Every site that the side's own arithmetic makes; `final` and `logits` of the last rows.

        Scores and patterns exist in plain attention alone: to see them would be to run another kernel, in one piece.
        """
        engine, seen = self.model.engine, (site.name for site in sites_of(self.model.spec))
        hidden = () if engine.kernel.startswith("plain") else OF_PLAIN_ATTENTION
        see = [name for name in seen if name not in hidden]
        if not self.stepped or len(ids) <= STEPPED:
            return observation(engine.run(tuple(ids), see, tail=rows))
        return _joined(list(self._pieces(ids, see)), rows)

    def _pieces(self, ids: Sequence[int], see: list[str]) -> Iterator[Trace]:
        cache = self.model.engine.fresh_cache(len(ids))
        for piece in (ids[:-STEPPED], *([token] for token in ids[-STEPPED:])):
            trace = self.model.engine.run(tuple(piece), see, cache=cache)
            cache = trace.cache
            yield trace


Computed = Live | Recorded
Side = Computed | Served


@dataclass(frozen=True)
class Way:
    """What stands behind the @ of a side."""

    engine: str | None = None
    precision: str | None = None
    kernel: str | None = None
    batch: int | None = None
    chunk: int | None = None
    stepped: bool = False


def split(text: str) -> tuple[str, Way]:
    """NAME and what stands behind its last @. A file of that very name is taken as it is."""
    name, at, ways = text.rpartition("@")
    if not at or Path(text).exists():
        return text, Way()
    way = Way()
    for word in ways.split(","):
        way = _with(way, word.strip(), text)
    return name, way


def _with(way: Way, word: str, text: str) -> Way:
    key, _, value = word.partition("=")
    if word in TORCH_PRECISIONS:
        return replace(way, precision=word)
    if word in ("numpy", "torch"):
        return replace(way, engine=word)
    if word in KERNELS:
        return replace(way, kernel=word)
    if word in ("cache", "stepped"):
        return replace(way, stepped=True)
    if key == "batch" and value.isdigit() and int(value) > 0:
        return replace(way, batch=int(value))
    if key == "chunk" and value.isdigit() and int(value) > 0:
        return replace(way, chunk=int(value))
    known = f"{', '.join((*TORCH_PRECISIONS, 'numpy', 'torch', *KERNELS[1:]))}, cache, batch=N, chunk=N"
    raise UsageError(f"{text}: {word!r} is no way to run a model", f"known: {known}")


def side_of(text: str, opened: Callable[[str], Model], other: "Live | None" = None) -> Side:
    """A side from its name. `@way` alone is the other side's model, run that way. opened: a model by its name."""
    if is_remote(text):
        return served(text, opened)
    name, way = split(text)
    path = Path(name)
    if path.suffix in RECORDINGS and path.is_file():
        return read_recorded(path)
    if not name and other is None:
        raise UsageError(f"{text}: which model?", "only the second side may be a way alone")
    base = other.model if not name and other is not None else opened(name)
    model = base.variant(way.precision, None, way.chunk, way.batch, way.kernel, way.engine)
    return Live(text if name else f"{other.name.partition('@')[0] if other else ''}{text}", model, way.stepped)


def served(text: str, opened: Callable[[str], Model]) -> Served:
    """An endpoint or a bot from its name; behind it @address and @precision. UsageError for an address that is none."""
    name, precision = text, NOT_TOLD
    front, at, last = text.rpartition("@")
    if at and last in TORCH_PRECISIONS:
        name, precision = front, last
    front, at, last = name.rpartition("@")
    if at and name.startswith(OPENAI) and last.startswith(("http://", "https://")):
        return Served(text, OpenAITarget(replace(endpoint_of(front), base_url=last)), precision)
    return Served(text, target_of(name, opened), precision)


def _joined(traces: Sequence[Trace], rows: int) -> Observation:
    """Several runs behind one another as one: rows in a row, keys that came later empty."""
    spec, length = traces[0].spec, traces[-1].end
    sites: dict[Key, Array] = {}
    for key in traces[0].sites:
        site, layer = key
        axes = site_axes(site, None if layer is None else spec.layers[layer].mlp)
        parts = [_widened(trace.sites[key], axes, length, site) for trace in traces]
        sites[key] = np.concatenate(parts, axis=row_axis(axes))
    for key in (("final", None), ("logits", None)):
        sites[key] = sites[key][-rows:] if key in sites else np.concatenate([t.logits for t in traces])[-rows:]
    ids = tuple(token for trace in traces for token in trace.ids)
    return Observation(ids, sites, traces[0].precision)


def _widened(value: Array, axes: tuple[str, ...], length: int, site: str) -> Array:
    if "q" not in axes or "k" not in axes:
        return value
    missing = length - value.shape[-1]
    empty = -np.inf if site == "scores" else 0.0
    return np.pad(value, [(0, 0)] * (value.ndim - 1) + [(0, missing)], constant_values=empty)
