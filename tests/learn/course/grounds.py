"""One ground on the default model for the chapters that a worker tests: what they share is computed once."""

from functools import cache

from tests.real import real
from whybox.learn.ground import Ground


@cache
def on_smollm2() -> Ground:
    return Ground(lambda: real("smollm2"))
