"""`diff MODEL --self`: one model in every way that it can be run here, as a table of pass and fail."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from whybox.compare.comparison import Asked, Comparison, compare, work_of
from whybox.compare.ground import Ground
from whybox.compare.prompts import default_texts
from whybox.compare.sides import Live
from whybox.engine.choice import NUMPY, resolve
from whybox.errors import UsageError
from whybox.jobs.provenance import model_info
from whybox.model import Model
from whybox.report.document import Lang
from whybox.report.document.base import obtained
from whybox.report.document.diff import SelfDocument, SelfRow


@dataclass(frozen=True)
class Rung:
    """A way by its name, and the side that runs so."""

    name: str
    side: Callable[[Model], Live]


def _variant(name: str, stepped: bool = False, **way: object) -> Rung:
    return Rung(name, lambda model: Live(name, model.variant(**way), stepped))  # type: ignore[arg-type]


RUNGS = (
    _variant("cache", stepped=True),
    Rung("reference engine", lambda model: Live("reference engine", model.on_reference())),
    _variant("plain kernel", kernel="plain"),
    _variant("tiled kernel", kernel="tiled"),
    _variant("sdpa kernel", kernel="sdpa"),
    _variant("batch of 3 unlike lengths", batch=3),
    _variant("padded by 5", padding=5),
    _variant("chunks of 7", chunk=7),
    _variant("cache, tiled", stepped=True, kernel="tiled"),
    _variant("bf16", precision="bf16"),
    _variant("int8", precision="int8"),
    _variant("int4", precision="int4"),
)
FOR_TORCH = tuple(rung for rung in RUNGS if rung.name != "cache")


def diff_self(model: Model, asked: Asked, seed: int = 0, lang: Lang = "en") -> SelfDocument:
    """Every way against the model as it was opened."""
    begun, base = time.perf_counter(), Live(model.name, model)
    torch = resolve(model.way.engine) == "torch" and model.way != NUMPY
    asked = replace(asked, texts=asked.texts or tuple(default_texts(model)))
    ground, chosen = Ground(base, asked.effort), RUNGS if torch else RUNGS[:1]
    rows, not_run = [], []
    for number, rung in enumerate(chosen, 1):
        try:
            side = rung.side(model)
        except UsageError as error:
            not_run.append(f"{rung.name}: {error.cause}")
            continue
        asked.effort.within = f"{number}/{len(chosen)} {rung.name}"
        asked.effort.later = (len(chosen) - number) * len(asked.texts or ()) * work_of(base)
        rows.append(_row(rung.name, compare(base, side, asked, ground)))
    if not torch:
        not_run += [f"{rung.name}: needs the torch engine" for rung in FOR_TORCH]
    return SelfDocument(
        schema=SelfDocument.identity(),
        lang=lang,
        model=model_info(model),
        seed=seed,
        rows=tuple(rows),
        passed=all(row.verdict in ("identical", "rounding") for row in rows),
        not_run=tuple(not_run),
        took_s=time.perf_counter() - begun,
    )


def _row(name: str, found: Comparison) -> SelfRow:
    harm = found.harm
    return SelfRow(
        way=name,
        verdict=found.verdict,
        **obtained(
            "no logits on both sides" if harm is None else "NaN or Inf on one side",
            kl_mean=None if harm is None else harm.kl_mean,
            same_top=None if harm is None else harm.same_top.share,
            moved=None if harm is None else harm.moved,
        ),
        named=tuple(each.fault.name for each in found.named),
    )
