"""Every figure by name: `topic.name`. Toys need nothing; the others need the default model."""

from whybox.learn.figures import (
    cache,
    context,
    decoder,
    faults,
    heads,
    masks,
    mlp,
    norms,
    position,
    published,
    reading,
    refund,
    scaling,
    tiles,
    worked,
)
from whybox.learn.figures.figure import OnModel, OnModels, Toys, Value

TOYS: Toys = {
    **position.TOYS,
    **worked.TOYS,
    **scaling.TOYS,
    **masks.TOYS,
    **heads.TOYS,
    **norms.TOYS,
    **mlp.TOYS,
    **cache.TOYS,
    **tiles.TOYS,
    **decoder.TOYS,
    **context.TOYS,
    **published.TOYS,
}
ON_MODEL: OnModels = {**faults.ON_MODEL, **reading.ON_MODEL, **refund.ON_MODEL}

__all__ = ["ON_MODEL", "TOYS", "OnModel", "OnModels", "Toys", "Value"]
