"""Which runs go together: those of the same numbers, in the same precision. Engines, kernels and chunks may differ.

Between engines and kernels of one precision lies the noise floor; between precisions, or weights, lies a difference.
"""

from whybox.engine.trace import Engine, Trace
from whybox.errors import UsageError


def require_like(trace: object, engine: Engine) -> None:
    """UsageError unless it is a run, made with this engine's description, weights and precision."""
    if not isinstance(trace, Trace):
        raise UsageError(f"expected a run, found {trace!r}", "such as trace = model.run(prompt)")
    if trace.spec != engine.spec:
        raise UsageError("the run was made by another model", "run its text with this one")
    if not trace.origin.is_of(engine.origin):
        raise UsageError(
            "the run was made with other weights than this model has, in the same architecture",
            "run its text with this model: a change of weights is a change too",
        )
    if trace.precision != engine.precision:
        raise UsageError(
            f"the base run was made in {trace.precision}, this model runs in {engine.precision}",
            "run the base with this model: a change of precision is a change too",
        )
