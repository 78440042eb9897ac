"""Who said what: is a claim credited to the document that makes it, in every order of the documents?

credited [item order run]: the source that an answer names (0 … k − 1), NONE where it names none, LOST where the call
failed; asked [item]: the right one; orders [order place]: which source stands at each place.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer

from whybox.statistics.calls import LOST, Calls
from whybox.statistics.intervals import Rate
from whybox.statistics.permutation import RESAMPLES, Permuted, within_items
from whybox.statistics.unknown import Unknown

NONE = -2  # an answer without a source: not right, and of no document

Orders = Integer[np.ndarray, "order place"]


def attributed(credited: Calls, asked: Integer[np.ndarray, "item"]) -> Calls:
    """Marks [item order run]: whether the right source was named."""
    return np.where(credited == LOST, LOST, (credited == asked[:, None, None]).astype(int))


def sources(credited: Calls, asked: Integer[np.ndarray, "item"], k: int) -> Integer[np.ndarray, "k column"]:
    """Confusion matrix, right source × named source; the last column counts answers that name none."""
    right = np.broadcast_to(asked[:, None, None], credited.shape)
    return _counted(right, credited, k)


def places(credited: Calls, asked: Integer[np.ndarray, "item"], orders: Orders) -> Integer[np.ndarray, "k column"]:
    """Confusion matrix, place of the right source × place of the named one; the last column counts answers without."""
    standing = _standing(orders)
    right = np.broadcast_to(standing[:, asked].T[:, :, None], credited.shape)
    named = np.where(credited < 0, credited, standing[np.arange(len(orders))[:, None], np.maximum(credited, 0)])
    return _counted(right, named, orders.shape[1])


@dataclass(frozen=True)
class Primacy:
    """P(first document | a wrong document was named) − 1/k, beside its null; wrong: how many named a wrong one."""

    value: float
    null: Permuted | Unknown
    wrong: Rate


def primacy(
    credited: Calls,
    asked: Integer[np.ndarray, "item"],
    orders: Orders,
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Primacy | Unknown:
    """Null: the calls of an item are dealt anew to the orders; what they named stays."""
    items, _, runs = credited.shape
    k = orders.shape[1]
    wrong = (credited >= 0) & (credited != asked[:, None, None])
    if not wrong.any():
        return Unknown("no wrong document was named")
    leaders = np.repeat(orders[:, 0], runs)
    named = np.where(wrong, credited, NONE).reshape(items, -1)
    total = int(wrong.sum())

    def share(slots: np.ndarray) -> Float[np.ndarray, "..."]:
        shape = (-1,) + (1,) * (slots.ndim - 1)
        return np.asarray((slots == leaders.reshape(shape)).sum(axis=(0, -1)) / total - 1 / k)

    null = within_items(named, share, generator, resamples=resamples)
    return Primacy(float(share(named.T)), null, Rate(total, int((credited != LOST).sum())))


def swap_consistency(
    marks: Integer[np.ndarray, "item order"], mirror: Integer[np.ndarray, "item order"]
) -> tuple[Rate, Rate]:
    """Agreement of an item with its mirror (claims exchanged between the sources), and items where only one is right.

    A source is favoured only where mirrors agree: otherwise plausibility of the claims may have decided.
    """
    both = (marks != LOST) & (mirror != LOST)
    agree = both & (marks == mirror)
    return Rate(int(agree.sum()), int(both.sum())), Rate(int((both & ~agree).sum()), int(both.sum()))


def blend(values_named: Integer[np.ndarray, "..."]) -> Rate:
    """Answers that hold the values of two documents or more; LOST where the call failed."""
    return Rate(int((values_named >= 2).sum()), int((values_named != LOST).sum()))


def _standing(orders: Orders) -> Integer[np.ndarray, "order source"]:
    """At which place every source stands."""
    return np.argsort(orders, axis=1)


def _counted(
    right: Integer[np.ndarray, "item order run"], named: Integer[np.ndarray, "item order run"], k: int
) -> Integer[np.ndarray, "k column"]:
    came: Bool[np.ndarray, "..."] = named != LOST
    table = np.zeros((k, k + 1), int)
    np.add.at(table, (right[came], np.where(named[came] < 0, k, named[came])), 1)
    return table
