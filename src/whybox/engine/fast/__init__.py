"""The fast engine (torch): same protocol, same sites, same order as the reference engine."""

from whybox.engine.fast.engine import FastEngine
from whybox.engine.fast.kernels import Kernel
from whybox.engine.fast.packed import Packed, Precision, pack, pack_streamed, shared_views

__all__ = ["FastEngine", "Kernel", "Packed", "Precision", "pack", "pack_streamed", "shared_views"]
