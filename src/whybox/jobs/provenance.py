"""Who computed it: the model's part of every document."""

import platform

import numpy as np

from whybox.model import Model
from whybox.report.document import ModelInfo
from whybox.version import __version__


def model_info(model: Model) -> ModelInfo:
    """Name, family, digest of the file, engine, precision and kernel."""
    return ModelInfo(
        name=model.name,
        family=model.spec.family,
        digest=model.file.digest(),
        engine=model.engine.name,
        precision=model.engine.precision,
        kernel=model.engine.kernel,
    )


def versions() -> dict[str, str]:
    """What computed it."""
    return {"whybox": __version__, "numpy": np.__version__, "python": platform.python_version()}
