"""Two models of unlike shape, compared as far as they go: the sites that both have, the next token, what is written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.compare.divergence import TOLERANCE
from whybox.compare.harm import Forced, Harm, forced, harm
from whybox.compare.naming import Parting
from whybox.compare.observation import errors
from whybox.compare.profile import Profile, profile
from whybox.compare.prompts import Text
from whybox.compare.sides import Live
from whybox.statistics.intervals import Rate

Written = tuple[tuple[int, ...], tuple[int, ...]]
MOST_LOGITS = 1 << 26


@dataclass(frozen=True)
class AsFar:
    """What could be compared, and what could not: (what, why)."""

    first: Parting | None
    first_text: str | None
    profile: Profile | None
    harm: Harm | None
    unsaid: tuple[tuple[str, str], ...]


def as_far(ours: Live, theirs: Live, texts: Sequence[Text], count: int, precision: str) -> AsFar:
    """No cause is sought: two models are no two runs of one."""
    one, other = ours.model, theirs.model
    unsaid = [("a cause", "the two sides are models of unlike shape")]
    alike = [text for text in texts if text.asked is None or tuple(other.prompt(text.asked).ids) == text.ids]
    if one.spec.vocab != other.spec.vocab or len(alike) < len(texts):
        unsaid.append(("logits, sites, texts token by token", "the sides read other token ids"))
        return AsFar(None, None, None, _by_text(ours, theirs, texts, count), tuple(unsaid))
    limit = TOLERANCE[precision]
    found = _Found([], [], None)
    for text in texts:
        found.look(ours, theirs, text, limit)
    layers = len(one.spec.layers), len(other.spec.layers)
    if layers[0] != layers[1]:
        unsaid.append((f"layers {min(layers)} … {max(layers) - 1}", "one side alone has them"))
    if one.spec.width != other.spec.width:
        unsaid.append(("the residual stream", "it has another width"))
    first, where = found.first or (None, None)
    shape = found.profiles[0] if found.profiles else None
    written = list(_written(ours, theirs, texts, count))
    return AsFar(first, where, shape, harm(found.forced, 0.0, written) if found.forced else None, tuple(unsaid))


@dataclass
class _Found:
    """Of all texts. first: the first site beyond the tolerance of the precision, and its text."""

    forced: list[Forced]
    profiles: list[Profile]
    first: tuple[Parting, str] | None

    def look(self, ours: Live, theirs: Live, text: Text, limit: float) -> None:
        rows, spec = max(1, MOST_LOGITS // ours.model.spec.vocab), ours.model.spec
        mine, seen = ours.observe(text.ids, rows), theirs.observe(text.ids, rows)
        found = errors(mine, seen, spec)
        if mine.logits is not None and seen.logits is not None:
            self.forced.append(forced(mine.logits, seen.logits, len(text.ids)))
        self.profiles.append(profile(found, {key: np.full(len(rows), limit) for key, rows in found.items()}, spec))
        for (site, layer), row in found.items():
            beyond = np.flatnonzero(row > limit)
            if beyond.size and self.first is None:
                at = int(beyond[0])
                self.first = Parting(site, layer, at, float(row[at]), limit), text.name


def _by_text(ours: Live, theirs: Live, texts: Sequence[Text], count: int) -> Harm | None:
    """Each side writes behind its own ids: only what is written can be compared."""
    asked = [text.asked for text in texts if text.asked is not None]
    if not asked or not count:
        return None
    pairs = [(ours.model.generate(each, count).text, theirs.model.generate(each, count).text) for each in asked]
    return Harm(0, np.nan, np.nan, Rate(0, 0), 0, np.nan, Rate(sum(a != b for a, b in pairs), len(pairs)))


def _written(ours: Live, theirs: Live, texts: Sequence[Text], count: int) -> Iterator[Written]:
    for text in (text for text in texts if count):
        ids = list(text.ids)
        yield ours.model.generate(ids, count).ids, theirs.model.generate(ids, count).ids
