"""What callers may write, and what is refused by name: before anything runs, in one family of errors."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast
from tests.engine.random_models import IDS
from whybox.engine.wishes import number, real, whole, whole_numbers
from whybox.errors import SiteError, UsageError
from whybox.statistics.rows import AttentionWish

ROOT = Path(__file__).parents[2]


def test_whole_numbers_of_any_kind() -> None:
    assert (whole("n", np.int64(5)), whole("n", 0, 0), whole("n", True)) == (5, 0, 1)
    assert whole_numbers("n", np.array([3, 1])) == (3, 1)
    assert {type(each) for each in whole_numbers("n", np.array([3, 1]))} == {int}
    for strange in (1.5, "a", None, [1, 2]):
        with pytest.raises(UsageError, match="n: expected a whole number"):
            whole("n", strange)
    with pytest.raises(UsageError, match="n: expected at least 1, found 0"):
        whole("n", 0, 1)
    with pytest.raises(SiteError, match=r"n: .*found \[1, 'a'\]"):
        whole_numbers("n", [1, "a"], SiteError)


def test_real_numbers_of_any_kind() -> None:
    assert real("x", [1, 2.5]).tolist() == [1.0, 2.5]
    assert (number("x", np.float32(0.5)), number("x", 3)) == (0.5, 3.0)
    assert np.isnan(real("x", np.nan))
    for strange in (None, "a", 1j, [[1], [1, 2]], {}):
        with pytest.raises(UsageError, match="x: expected"):
            real("x", strange)
    with pytest.raises(UsageError, match=r"x: expected one number, found an array of shape \(2,\)"):
        number("x", [1, 2])


REFUSED = {
    "Change(ids=[1.5])": "UsageError: ids: expected a whole number",
    "Change(ids='abc')": "UsageError: ids: expected a whole number",
    "Change(continuation=[None])": "UsageError: continuation: expected a whole number",
    "Change(edits=['zero'])": "UsageError: edits: expected a list of edits",
    "Change(edits=zero('mlp_out'))": "UsageError: edits: expected a list of edits",
    "set_to('resid_post', None, 1)": "UsageError: value of resid_post: expected real numbers, found object",
    "set_to('resid_post', 1j, 1)": "UsageError: value of resid_post: expected real numbers, found complex128",
    "add('resid_post', 'a', 1)": "UsageError: value of resid_post: expected real numbers",
    "scale('resid_post', None, 1)": "UsageError: factor of resid_post: expected real numbers",
    "scale('resid_post', [1, 2], 1)": "UsageError: factor of resid_post: expected one number",
    "device('cpu:3')": "UsageError: device 'cpu:3' is not supported",
    "engine.run(IDS, see=[3])": "SiteError: see: expected a site, or a site and its layers, found 3",
    "engine.run(IDS, see=[('pattern', 1.5)])": "SiteError: layers of pattern: expected a whole number",
    "engine.run(IDS, see=3)": "SiteError: see: expected a list of sites, found 3",
    "engine.run(IDS, see='pattern')": "SiteError: see: expected a list of sites, found 'pattern'",
    "engine.run(IDS, see={'pattern': 3})": "SiteError: see: expected a list of sites",
    "engine.run(IDS, see=[('final', 3)])": "SiteError: final is not inside a layer",
    "engine.run(IDS, edits=[zero('sink_mass', 1)])": "SiteError: random has no site 'sink_mass'",
    "mixed.run(IDS, edits=[zero('sink_mass', 1)])": "SiteError: layer 1 has no site 'sink_mass'",
    "zero('mlp_out', q=slice(0, 3, 0))": "SiteError: axis 'q': expected a step of at least 1",
    "zero('mlp_out', q=slice(3, 0, -1))": "SiteError: axis 'q': expected a step of at least 1",
    "zero('mlp_out', q=slice(0.5, 3))": "SiteError: axis 'q': expected a whole number",
    "zero('mlp_out', q=slice('a', 3))": "SiteError: axis 'q': expected a whole number",
    "set_to('mlp_out', torch.zeros(13, requires_grad=True), 1)": "UsageError: value of mlp_out: expected numbers",
    "trace[3]": "SiteError: expected a site, or a site and its layer, found 3",
    "trace['pattern', 1, 2]": "SiteError: expected a site, or a site and its layer",
    "trace['pattern', 1.5]": "UsageError: layer: expected a whole number",
    "trace['final', 1]": "SiteError: final is not inside a layer",
    "require_like('x', engine)": "UsageError: expected a run, found 'x'",
    "pattern_of(engine, {}, trace, 1, 'a')": "UsageError: head: expected a whole number, found 'a'",
    "pattern_of(engine, {}, trace, 1.5, 0)": "UsageError: layer: expected a whole number, found 1.5",
    "AttentionWish(block=0)": "UsageError: expected top ≥ 0 and block ≥ 1, found 8 and 0",
    "AttentionWish(top=-1)": "UsageError: expected top ≥ 0 and block ≥ 1",
    "Decoding(temperature='a')": "UsageError: temperature: expected real numbers",
    "Decoding(top_k=1.5)": "UsageError: top_k: expected a whole number",
    "Decoding(top_p='a')": "UsageError: top_p: expected real numbers",
    "Decoding(seed='a')": "UsageError: seed: expected a whole number",
    "Decoding(banned='ab')": "UsageError: banned: expected a whole number",
    "decodings('greedy', 1)": "UsageError: decoding: expected a Decoding, found 'greedy'",
    "decodings(None, 1)": "UsageError: decoding: expected a Decoding, found None",
    "logit_difference('a', 2)": "UsageError: right id: expected a whole number",
    "logit_difference(99, 2)(trace)": "PromptError: id 99 is outside the vocabulary of 19 ids",
    "logit_difference(-1, 2)(trace)": "PromptError: id -1 is outside the vocabulary of 19 ids",
    "log_prob_of('ab')": "UsageError: ids of an answer: expected a whole number",
    "log_prob_of((99,), 12)(trace)": "PromptError: id 99 is outside the vocabulary",
    "logits_at('a')": "UsageError: rows: expected a whole number",
    "divergence(None)": "UsageError: expected a run to compare with, found None",
    "engine.gradient(trace, None, ['embed'])": "UsageError: read: expected a function of a run, found None",
    "engine.gradient(trace, logit_difference(1, 2), 'embed')": "SiteError: sites: expected a list of sites",
    "engine.gradient(trace, lambda run: run.logits.sum() * 1j, ['embed'])": "UsageError: the read gave torch.complex",
    "changes_of(Change())": "UsageError: changes: expected a list of changes",
    "changes_of([zero('mlp_out')])": "UsageError: changes: expected a list of changes",
    "Change(ids=[3, 2**70]).require_known(19)": "PromptError: id 1180591620717411303424 is outside the vocabulary",
    "Change(continuation=[-5]).require_known(19)": "PromptError: id -5 is outside the vocabulary of 19 ids",
    "attention_wish('yes', None)": "UsageError: statistics: expected True, False or an AttentionWish",
    "several('prompts', 'abc')": "UsageError: prompts: expected several in a list, found 'abc'",
    "trace.log_probs(3)": "SiteError: row 3: this run has 3 rows of logits, 0 … 2",
    "trace.log_probs(-4)": "SiteError: row -4: this run has 3 rows of logits",
    "trace.log_probs(1.5)": "UsageError: row: expected a whole number, found 1.5",
    "trace.next(-1)": "UsageError: count: expected at least 0, found -1",
    "sweep(engine, trace, [Change()], lambda run: None)": "UsageError: what the read gives: expected real numbers",
    "sweep(engine, trace, [Change()], lambda run: 1j)": "UsageError: what the read gives: expected real numbers",
    "require_possible(Way('torch', chunk='a'))": "UsageError: chunk: expected a whole number, found 'a'",
    "require_possible(Way('torch', chunk=1.5))": "UsageError: chunk: expected a whole number, found 1.5",
    "require_possible(Way('torch', batch=1.5))": "UsageError: batch: expected a whole number, found 1.5",
}
ACCEPTED = {
    "all(np.array_equal(given(x), given(np.arange(13.0))) for x in of_other_kinds)": "True",
    "Change([zero('key', 1)], np.array([3, 4]), [5]) == Change((zero('key', 1),), (3, 4), (5,))": "True",
    "set_to('mlp_out', [1, 2]).action.value.tolist()": "[1, 2]",
    "scale('mlp_out', np.float32(0.5)) == scale('mlp_out', 0.5)": "True",
    "sorted(seen.sites)": "[('key', 1), ('mlp_out', 0), ('mlp_out', 2), ('pattern', 1)]",
    "np.array_equal(trace.log_probs(2), trace.log_probs())": "True",
    "trace.next(0)": "[]",
}
UNCHECKED = """
import json, sys
from dataclasses import replace
import numpy as np
import torch
from tests.engine.fast.pairs import KINDS, fast
from tests.engine.random_models import IDS
from whybox.engine.choice import Way, require_possible
from whybox.engine.counterfactual import sweep
from whybox.engine.edit import add, scale, set_to, zero
from whybox.engine.fast.device import device
from whybox.engine.likeness import require_like
from whybox.engine.one_head import pattern_of
from whybox.engine.read import divergence, log_prob_of, logit_difference, logits_at
from whybox.engine.sampling import Decoding, decodings
from whybox.engine.trace import Change, changes_of
from whybox.engine.wishes import attention_wish, several
from whybox.errors import WhyboxError
from whybox.statistics.rows import AttentionWish
engine = fast(KINDS["plain"])
mixed = fast(replace(KINDS["sinks"], layers=(*KINDS["sinks"].layers[:1], *KINDS["plain"].layers[1:])))
trace = engine.run(IDS, tail=3)
of_other_kinds = [np.arange(13, dtype=kind) for kind in (">f8", ">f4", "longdouble", "uint16", "float16")]
of_other_kinds += [np.arange(26.0)[24::-2][::-1] / 2, np.arange(12.0, -1, -1)[::-1], torch.arange(13)]
def given(value):
    return engine.run(IDS, see=[("mlp_out", 1)], edits=[set_to("mlp_out", value, 1)])["mlp_out", 1]
