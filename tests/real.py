"""The two real models. The last two that were asked for stay open: a worker with all of them holds gigabytes."""

from functools import lru_cache

from tests.models import model_path
from whybox.model import Model, open_model


@lru_cache(maxsize=2)
def real(name: str, engine: str = "numpy") -> Model:
    """`smollm2` or `gemma3-270m`, in float32."""
    return open_model(str(model_path(name)), engine)
