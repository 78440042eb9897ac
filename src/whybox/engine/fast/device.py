"""Where torch computes: the device of a name."""

import torch

from whybox.errors import UsageError


def device(name: str) -> torch.device:
    """`auto` is the GPU where there is one. UsageError for a device that torch does not see."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
    except RuntimeError:
        raise UsageError(f"device {name!r} is not known", "available: auto, cpu, cuda, cuda:N") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise UsageError("device 'cuda' is not available: torch sees no GPU here", "use --device cpu")
    if name != "cpu" and found.type != "cuda":
        raise UsageError(f"device {name!r} is not supported", "available: auto, cpu, cuda, cuda:N")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"device {name!r} is not available: torch sees {torch.cuda.device_count()} GPUs, from cuda:0")
    return found