seen = engine.run(IDS, see=[("pattern", np.int64(1)), ("mlp_out", np.array([0, 2])), ["key", 1]])
def told(asked):
    try:
        return str(eval(asked))
    except WhyboxError as error:
        return f"{type(error).__name__}: {error.cause}"
print(json.dumps([told(asked) for asked in json.load(sys.stdin)]))
"""


def test_what_callers_meet_whose_types_nobody_checks() -> None:
    """In a process of its own: the test suite checks the types of all arguments before they are read."""
    asked = [*REFUSED, *ACCEPTED]
    ended = subprocess.run(
        [sys.executable, "-c", UNCHECKED],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    told = dict(zip(asked, json.loads(ended.stdout), strict=True))
    assert {each: told[each] for each in ACCEPTED} == ACCEPTED
    assert [f"{each} → {told[each]}" for each, start in REFUSED.items() if not told[each].startswith(start)] == []


@pytest.mark.parametrize(("ids", "chunk"), [(IDS[:1], 9), (IDS[:5], 1), (IDS[:5], 9), (IDS, 2)])
def test_statistics_of_one_of_a_batch(ids: tuple[int, ...], chunk: int) -> None:
    """Whatever the lengths of its neighbours, which may all be one."""
    mine = fast(KINDS["plain"])
    alone = mine.run(ids, statistics=AttentionWish())
    among = replace(mine, neighbours=2, chunk=chunk).run(ids, statistics=AttentionWish())
    for one, other in zip(alone.attention, among.attention, strict=True):
        np.testing.assert_allclose(one.entropy, other.entropy, rtol=0, atol=1e-9)
