"""Path patching: the planted path and no other; direct effects against attribution and against brute force."""

from pathlib import Path

import pytest

from tests.cause.grounds import generator, planted
from tests.engine.random_models import IDS, engine, spec
from tests.testing.reading import near
from whybox.cause.components import Head, all_heads, all_mlps
from whybox.cause.ground import Ground
from whybox.cause.path import InputOf, KeyOf, QueryOf, ValueOf, direct_effects, frozen, paths
from whybox.cause.replacement import Zeroed
from whybox.engine.edit import set_to, zero
from whybox.engine.read import logit_difference
from whybox.engine.trace import Change
from whybox.measure.attribution import direct_attribution, wishes
from whybox.model import Model
from whybox.testing.memory_file import MemoryFile
from whybox.testing.vocabulary import tokenizer


def test_the_previous_token_head_acts_by_the_copiers_keys_alone() -> None:
    found, ground = planted("induction")
    layer, head = found.heads["copier"]
    receivers = [KeyOf(layer, head), QueryOf(layer, head), ValueOf(layer, head), InputOf(1), QueryOf(0, 0)]
    sender = (Head(*found.heads["previous"]),)
    got = {path.receiver: path.effect.value for path in paths(ground, Zeroed(), [sender], receivers, generator())}
    assert got[KeyOf(layer, head)] == near(-20)
    for receiver in receivers[1:4]:
        assert got[receiver] == near(0)
    assert QueryOf(0, 0) not in got, "what lies in the same layer cannot be reached"


def test_a_suppressors_path_goes_through_nobody() -> None:
    found, ground = planted("suppressed")
    late = (Head(*found.heads["suppressor"]),)
    (direct,) = direct_effects(ground, Zeroed(), [late], generator())
    assert direct.value == near(30)
    (flag,) = direct_effects(ground, Zeroed(), [(Head(*found.heads["flag"]),)], generator())
    assert flag.value == near(0)
    (by_query,) = paths(
        ground, Zeroed(), [(Head(*found.heads["flag"]),)], [QueryOf(*found.heads["suppressor"])], generator()
    )
    assert by_query.effect.value == near(30)


def test_direct_effects_are_what_was_written_when_the_norm_hardly_moves() -> None:
    """The ballast of planted models holds the norm's scale: DE of zero ablation = −DLA."""
    for row in ("suppressed", "memoriser", "cancel"):
        _, ground = planted(row)
        decision = ground.decision
        assert decision is not None
        trace = ground.model.run(ground.trace.ids, see=wishes(ground.spec), tail=1)
        written = direct_attribution(trace, ground.model.weights, decision.right[0], decision.wrong[0])
        for one in (*all_heads(ground.spec), *all_mlps(ground.spec)):
            (effect,) = direct_effects(ground, Zeroed(), [(one,)], generator(), draws=0)
            own = written.heads[one.layer][one.head] if isinstance(one, Head) else written.mlps[one.layer][0]
            assert effect.value == pytest.approx(-own, abs=0.15)


def test_freezing_by_hand() -> None:
    found, ground = planted("backup")
    layer, head = found.heads["primary"]
    row = ground.row
    held = frozen(ground, Zeroed(ground.answer_rows), since=row)
    (by_tool,) = ground.moved([Change(held((Head(layer, head),)))])
    base = ground.model.run(ground.trace.ids, see=["attn_out", "mlp_out"])
    edits = [zero("head_out", layer, h=head, q=row), set_to("mlp_out", base["mlp_out", layer], layer)]
    for later in range(layer + 1, len(ground.spec.layers)):
        edits += [set_to(site, base[site, later], later) for site in ("attn_out", "mlp_out")]
    by_hand = float(ground.read(ground.model.run(ground.trace.ids, edits=edits))) - ground.value
    assert by_tool.effect == pytest.approx(by_hand, abs=1e-4)
    assert by_hand == near(-20)


def test_a_path_on_a_random_model_by_brute_force() -> None:
    """Sender → query: run once frozen to get the receiver's query, once with that query alone."""
    own = engine(spec())
    file = MemoryFile(Path("random"), {}, own.weights.arrays)
    model = Model("random", file, own.weights, tokenizer(), own)
    trace, read = own.run(IDS, tail=1), logit_difference(4, 11)
    ground = Ground(model, trace, read, len(IDS) - 1, model.prompt(IDS), 1e-12)
    sender, receiver = (Head(0, 2),), QueryOf(2, 5)
    (path,) = paths(ground, Zeroed(), [sender], [receiver], generator(), draws=0)
    base = own.run(IDS, ["head_out", "mlp_out"])
    hold = [set_to(site, base[site, i], i) for i in range(3) for site in ("head_out", "mlp_out")]
    first = own.run(IDS, [("query", 2)], [*hold, zero("head_out", 0, h=2)])
    second = own.run(IDS, (), [set_to("query", first["query", 2][:, [5]], 2, h=(5,))], tail=1)
    assert path.effect.value == pytest.approx(float(read(second)) - float(read(trace)), abs=1e-10)
    assert abs(path.effect.value) > 1e-4
