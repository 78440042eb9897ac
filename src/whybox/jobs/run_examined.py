"""What a run knows of its targets before it plans: examined once, kept in its file, never asked again."""

from collections.abc import Callable, Mapping
from pathlib import Path

from whybox.jobs.doctor.brief import Wanted, examined
from whybox.suite.database import made_folder
from whybox.suite.examined import Examined, keep, kept
from whybox.suite.store import Store
from whybox.suite.terms import Terms
from whybox.targets.target import Target
from whybox.targets.until_done import until_closed

Wish = tuple[Target, Wanted]
Know = Callable[[Mapping[str, Wish], Terms], Mapping[str, Examined]]
"""How a run comes to know its targets, by their names: from its file, by asking, or not at all. Terms: of the run."""


def as_said(wishes: Mapping[str, Wish], terms: Terms) -> Mapping[str, Examined]:
    """Nobody is asked: targets are what they say of themselves."""
    return {}


def remembered(path: Path, wishes: Mapping[str, Wish], terms: Terms) -> Mapping[str, Examined]:
    """What the file of an earlier go holds; nobody is asked."""
    if not path.is_file():
        return {}
    with Store(path) as store:
        found = {name: kept(store, target) for name, (target, _) in wishes.items()}
    return {name: each for name, each in found.items() if each is not None}


def once(path: Path, wishes: Mapping[str, Wish], terms: Terms) -> Mapping[str, Examined]:
    """What the file holds, and whoever is not in it is examined. EndpointError, InfrastructureError as `examined`.

    UsageError where the file holds another run, before anybody is asked.
    """
    known = dict(remembered(path, wishes, terms))
    made_folder(path.parent)
    with Store(path) as store:
        store.require(terms)
        for name, (target, wanted) in wishes.items():
            if name not in known:
                known[name] = until_closed(examined(target, wanted), [target])
                keep(store, target, known[name])
    return known
