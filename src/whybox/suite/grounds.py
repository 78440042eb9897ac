"""What plans are made on: the suite as it was asked for, targets and how they count, the user's items."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from whybox.errors import UsageError
from whybox.items.generate import Item
from whybox.probes.design import Design, Ground
from whybox.probes.encoding import encoder_of
from whybox.probes.ways import ways_of
from whybox.suite.behaviour import Behaviour
from whybox.suite.data import load_items
from whybox.targets.local import LocalTarget
from whybox.targets.target import Sampling, Target


def seeded(suite: Behaviour, seed: int | None, repeat: int | None) -> Behaviour:
    """The suite with another seed, and every call of its probes made so many times."""
    file = suite.file if seed is None else suite.file.model_copy(update={"seed": seed})
    probes = suite.probes
    if repeat is not None:
        probes = {name: _repeated(design, repeat) for name, design in probes.items()}
    return replace(suite, file=file, probes=probes)


def _repeated(design: Design, runs: int) -> Design:
    try:
        return type(design).model_validate({**dict(design), "runs": runs})
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"].lower()
        raise UsageError(f"--repeat {runs}: {design.NAME}: runs: {said}") from error


def grounds_of(suite: Behaviour, targets: Mapping[str, Target], folder: Path) -> dict[str, Ground]:
    """What plans are made on. folder: from which the paths of `data` are read."""
    data = {name: _items(suite, name, folder) for name in suite.file.data}
    run = suite.file.run
    sampling = Sampling(run.temperature, run.top_p, seed=run.seed, stop=tuple(run.stop))
    return {
        name: Ground(
            name,
            target.abilities,
            suite.file.seed,
            sampling,
            *_counting(target),
            data,
            _others(name, targets),
            encoder_of(target),
            ways_of(target),
        )
        for name, target in targets.items()
    }


def _items(suite: Behaviour, name: str, folder: Path) -> tuple[Item, ...]:
    each = suite.file.data[name]
    with suite.told_of("data", name, "file"):
        return load_items(folder / each.file, each.language)


def _others(name: str, targets: Mapping[str, Target]) -> tuple[str, ...]:
    return tuple(other for other in targets if other != name)


def _counting(target: Target) -> tuple[Callable[[str], int], bool]:
    """How a target counts tokens; characters where it does not count in this process."""
    if isinstance(target, LocalTarget):
        tokenizer = target.model.tokenizer
        return (lambda text: len(tokenizer.encode(text))), True
    return len, False
