"""Which parts the costly experiments are about: those that do something alone, or once others are gone.

    alone    e(j), taken out by itself
    without  e(j | C), taken out when others already are: the rest of its layer, or the three that wrote most

A part whose single effect is nil can still be a stand-in: ranked by single effects alone it would never be looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybox.cause.components import Component, Group, Head, all_heads, all_mlps
from whybox.cause.experiment import effects
from whybox.cause.ground import Ground
from whybox.cause.replacement import Replacement, Zeroed

WRITERS = 3


@dataclass(frozen=True)
class Candidates:
    """alone: with the replacement of the experiment. here, without: of heads at the decision, alone and when others
    are gone.
    """

    alone: Mapping[Component, float]
    here: Mapping[Component, float]
    without: Mapping[Component, float]

    def size(self, component: Component) -> float:
        """What a part can do, as far as was seen."""
        return max(abs(self.alone[component]), abs(self.without.get(component, 0.0)))

    def at_decision(self, head: Component) -> float:
        """What a head can do at the decision, alone or when others are gone."""
        return max(abs(self.here[head]), abs(self.without[head]))

    def strongest(self, components: Sequence[Component], count: int) -> list[Component]:
        return sorted(components, key=lambda one: -self.size(one))[:count]


def candidates(ground: Ground, replacement: Replacement, wrote: Mapping[Component, float]) -> Candidates:
    """Every head and MLP. wrote: direct contributions; the three largest of heads are C once."""
    heads: list[Component] = [*all_heads(ground.spec)]
    every: list[Group] = [(one,) for one in (*heads, *all_mlps(ground.spec))]
    alone = {group[0]: moved.effect for group, moved in effects(ground, replacement, every).items()}
    writers = tuple(sorted((one for one in heads if one in wrote), key=lambda one: -abs(wrote[one]))[:WRITERS])
    return Candidates(alone, *_at_decision(ground, writers))


def _at_decision(ground: Ground, writers: Group) -> tuple[dict[Component, float], dict[Component, float]]:
    """Every head alone, and the larger, in size, of its two conditional effects."""
    out = Zeroed(ground.answer_rows)
    heads = list(all_heads(ground.spec))
    every: list[Component] = [*heads]
    layers: dict[int, Group] = {}
    for head in heads:
        layers[head.layer] = (*layers.get(head.layer, ()), head)
    rests = {head: tuple(one for one in layers[head.layer] if one != head) for head in heads}
    others = {head: tuple(one for one in writers if one != head) for head in heads}
    whole = (*layers.values(), *rests.values(), *others.values(), *((head, *others[head]) for head in heads))
    wanted = dict.fromkeys((*((head,) for head in heads), *whole))
    found = effects(ground, out, [group for group in wanted if group])
    gone = {group: moved.effect for group, moved in found.items()} | {(): 0.0}
    larger = (_larger(gone, head, layers[head.layer], rests[head], others[head]) for head in heads)
    return {head: gone[head,] for head in heads}, dict(zip(every, larger, strict=True))


def _larger(gone: Mapping[Group, float], head: Head, layer: Group, rest: Group, others: Group) -> float:
    return max(gone[layer] - gone[rest], gone[head, *others] - gone[others], key=abs)
