"""Counterfactual runs that recompute only what can change, many in one batch.

A base run keeps the residual stream at the entry of each layer where a change begins, and all keys and values. A change
first felt at layer L and position P then computes rows P … of the layers from L on: its rows enter from the base run's
stream, and look at the base run's keys before P. Members of a batch share P, and join at their own layers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from whybox.engine.counterfactual import fresh_run, tail
from whybox.engine.edit import Edit, portion, row_axis, site_axes
from whybox.engine.fast.block import Batch, Block
from whybox.engine.fast.engine import FastEngine
from whybox.engine.fast.keys import Behind, LayerKeys, Part, padded
from whybox.engine.fast.tap import BatchTap, Places, as_numpy
from whybox.engine.felt import Felt, reaches, rope_length
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_sweep
from whybox.engine.plan import Group, groups
from whybox.engine.trace import Cache, Change, Key, Trace, Wish, wanted
from whybox.errors import NonFiniteError, SiteError

Array = np.ndarray
ROWS = 1536  # in flight: about where the activations of a layer still lie in a processor's last cache
LOGIT_ROWS = 512  # of logits that are held at once
SCORES = 2**26  # numbers [b h q k] that one layer may hold at once


@dataclass(frozen=True, eq=False)
class Base:
    """What a base run leaves to its counterfactuals. stream: layer → what enters it [1 q c]; keys: of each layer."""

    trace: Trace
    stream: dict[int, Tensor]
    keys: list[Part]

    def before(self, layer: int, start: int) -> Part:
        """Keys and values of the rows before `start`."""
        part = self.keys[layer]
        return Part(part.key[:, :, :start], part.value[:, :, :start], part.positions[:, :start])


def counterfactuals(
    engine: FastEngine, trace: Trace, changes: Sequence[Change], see: Iterable[Wish] = ()
) -> Iterator[tuple[int, Trace]]:
    """(index, trace) of each change, batch by batch. Equal to fresh runs, within the noise of other product shapes."""
    if trace.start:
        raise SiteError(f"the base run began at position {trace.start}", "run the whole prompt without a cache")
    wishes, fresh = tuple(see), [_needs_fresh_run(change, trace) for change in changes]
    quick = [index for index, alone in enumerate(fresh) if not alone]
    chosen = [changes[index] for index in quick]
    plan = groups(chosen, trace, _room(trace, chosen)) if chosen else []
    for group in plan:
        _require_room(engine, trace, group, [chosen[member] for member in group.members], wishes)
    for index, change in enumerate(changes):
        if fresh[index]:
            yield index, fresh_run(engine, trace, change, wishes)
    for member, found in _inferred(_traces(engine, trace, chosen, plan, wishes)):
        yield quick[member], found


def _inferred(traces: Iterator[tuple[int, Trace]]) -> Iterator[tuple[int, Trace]]:
    """The mode is left wherever a trace is given away: who reads it may reckon with gradients."""
    while True:
        with torch.inference_mode():
            found = next(traces, None)
        if found is None:
            return
        yield found


def _traces(
    engine: FastEngine, trace: Trace, changes: Sequence[Change], plan: Sequence[Group], see: tuple[Wish, ...]
) -> Iterator[tuple[int, Trace]]:
    """Batch by batch, behind one more base run."""
    base = _base(engine, trace, plan, see) if plan else None
    for group in plan:
        assert base is not None
        for member, found in _Run(engine, base, group, [changes[i] for i in group.members], see).traces():
            yield group.members[member], found


def _require_room(
    engine: FastEngine, trace: Trace, group: Group, changes: Sequence[Change], see: tuple[Wish, ...]
) -> None:
    """CapacityError where a batch would not fit in memory beside what it needs of the base run."""
    batch = len(changes)
    rows = min(max(len(read_rows(trace, change)) for change in changes), max(group.end - group.start, 1))
    at_once = max(min(LOGIT_ROWS, batch * rows), rows)
    run = Run(group.end - group.start, past=group.start, batch=batch, tail=-(-at_once // batch), see=see)
    edits = [*trace.edits, *(edit for change in changes for edit in change.edits)]
    engine.require_room(run, need_of_sweep, edits)


def _needs_fresh_run(change: Change, trace: Trace) -> bool:
    """RoPE that another length turns otherwise; and a text cut so short that rows are read which the base left out."""
    ids = change.text(trace.ids)
    if rope_length(ids, trace) != trace.rope_length and trace.spec.length_dependent:
        return True
    cut_short = len(ids) < len(trace.ids) and ids == trace.ids[: len(ids)]
    return cut_short or read_rows(trace, change).start < trace.rows.start


def read_rows(trace: Trace, change: Change) -> range:
    """Positions for which the counterfactual has logits."""
    length, count = len(change.text(trace.ids)), tail(trace, change)
    return range(0 if count is None else max(length - count, 0), length)


def _room(trace: Trace, changes: Sequence[Change]) -> int:
    """Rows in flight: by activations, and by the scores of one layer."""
    longest = max(len(change.text(trace.ids)) for change in changes)
    heads = max(layer.attention.heads for layer in trace.spec.layers)
    return max(min(ROWS, SCORES // (heads * longest)), 1)


def _base(engine: FastEngine, trace: Trace, plan: Sequence[Group], see: tuple[Wish, ...]) -> Base:
    """The base run once more, with what its counterfactuals need."""
    positions, length = np.arange(len(trace.ids))[None], len(trace.ids)
    tap = BatchTap(engine.spec, see, (trace.edits,))
    batch = engine.batch(positions, (length,), tap, trace.rope_length)
    joined = {layer for group in plan for layer in group.layers}
    x, stream, keys = engine.embed(torch.tensor([trace.ids]), batch), {}, []
    for layer in range(len(engine.spec.layers)):
        if layer in joined:
            stream[layer] = x
        x, own = Block(engine.packed.layers[layer], layer, batch).run(x, Behind(None))
        keys.append(_part(own))
    stream[len(engine.spec.layers)] = x
    if tap.watches("final", None) or tap.watches("logits", None):
        rows = np.asarray(trace.rows)[None]
        engine.head(x[:, length - len(trace.rows) :], tap, Places(rows, rows, (len(trace.rows),)))
    return Base(replace(trace, sites=tap.kept[0], changed=tuple(tap.changed[0])), stream, keys)


def _part(keys: LayerKeys) -> Part:
    assert isinstance(keys, Behind)
    assert keys.own is not None
    return keys.own


@dataclass(eq=False)
class _Run:
    """One batch."""

    engine: FastEngine
    base: Base
    group: Group
    changes: list[Change]
    see: tuple[Wish, ...]
    texts: list[tuple[int, ...]] = field(init=False)
    tap: BatchTap = field(init=False)
    ids: Array = field(init=False)
    positions: Array = field(init=False)
    _batches: dict[int, Batch] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        trace, start = self.base.trace, self.group.start
        self.texts = [change.text(trace.ids) for change in self.changes]
        edits = [self._edits(change, text) for change, text in zip(self.changes, self.texts, strict=True)]
        self.tap = BatchTap(self.engine.spec, self.see, edits)
        self.ids, positions = padded([text[start:] for text in self.texts], start)
        alike = all(len(text) == self.group.end for text in self.texts)
        self.positions = positions[:1] if alike else positions

    def _edits(self, change: Change, text: tuple[int, ...]) -> tuple[Edit, ...]:
        whole, part = range(len(text)), range(self.group.start, len(text))
        return tuple(portion(edit, whole, part, self.engine.spec) for edit in (*self.base.trace.edits, *change.edits))

    def traces(self) -> Iterator[tuple[int, Trace]]:
        trace = self.base.trace
        if self.group.start == self.group.end:  # nothing is felt
            for member, change in enumerate(self.changes):
                changed = (*trace.changed, *(False for _ in change.edits))
                yield member, self._trace(member, trace.logits, trace.sites, changed)
            return
        x = self._through()
        for members in self._alike():
            yield from self._finished(members, x)

    def _alike(self) -> Iterator[range]:
        """Members whose logits are one product: they read equally many rows, and end at the same place."""
        first = 0
        for member in range(1, len(self.texts) + 1):
            most = max(LOGIT_ROWS // max(len(self._fresh(first)), 1), 1)
            if member == len(self.texts) or self._fresh(member) != self._fresh(first) or member - first == most:
                yield range(first, member)
                first = member

    def _through(self) -> Tensor:
        """The batch through its layers; members join where they are first felt."""
        x, needed = self._newcomers(0), self._needed()
        last = len(self.engine.spec.layers) - 1
        for layer in range(self.group.layer, last + 1):
            if layer:
                x = torch.cat([x, self._newcomers(layer)])
            keys = Behind(self.base.before(layer, self.group.start))
            rows = needed if layer == last else None
            x, _ = Block(self.engine.packed.layers[layer], layer, self._batch(len(x)), rows).run(x, keys)
        late = self._newcomers(last + 1)
        return torch.cat([x, late[:, late.shape[1] - x.shape[1] :] if len(x) else late])

    def _newcomers(self, layer: int) -> Tensor:
        """Rows [b q c] of the members that join here: embedded anew, or taken from the base run's stream."""
        count, start = self.group.layers.count(layer), self.group.start
        if layer == 0 and count:
            return self.engine.embed(torch.from_numpy(self.ids[:count]), self._batch(count))
        if not count:
            return self.base.keys[0].key.new_zeros(0, self.group.end - start, self.engine.spec.width)
        entering = self.base.stream[layer][:, start:]
        missing = self.group.end - start - entering.shape[1]
        return torch.nn.functional.pad(entering, (0, 0, 0, missing)).expand(count, -1, -1)

    def _batch(self, count: int) -> Batch:
        """The first `count` members as a batch; layers that nobody joins share one."""
        if count not in self._batches:
            positions = self.positions if len(self.positions) == 1 else self.positions[:count]
            lengths = [len(text) - self.group.start for text in self.texts[:count]]
            self._batches[count] = self.engine.batch(positions, lengths, self.tap, self.base.trace.rope_length)
        return self._batches[count]

    def _needed(self) -> int | None:
        """How many of the last rows are read; None for all, also where members end at different places."""
        if len(self.positions) > 1 or self.tap.busy_in(len(self.engine.spec.layers) - 1):
            return None
        return min(max(len(self._rows(member)) for member in range(len(self.texts))), self.group.end - self.group.start)

    def _rows(self, member: int) -> range:
        return read_rows(self.base.trace, self.changes[member])

    def _fresh(self, member: int) -> range:
        """Positions whose logits are computed here."""
        rows = self._rows(member)
        return range(max(rows.start, self.group.start), rows.stop)

    def _finished(self, members: range, x: Tensor) -> Iterator[tuple[int, Trace]]:
        fresh = self._fresh(members.start)
        stop = x.shape[1] - (self.group.end - fresh.stop)  # before the padding
        positions = np.asarray(fresh)[None]
        tap = BatchTap(self.engine.spec, self.see, self.tap.edits[members.start : members.stop])
        mine = x[members.start : members.stop, stop - len(fresh) : stop]
        logits = as_numpy(self.engine.head(mine, tap, Places(positions, positions, [len(fresh)] * len(members))))
        for place, member in enumerate(members):
            if not np.isfinite(logits[place]).all():
                fresh_run(self.engine, self.base.trace, self.changes[member])
                raise NonFiniteError("logits", None, fresh.stop - 1, "a batch of counterfactuals")
            yield member, self._joined(member, logits[place], tap.kept[place], tap.changed[place])

    def _joined(self, member: int, logits: Array, late: Mapping[Key, Array], changed: Sequence[bool]) -> Trace:
        """What was computed, behind what the base run says of earlier rows."""
        trace, length = self.base.trace, len(self.texts[member])
        older = slice(self._rows(member).start - trace.rows.start, self._fresh(member).start - trace.rows.start)
        before = (*self._kept(member), *(False for _ in self.changes[member].edits))
        any_changed = tuple(map(any, zip(before, self.tap.changed[member], changed, strict=True)))
        sites = self.tap.kept[member] | dict(late)
        whole = {key: self._site(key, sites.get(key), older, length) for key in wanted(self.see, trace.spec)}
        return self._trace(member, np.concatenate([trace.logits[older], logits]), whole, any_changed)

    def _kept(self, member: int) -> Iterator[bool]:
        """Whether each edit of the base run changed anything among the values that are not computed again."""
        trace, felt = self.base.trace, Felt(self.group.layers[member], self.group.start)
        for edit, changed in zip(trace.edits, trace.changed, strict=True):
            yield changed and reaches(edit, felt, len(trace.ids), trace.spec)

    def _site(self, key: Key, fresh: Array | None, older: slice, length: int) -> Array:
        """What was computed here, behind what the base run says of earlier rows (and of all rows in lower layers)."""
        base = self.base.trace.sites[key]
        if fresh is None:
            return base
        if key[1] is None and key[0] != "embed":
            return np.concatenate([base[older], fresh])
        if key[0] in ("scores", "pattern"):
            base, fresh = _with_keys(base, length, 0.0 if key[0] == "pattern" else -np.inf), fresh[..., :length]
        axis = row_axis(site_axes(key[0]))
        return np.concatenate([base.take(range(self.group.start), axis), fresh], axis=axis)

    def _trace(self, member: int, logits: Array, sites: Mapping[Key, Array], changed: tuple[bool, ...]) -> Trace:
        text, base = self.texts[member], self.base.trace
        return replace(
            base,
            ids=text,
            sites=sites,
            logits=logits,
            rows=self._rows(member),
            edits=(*base.edits, *self.changes[member].edits),
            changed=changed,
            cache=Cache((), len(text), rope_length(text, base)),
            prompt=None,
        )


def _with_keys(value: Array, length: int, hidden: float) -> Array:
    """[h q k] with `length` keys: those beyond the rows concerned are hidden from them in any case."""
    kept = value[..., :length]
    return np.pad(kept, ((0, 0), (0, 0), (0, length - kept.shape[-1])), constant_values=hidden)
