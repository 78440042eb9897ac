"""The two sides of a comparison: a model run in some way, what another program recorded, or an endpoint.

A side is written NAME or NAME@way,way: `smollm2@bf16,sdpa`, `model.gguf@numpy`, `smollm2@int8,batch=4,cache`. An
endpoint is `openai:NAME`, at OPENAI_BASE_URL or at an address of its own, with its precision where that is known:
`openai:NAME@http://127.0.0.1:8000/v1@bf16`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whybox.compare.observation import Observation, observation
from whybox.compare.recorded import Recorded, read_recorded
from whybox.compare.served import NOT_TOLD, Served
from whybox.compare.stepping import joined, stepped
from whybox.engine.choice import KERNELS, NUMPY, TORCH_PRECISIONS
from whybox.engine.rounded import RoundedEngine, held_as
from whybox.errors import ModelNotFound, NonFiniteError, UsageError
from whybox.model import Model
from whybox.sites import sites_of
from whybox.targets.naming import OPENAI, endpoint_of, is_remote, target_of
from whybox.targets.openai import OpenAITarget

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
        try:
            if not self.stepped or len(ids) <= STEPPED:
                return observation(engine.run(tuple(ids), see, tail=rows))
            return joined(stepped(engine, ids, len(ids) - STEPPED, see), rows)
        except NonFiniteError as error:
            return Observation(tuple(ids), {}, self.precision, (error.site, error.layer, error.position))


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
    padding: int | None = None
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
    if key == "padding" and value.isdigit():
        return replace(way, padding=int(value))
    known = f"{', '.join((*TORCH_PRECISIONS, 'numpy', 'torch', *KERNELS[1:]))}, cache, batch=N, padding=N, chunk=N"
    raise UsageError(f"{text}: {word!r} is no way to run a model", f"known: {known}")


def _run_as(base: Model, way: Way) -> Model:
    """float16 is for GPUs; where there is none, it is emulated: every site rounded, sums in float32."""
    try:
        return base.variant(way.precision, None, way.chunk, way.batch, way.kernel, way.engine, way.padding)
    except UsageError:
        if way.precision != "fp16":
            raise
        return emulated(base)


def emulated(model: Model) -> Model:
    """The model in float16, as any machine can show it: where it rounds, and where its range ends."""
    engine = RoundedEngine(*held_as(model.spec, model.weights, "fp16"), "fp16")
    return replace(model, engine=engine, way=replace(NUMPY, precision="fp16"))


def side_of(text: str, opened: Callable[[str], Model], other: "Live | None" = None) -> Side:
    """A side from its name. `@way` alone is the other side's model, run that way. opened: a model by its name."""
    if is_remote(text):
        return served(text, opened)
    name, way = split(text)
    path = Path(name)
    if path.suffix in RECORDINGS and path.is_file():
        return read_recorded(path)
    if path.suffix in RECORDINGS and not path.exists():
        raise ModelNotFound(f"there is no file {path}", "give a recording, a model's file, or its name")
    if not name and other is None:
        raise UsageError(f"{text}: which model?", "only the second side may be a way alone")
    base = other.model if not name and other is not None else opened(name)
    model = _run_as(base, way)
    return Live(text if name else f"{other.name.partition('@')[0] if other else ''}{text}", model, way.stepped)


def served(text: str, opened: Callable[[str], Model]) -> Served:
    """An endpoint or a bot from its name; behind it @address and @precision. UsageError for an address that is none."""
    name, precision = text, NOT_TOLD
    front, at, last = text.rpartition("@")
    if at and last in TORCH_PRECISIONS:
        name, precision = front, last
    front, at, last = name.rpartition("@")
    if at and name.startswith(OPENAI) and last.startswith(("http://", "https://")):
        return Served(text, OpenAITarget(endpoint_of(front, last)), precision)
    return Served(text, target_of(name, opened), precision)
