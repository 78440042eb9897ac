"""Weight given to a key that a sliding window has let go: the same in every way of running, or refused."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import drawn
from tests.measure.looked_at import tokenizer
from whybox.engine import counterfactual
from whybox.engine.edit import Edit, add, set_to
from whybox.engine.forgotten import forgotten, outside_window
from whybox.engine.reuse import Asked, run
from whybox.engine.sampling import GREEDY
from whybox.engine.trace import Change, Draft, Engine
from whybox.engine.writing import Writing
from whybox.errors import SiteError
from whybox.model import Model
from whybox.testing.memory_file import MemoryFile

SPEC = KINDS["window 5"]
IDS = (3, 17, 5, 2, 11, 13, 7, 5, 9, 1, 13, 16)
LAST = add("pattern", 3.0, 1, q=11, k=2)
BOTH = pytest.mark.parametrize("engine", [reference(SPEC), fast(SPEC)], ids=["numpy", "torch"])


@pytest.mark.parametrize(
    ("edit", "gone"),
    [
        (LAST, (1, 11, 2)),
        (add("pattern", 3.0, 1, q=11, k=6), (1, 11, 6)),  # one before the oldest that query 11 sees
        (add("pattern", 3.0, 1, q=11, k=7), None),
        (add("pattern", 0.0, 1, q=11, k=2), None),
        (set_to("pattern", 0.3, 2), (2, 11, 0)),
        (add("scores", 3.0, 1, q=11, k=2), None),  # the mask takes it back
        (add("pattern", 3.0, 1, q=3, k=9), None),
    ],
)
def test_what_lies_outside(edit: Edit, gone: tuple[int, int, int] | None) -> None:
    assert outside_window([edit], range(12), SPEC) == gone


@BOTH
def test_a_run_behind_a_cache_refuses_it(engine: Engine) -> None:
    cache = engine.run(IDS[:11]).cache
    assert forgotten([LAST], range(11, 12), cache, SPEC) == (1, 11, 2)
    with pytest.raises(SiteError, match="key 2 is outside the window of query 11"):
        engine.run(IDS[11:], (), [LAST], cache)
    assert engine.run(IDS[11:], (), [add("pattern", 3.0, 1, q=11, k=7)], cache).changed == (True,)


@BOTH
def test_what_can_begin_from_nothing_does(engine: Engine) -> None:
    base, change = engine.run(IDS), Change(edits=(LAST,))
    fresh = counterfactual.fresh_run(engine, base, change)
    assert np.abs(fresh.logits - base.logits).max() > 1
    swept = dict(engine.counterfactuals(base, [change, Change(edits=(add("embed", 1.0, q=11),))]))[0]
    np.testing.assert_allclose(swept.logits, fresh.logits, rtol=0, atol=1e-12)
    after = run(engine, Asked(IDS, (), (LAST,), 1, len(IDS)), base)
    np.testing.assert_allclose(after.logits[-1], fresh.logits[-1], rtol=0, atol=1e-12)


@BOTH
def test_drafts_that_could_share_what_is_gone_do_not(engine: Engine) -> None:
    drafts = [Draft(ids, 1, (LAST,)) for ids in (IDS, (*IDS[:11], 4))]
    writing = Writing(drafts, [GREEDY, GREEDY], frozenset())
    assert engine.write(drafts, writing) == [(True,), (True,)]
    alone = [int(engine.run(draft.ids, (), (LAST,), tail=1).logits[-1].argmax()) for draft in drafts]
    assert [written[0] for written in writing.written] == alone


@BOTH
def test_a_written_token_is_refused_it_before_anything_runs(engine: Engine) -> None:
    weights = drawn(SPEC)
    model = Model("random", MemoryFile(Path("random"), {}, weights), weights, tokenizer(), engine, allow_long=True)
    edit = add("pattern", 9.0, 1, q=13, k=2)

    def many(prompt: Sequence[int], *given: Any, **more: Any) -> Any:
        return model.generate_many([prompt], *given, **more)

    writers: list[Callable[..., Any]] = [model.generate, many]
    for write in writers:
        with pytest.raises(SiteError, match="key 2 is outside the window of query 13") as caught:
            write(IDS, 6, edits=[edit])
        assert "cache=False" in caught.value.remedy
        assert write(IDS, 2, edits=[LAST])
    afresh = Model("random", model.file, weights, tokenizer(), engine, allow_long=True, cached=False)
    text = [*IDS]
    for _ in range(3):
        text.append(int(engine.run(text, (), [edit], tail=1).logits[-1].argmax()))
    found = afresh.generate(IDS, 3, edits=[edit])
    assert list(found.ids) == text[12 : 12 + len(found.ids)]
    assert len(found.ids) >= 2
