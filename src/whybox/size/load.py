"""What is asked of a model: how long, how many at once, in which types, on which machine."""

from dataclasses import dataclass

from whybox.size.units import DTYPES, Dtype


@dataclass(frozen=True)
class Load:
    """context: tokens of one request. batch: requests at once. shared: tokens that all of them begin with.

    weights: None for what the file holds. cache: of keys and values. block: slots of a block of a paged cache.
    """

    context: int
    batch: int = 1
    shared: int = 0
    weights: Dtype | None = None
    cache: Dtype = DTYPES["bf16"]
    block: int = 16

    @property
    def activations(self) -> int:
        """Bytes of an activation: 4 where weights are fp32, 8 where fp64, else 2."""
        return {"fp32": 4, "fp64": 8}.get(self.weights.name, 2) if self.weights else 2


@dataclass(frozen=True)
class Machine:
    """memory: bytes. bandwidth: bytes a second. flops: operations a second. None: not told."""

    memory: int | None = None
    bandwidth: int | None = None
    flops: int | None = None


UNKNOWN = Machine()
"""No machine is thought of."""
