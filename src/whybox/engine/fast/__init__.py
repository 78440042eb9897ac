"""The fast engine (torch): same protocol, same sites, same order as the reference engine."""

from whybox.engine.fast.device import device
from whybox.engine.fast.engine import CHUNK, FastEngine
from whybox.engine.fast.kernel_choice import Kernel
from whybox.engine.fast.packed import Packed, pack, pack_streamed, shared_views
from whybox.engine.fast.precision import Precision, require_precision

__all__ = [
    "CHUNK",
    "FastEngine",
    "Kernel",
    "Packed",
    "Precision",
    "device",
    "pack",
    "pack_streamed",
    "require_precision",
    "shared_views",
]
