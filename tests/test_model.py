"""The model as the API gives it: prompts of every kind, scoring, sweeps, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import whybox
from tests.real import real
from whybox.cause.bench import Bench
from whybox.cause.study import open_study
from whybox.engine.read import logit_difference
from whybox.errors import ModelNotFound, PromptError, SiteError, UsageError
from whybox.items import Case

pytestmark = pytest.mark.model


def test_prompts_of_every_kind() -> None:
    model = real("smollm2")
    ids = model.prompt("The capital of France is").ids
    assert model.prompt(list(ids)).ids == ids
    assert model.prompt(np.asarray(ids).tolist()).ids == ids
    chat = model.prompt([{"role": "user", "content": "hi"}])
    assert len(chat.ids) == 31
    assert "You are a helpful AI assistant named SmolLM" in chat.text
    assert model.prompt(chat) is chat
    case = whybox.Case.load(Path(__file__).parents[1] / "examples" / "refund.yaml")
    assert model.prompt(case).ids == model.prompt(case.instances()[0]).ids
    assert len(model.prompt(case).ids) == 50


def test_score_is_the_sum_of_the_rows_before() -> None:
    model = real("smollm2")
    scored = model.score("The capital of France is", " Paris")
    assert scored.ids == (7042,)
    assert np.exp(scored.log_prob) == pytest.approx(0.77253, abs=2e-5)
    longer = model.score("The capital of France is", " Paris.")
    assert longer.per_token[0] == pytest.approx(scored.log_prob, abs=1e-4)
    assert longer.log_prob == pytest.approx(sum(longer.per_token), abs=1e-9)


def test_four_tokens_have_three_log_probabilities() -> None:
    """That of token t stands in row t − 1; the first token has none."""
    model = real("smollm2")
    ids = model.prompt("The capital of France").ids
    first = model.prompt(ids[:1])
    scored = model.score(first, " capital of France")
    assert (scored.ids, len(scored.per_token), scored.joined_at) == (ids[1:], 3, 1)
    rows = model.run(ids).logits.astype(np.float64)
    rows -= np.log(np.exp(rows).sum(axis=-1, keepdims=True))
    assert scored.per_token == pytest.approx([rows[t - 1, ids[t]] for t in (1, 2, 3)], abs=1e-4)
    likely, absurd = (model.score("The capital of France is", word).log_prob for word in (" Paris", " refrigerator"))
    assert likely - absurd > 5


def test_an_answer_that_merges_into_the_prompt_is_scored_from_the_last_common_id() -> None:
    model = real("smollm2")
    scored = model.score("The capital of Fr", "ance")
    assert model.prompt("The capital of France").ids == (504, 3575, 282, 4649)
    assert scored.ids == (4649,)
    assert scored.joined_at == 3


def test_answers_join_a_chat_without_touching_its_control_tokens() -> None:
    model = real("smollm2")
    prompt = model.prompt([{"role": "user", "content": "Say 7 days."}])
    ids, start = model.join(prompt, "7 days")
    assert ids[: len(prompt.ids)] == prompt.ids
    assert start == len(prompt.ids)
    assert model.tokenizer.text(ids[start:]) == "7 days"


def test_sweep_is_one_fresh_run_per_change() -> None:
    model = real("smollm2")
    base = model.run("The capital of France is")
    changes = [
        whybox.Change(),
        whybox.Change(edits=(whybox.zero("head_out", 0, h=4),)),
        whybox.Change(ids=(504, 3575, 282, 10038, 314)),
        whybox.Change(continuation=(7042,)),
    ]
    rows = model.sweep(base, changes, lambda trace: trace.logits[-1])
    assert np.abs(rows[0] - base.logits[-1]).max() <= 1e-4
    fresh = model.run("The capital of France is", edits=[whybox.zero("head_out", 0, h=4)])
    np.testing.assert_allclose(rows[1], fresh.logits[-1], atol=1e-4)
    np.testing.assert_allclose(rows[2], model.run([504, 3575, 282, 10038, 314]).logits[-1], atol=1e-4)
    np.testing.assert_allclose(rows[3], model.run([504, 3575, 282, 4649, 314, 7042]).logits[-1], atol=1e-4)


def test_what_cannot_be_run_is_refused() -> None:
    model = real("smollm2")
    with pytest.raises(PromptError, match="empty"):
        model.run("")
    with pytest.raises(PromptError, match="neither"):
        model.prompt([])
    with pytest.raises(PromptError, match=f"the trained context has {model.spec.context}"):
        model.run([1] * (model.spec.context + 1))
    with pytest.raises(PromptError, match=r"49,?152"):
        model.run([49152])
    with pytest.raises(SiteError, match="position 99 on axis 'q' is beyond the 1 tokens"):
        model.run("a", edits=[whybox.cut(q=99, k=0)])
    with pytest.raises(SiteError, match="layers 0 … 29"):
        model.run("a", edits=[whybox.zero("head_out", 30)])
    with pytest.raises(SiteError, match="position 99 on axis 'q' is beyond the 2 tokens"):
        model.score("a", " b", edits=[whybox.cut(q=99, k=0)])
    with pytest.raises(UsageError, match="tail: expected at least 1, found 0"):
        model.run("a", tail=0)
    fast = model.variant(engine="torch")
    with pytest.raises(SiteError, match="did you mean 'mlp_out'"):
        fast.sweep(fast.run("a"), [whybox.Change(edits=(whybox.zero("mlp_ou", 3),))], lambda run: 0.0)


def test_edits_from_a_generator_hold() -> None:
    model = real("smollm2")
    for one in (model, model.variant(engine="torch")):
        assert one.run("a", edits=(whybox.zero("mlp_out", layer) for layer in (3, 4))).changed == (True, True)


def test_unlike_runs_are_not_compared() -> None:
    model = real("smollm2").variant(engine="torch")
    trace = model.run("a")
    foreign = replace(trace, spec=replace(model.spec, embed_scale=2.0))
    for attempt in (
        lambda: model.sweep(foreign, [], lambda run: 0.0),
        lambda: model.changed(foreign, whybox.Change()),
        lambda: model.pattern(foreign, 0, 0),
        lambda: model.gradient(foreign, logit_difference(1, 2), ["embed"]),
    ):
        with pytest.raises(UsageError, match="made by another model"):
            attempt()
    with pytest.raises(UsageError, match="the base run was made in fp32, this model runs in fp64"):
        model.variant(precision="fp64").sweep(trace, [], lambda run: 0.0)


def test_a_case_beyond_the_context_is_refused_before_anything_runs() -> None:
    model = real("smollm2")
    case = Case.from_data({"id": "long", "text": "a b" * model.spec.context, "answer": {"right": "x", "kind": "text"}})
    bench = Bench(model)
    with pytest.raises(PromptError, match=f"the trained context has {model.spec.context}"):
        open_study(bench, case.instances())
    assert bench.made.runs == 0


def test_unknown_models_and_settings_are_refused() -> None:
    with pytest.raises(ModelNotFound, match="did you mean smollm2"):
        whybox.open("smolm2")
    with pytest.raises(UsageError, match="available: auto, numpy, torch"):
        whybox.open("smollm2", engine="jax")
    with pytest.raises(UsageError, match="available: fp32, fp64, bf16, fp16, int8"):
        whybox.open("smollm2", engine="torch", precision="fp8")
    with pytest.raises(UsageError, match="available: fp32, fp64 with numpy"):
        whybox.open("smollm2", engine="numpy", precision="bf16")
    with pytest.raises(UsageError, match="float16 products are about 100 times slower than float32 on a CPU"):
        whybox.open("smollm2", engine="torch", precision="fp16", device="cpu")
    with pytest.raises(UsageError, match="device 'tpu' is not known"):
        whybox.open("smollm2", engine="torch", device="tpu")


def test_float64_agrees_to_the_noise_of_float32() -> None:
    name = real("smollm2").name
    double = whybox.open(name, precision="fp64").run("The capital of France is").logits
    error = np.abs(double - real("smollm2").run("The capital of France is").logits).max()
    assert 0 < error < 2e-4  # 1.05e-4 with the AVX-512 kernels of OpenBLAS


def test_variants_are_the_same_weights_run_another_way() -> None:
    model = real("smollm2")
    plain = model.generate("The capital of France is", 6)
    uncached, double = model.variant(cache=False), model.variant(precision="fp64")
    assert uncached.generate("The capital of France is", 6).ids == plain.ids
    assert double.generate("The capital of France is", 6).ids == plain.ids
    assert (double.engine.precision, model.engine.precision) == ("fp64", "fp32")
    back = double.variant(precision="fp32")
    assert all(np.array_equal(back.weights[role], model.weights[role]) for role in ("embed", "layers.3.query"))
    with pytest.raises(UsageError, match="available: fp32, fp64 with numpy"):
        model.variant(precision="int8")
    with pytest.raises(UsageError, match="runs one prompt, in one piece"):
        model.variant(chunk=8)


def test_the_torch_engine_runs_the_same_weights_in_more_ways() -> None:
    model, prompt = real("smollm2"), "The capital of France is"
    fast = model.variant(engine="torch")
    plain, text = model.run(prompt), model.generate(prompt, 6)
    for way in (fast, fast.variant(chunk=2), fast.variant(kernel="plain"), fast.variant(cache=False)):
        assert 0 <= np.abs(way.run(prompt).logits - plain.logits).max() < 1e-4
        assert way.generate(prompt, 6).ids == text.ids
    for precision, error in (("bf16", 1.0), ("int8", 3.0)):
        assert 0.01 < np.abs(fast.variant(precision=precision).run(prompt).logits - plain.logits).max() < error
    with pytest.raises(UsageError, match="chunk: expected at least 1, found 0"):
        fast.variant(chunk=0)


def test_without_the_cache_every_step_reads_the_whole_text() -> None:
    model = real("smollm2")
    lengths = [len(trace.ids) for _, trace in model.variant(cache=False).steps("The capital of France is", 3)]
    assert lengths == [5, 6, 7]
    assert [len(trace.ids) for _, trace in model.steps("The capital of France is", 3)] == [5, 1, 1]


def test_a_model_and_a_trace_say_what_they_are_in_a_line() -> None:
    model = real("smollm2")
    assert repr(model).endswith(": llama, 30 layers, fp32>")
    assert repr(model.run("a", see=["pattern"])) == "<Trace of 1 tokens: pattern>"
