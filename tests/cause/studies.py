"""Studies of planted models, run up to a stage."""

from whybox.cause.bench import Bench
from whybox.cause.stages import run_stages, stages
from whybox.cause.study import Study, open_study
from whybox.testing.planted import Planted


def opened(planted: Planted, engine: str = "torch", limit: int = 4, fact: str = "") -> Study:
    model = planted.model.variant(engine=engine)
    return open_study(Bench(model), planted.case.instances(seed=0), limit, fact=fact)


def studied(planted: Planted, last: str, engine: str = "torch", fact: str = "") -> Study:
    """All stages up to one."""
    study = opened(planted, engine, fact=fact)
    plan = stages(study)
    names = [stage.name for stage in plan]
    assert run_stages(study, plan[: names.index(last) + 1]) is None
    return study
