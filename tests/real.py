"""The two real models, opened once for the whole test run."""

from functools import cache

from tests.models import model_path
from whybox.model import Model, open_model


@cache
def real(name: str, engine: str = "numpy") -> Model:
    """`smollm2` or `gemma3-270m`, in float32."""
    return open_model(str(model_path(name)), engine)
