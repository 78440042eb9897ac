"""The lookup is the one-hot product, exactly; strange ids are refused."""

import tracemalloc

import numpy as np
import pytest

from whybox.errors import PromptError
from whybox.parts.embedding import lookup, one_hot


def test_lookup_is_the_one_hot_product() -> None:
    table = np.random.default_rng(0).normal(size=(1009, 61))
    ids = np.array([42, 7, 256, 99, 42, 1008, 0])
    assert (lookup(ids, table) == one_hot(ids, 1009) @ table).all()


def test_documents_shapes() -> None:
    table = np.random.default_rng(0).normal(size=(1000, 64)) * 0.02
    got = lookup(np.array([42, 7, 256, 99]), table)
    assert got.shape == (4, 64)
    assert (got[0] == table[42]).all()


@pytest.mark.parametrize("bad", [13, -1])
def test_ids_outside_the_table_are_refused(bad: int) -> None:
    with pytest.raises(PromptError, match=rf"vocabulary of 13.*found {bad} at place 1"):
        lookup(np.array([0, bad]), np.zeros((13, 2)))


def test_no_one_hot_is_allocated() -> None:
    table, ids = np.zeros((49_152, 16), np.float32), np.arange(512)
    tracemalloc.start()
    lookup(ids, table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 512 * 49_152 / 100
