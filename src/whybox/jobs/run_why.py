"""`whybox run --why`: the items that failed on weights of this machine, each explained, and its mechanism."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from whybox.errors import UsageError, WhyboxError
from whybox.items.case import Case
from whybox.jobs.run_document import Mechanisms
from whybox.jobs.why import WhyOptions, why
from whybox.model import Model
from whybox.probes.design import Deciding, Finding
from whybox.report.document import Lang, Mechanism, WhyDocument
from whybox.suite.behaviour import Behaviour
from whybox.suite.judgement import Where
from whybox.suite.whole import Found
from whybox.targets.local import LocalTarget
from whybox.targets.target import Target

Failed = tuple[Where, int, Deciding]
TellWhy = Callable[[Where, str, int, int], None]
NOT_EXPLAINED = "not explained"


def unheard(where: Where, item: str, number: int, of: int) -> None:
    """Tells nobody."""


def require_weights(targets: Mapping[str, Target]) -> None:
    """UsageError for a target of which only behaviour can be seen."""
    for name, target in targets.items():
        if not isinstance(target, LocalTarget):
            raise UsageError(
                f"--why needs weights of this machine; {name!r} ({target.identity.kind}) shows its behaviour alone",
                "leave --why out, or give local weights of the same model in its place: -m MODEL --why",
            )


def explained(suite: Behaviour, targets: Mapping[str, Target], found: Found, options: "Asking") -> Mechanisms:
    """A mechanism for each of the first failed items of every probe; why there is none, where `why` refuses one."""
    failed = [
        one for where, finding in found.findings.items() if isinstance(finding, Finding)
        for one in _first(where, finding, options.most)
    ]
    mechanisms: dict[tuple[Where, int], Mechanism] = {}
    for number, (where, index, deciding) in enumerate(failed, 1):
        options.tell(where, deciding.item, number, len(failed))
        target = targets[where[1]]
        assert isinstance(target, LocalTarget), "checked before the first call"
        mechanisms[where, index] = _mechanism(target.model, deciding, suite, where, options.lang)
    return mechanisms
