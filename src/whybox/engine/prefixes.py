"""Many prompts, their shared prefixes computed once: a radix tree over ids, walked depth first.

A step either fills the cache with a span that several prompts share, or finishes prompts that depart from the same
place, in one batch. Caches stand on a stack, one for each shared span on the way from the root, so memory is bounded by
the longest prompt and by `room`, however many prompts there are.

Each prompt keeps for its own end as many tokens as rows of logits are wanted, at least one; equal prompts are run once.
A span is worth a pass of its own when it saves at least as many rows as starting a pass costs (`launch`, see `plan`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from whybox.engine.felt import common
from whybox.engine.plan import LAUNCH, Task, batches
from whybox.errors import PromptError

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Fill:
    """Feed ids behind the cache that stands `depth` spans above the empty one, and put the grown cache on top."""

    depth: int
    start: int
    ids: Ids


@dataclass(frozen=True)
class Finish:
    """Feed each text behind the cache at `depth`, as one batch. prompts: for each text, the prompts that end so."""

    depth: int
    start: int
    texts: tuple[Ids, ...]
    prompts: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> int:
        """Rows in flight: as many for each text as for the longest."""
        return len(self.texts) * max(map(len, self.texts))


Step = Fill | Finish


@dataclass(frozen=True)
class Schedule:
    """Steps in order. tokens: of all prompts. computed: fed in all steps."""

    steps: tuple[Step, ...]
    tokens: int
    computed: int

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def saved(self) -> int:
        """Tokens that are not computed again."""
        return self.tokens - self.computed


def schedule(
    prompts: Sequence[Sequence[int]], room: int, launch: int = LAUNCH, ends: Sequence[int] | None = None
) -> Schedule:
    """The steps by which all prompts are run. PromptError for an empty one, UsageError for a room below one row.

    ends: how many tokens each keeps for its own end (None: one). room: rows in flight at most; a text that alone
    exceeds it is a batch of its own, and a shared span is fed in chunks of the engine's choice. launch: price of a
    pass, in rows; 0 shares every common token.
    """
    same: dict[Ids, list[int]] = {}
    for index, prompt in enumerate(prompts):
        if not prompt:
            raise PromptError(f"prompt {index} is empty", "give at least one token")
        same.setdefault(tuple(prompt), []).append(index)
    texts = sorted(same)
    kept = [max(1 if ends is None else ends[prompt] for prompt in same[text]) for text in texts]
    steps = tuple(_walk(_pruned(_tree(texts, kept), launch), texts, same, room, launch))
    fed = sum(len(step.ids) if isinstance(step, Fill) else sum(map(len, step.texts)) for step in steps)
    return Schedule(steps, sum(map(len, prompts)), fed)


@dataclass(eq=False)
class _Node:
    """The first `end` ids of a text, shared by all below. leaves: the texts that depart here for their ends."""

    text: int
    end: int
    children: list["_Node"] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)


def _tree(texts: Sequence[Ids], kept: Sequence[int]) -> _Node:
    """The radix tree of sorted, distinct texts, from what each shares with its neighbours; all ends are leaves."""
    most = [len(text) - end for text, end in zip(texts, kept, strict=True)]
    root = _Node(0, 0)
    way = [root]
    shares = [0, *(min(common(texts[i], texts[j]), most[i], most[j]) for i, j in pairwise(range(len(texts)))), 0]
    for text, before, after in zip(range(len(texts)), shares, shares[1:], strict=False):
        _close(way, before)
        if after > way[-1].end:
            way.append(_Node(text, after))
        way[-1].leaves.append(text)
    _close(way, 0)
    return root


def _close(way: list[_Node], end: int) -> None:
    """Nodes deeper than `end` have all their texts; where none stands at `end`, one is put between."""
    while way[-1].end > end:
        done = way.pop()
        if way[-1].end < end:
            way.append(_Node(done.text, end))
        way[-1].children.append(done)


def _pruned(root: _Node, launch: int) -> _Node:
    """The tree without spans that are not worth a pass: what departs from such a node departs from the one above."""
    for node in reversed(list(_nodes(root))):
        kept: list[_Node] = []
        for child in node.children:
            copies = len(child.children) + len(child.leaves) - 1
            if copies * (child.end - node.end) >= launch:
                kept.append(child)
            else:
                kept += child.children
                node.leaves += child.leaves
        node.children = kept
    return root


def _nodes(root: _Node) -> Iterator[_Node]:
    """Every node before those below it. No recursion: dialogues make trees as deep as they have turns."""
    ahead = [root]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += reversed(node.children)


def _walk(root: _Node, texts: Sequence[Ids], same: Mapping[Ids, list[int]], room: int, launch: int) -> Iterator[Step]:
    ahead = [(root, 0, 0)]
    while ahead:
        node, depth, start = ahead.pop()
        if node.end > start:
            yield Fill(depth, start, texts[node.text][start : node.end])
            depth += 1
        tasks = [Task(0, node.end, len(texts[leaf])) for leaf in node.leaves]
        for batch in batches(tasks, 1, room, launch):
            chosen = [texts[node.leaves[member]] for member in batch]
            ends, prompts = (text[node.end :] for text in chosen), (tuple(same[text]) for text in chosen)
            yield Finish(depth, node.end, tuple(ends), tuple(prompts))
        ahead += [(child, depth, node.end) for child in reversed(node.children)]
