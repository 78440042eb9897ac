from tests.report import fixtures
from whybox.report import findings, sentences
from whybox.report.document import SetRow


def changed(**cause: object):
    data = fixtures.why_data()
    verdict = data["verdict"]
    return fixtures.why(verdict=verdict | {"causes": [verdict["causes"][0] | cause]})


def test_the_verdict_is_one_sentence_for_a_ticket() -> None:
    assert sentences.headline(fixtures.why(), "en") == (
        "The model looked too little at doc2: “boost decision → doc2” flips the answer in 9 of 9 variants, "
        "no sham does (0 of 21)."
    )
    assert sentences.headline(fixtures.why(), "zh").startswith(
        "模型对 doc2 看得太少：“增强注意力：决定位置 → doc2”使 9 个变体中的 9 个"
    )


def test_evidence_with_its_share_of_attention_was_not_looked_at_too_little() -> None:
    verdict = fixtures.why_data()["verdict"]
    low, fair = (fixtures.why(verdict=verdict | {"lift": lift, "lift_reason": None}) for lift in (0.35, 1.4))
    assert sentences.headline(low, "en").startswith("The model looked too little at doc2: ")
    assert sentences.headline(fair, "en").startswith("More attention to doc2 makes the answer right, though its share")
    assert sentences.headline(fair, "zh").startswith("对 doc2 的注意力更多时答案就正确")


def test_without_variants_it_speaks_of_this_prompt_only() -> None:
    verdict = fixtures.why_data()["verdict"] | {"scope": "this-prompt"}
    document = fixtures.why(verdict=verdict)
    assert "flips the answer of this prompt" in sentences.headline(document, "en")
    assert "variants" not in sentences.headline(document, "en")
    assert sentences.scope(document.verdict, "en") == "this prompt only"


def test_a_lenient_reading_flips_nothing() -> None:
    shown = changed(code="format", detail=None, undone_by="lenient parse", shams=None, shams_reason="none")
    assert sentences.headline(shown, "en") == (
        "No legal answer was written: with the form left aside it is right in 9 of 9 variants."
    )


def test_shams_that_flip_are_said() -> None:
    shams = {"n": 21, "flipped": 3, "p": 0.18, "rivals": 9}
    assert "3 of 21 shams do, too" in sentences.headline(changed(shams=shams), "en")


def test_not_determined_is_a_verdict() -> None:
    assert sentences.headline(fixtures.not_determined(), "en") == (
        "The cause was not determined: given the evidence and nothing beside it, the answer is not right."
    )


def test_effects_below_the_floor_are_no_numbers() -> None:
    assert sentences.effect(0.0003, 0.02, "en") == "≈ 0 (below the floor)"
    assert sentences.effect(-1.9591, 0.02, "en", (-2.1, -1.83)) == "−1.96 [−2.10, −1.83]"
    assert sentences.effect(None, 0.02, "en") == "—"
    assert [sentences.tone_of(e, 0.02) for e in (0.02, 0.03, -0.03, None)] == ["floor", "helps", "hurts", "undefined"]


def test_experiments_after_which_nothing_was_written_are_not_counted() -> None:
    document = fixtures.why()
    silent = [tried.model_copy(update={"flips": None, "flips_reason": "not written anew"}) for tried in document.tried]
    twice = document.model_copy(update={"tried": (*document.tried, *silent)})
    assert sentences.flips_of(twice) == sentences.flips_of(document)
    assert sentences.flips_of(document)[1] > 0


def test_findings_name_what_was_measured() -> None:
    document = fixtures.why()
    assert sentences.evidence_finding(document, "en") == (
        "Cutting “doc2” off hurts the right answer most; it holds 4.72 % of the attention, and is the evidence"
    )
    assert sentences.lens_finding(document, "en").startswith("The wrong answer is ahead after every layer")
    assert sentences.map_finding(document, "en") == (
        "The decision row reads “template” with 45.2 %, the evidence with 4.72 %"
    )
    assert sentences.heads_finding(document, "en") == (
        "Cutting head 0.1 off from the evidence changes LD most: −1.23 nats"
    )


def test_nothing_beyond_the_floor_is_a_finding_too() -> None:
    metric = fixtures.why_data()["metric"] | {"noise": 99.0}
    rows = [row | {"noise": 99.0} for row in fixtures.why_data()["segments"]]
    document = fixtures.why(metric=metric, segments=rows)
    assert sentences.evidence_finding(document, "en") == "No cut changed LD beyond the floor"
    uncut = [row | {"direct": None, "direct_reason": "nothing is left to see"} for row in rows]
    assert sentences.evidence_finding(fixtures.why(segments=uncut), "en").startswith("No cut could be made")
    assert sentences.heads_finding(document, "zh") == "没有单个头对证据的注意力使 LD 的改变超过底噪"


def test_a_set_that_turns_the_metric_alone_is_not_said_to_turn_the_answer() -> None:
    """Without its first MLP a model writes noise: LD may change its sign, and no answer comes of it."""
    document = fixtures.why()
    row = SetRow(what="removal", about=(), parts=("MLP 0",), ld=1.83, others=(), tried=12, turns=False, answer="noise")
    for lang, said in (("en", "the answer that is written then does not turn"), ("zh", "此时写出的答案并未扭转")):
        assert said in findings.set_finding(row, document, lang)
        assert said not in findings.set_finding(row.model_copy(update={"turns": True}), document, lang)


def test_most_is_said_of_the_rows_that_the_reader_sees() -> None:
    """A row that the second way does not confirm is the largest all the same, and is said to be unconfirmed."""
    document = fixtures.why()
    assert document.parts is not None
    first, *rest = document.parts.rows
    flagged = first.model_copy(update={"flags": ("depends on the ablation",)})
    parts = document.parts.model_copy(update={"rows": (flagged, *rest)})
    told = findings.parts_finding(document.model_copy(update={"parts": parts}), "en")
    assert told.startswith(f"Without {first.name} at the decision LD changes most: ")
    assert "depends on the ablation" in told
    clear = [row for row in rest if row.resample is not None and not row.flags]
    assert (
        f"Of those that both ways show, {clear[0].name} is the largest" if clear else "None is shown by both"
    ) in told
    chinese = findings.parts_finding(document.model_copy(update={"parts": parts}), "zh")
    assert "head " not in chinese


def test_the_strongest_cut_of_what_nobody_can_leave_out_is_followed_by_that_of_a_part() -> None:
    document = fixtures.why()
    rows = [r.model_copy(update={"direct": 9.0}) if r.name == "template" else r for r in document.segments]
    told = sentences.evidence_finding(document.model_copy(update={"segments": tuple(rows)}), "en")
    assert told.startswith("Cutting “template” off helps")
    assert "of the parts that it writes, cutting “doc2” off changes most: −3.51" in told
    assert told.endswith("and is the evidence")


def test_what_stands_in_for_a_wrong_answer_is_not_called_one() -> None:
    document = fixtures.why()
    assert document.answer.wrong is not None
    wrong = document.answer.wrong.model_copy(update={"stand_in": True})
    answer = document.answer.model_copy(update={"wrong": wrong})
    told = sentences.lens_finding(document.model_copy(update={"answer": answer}), "en")
    assert told.startswith("What stands in for a wrong answer is ahead after every layer")


def test_where_nothing_is_named_the_sentence_says_how_many_experiments_flip() -> None:
    verdict = fixtures.not_determined().verdict
    cause = verdict.causes[0].model_copy(update={"detail": None})
    document = fixtures.why().model_copy(update={"verdict": verdict.model_copy(update={"causes": (cause,)})})
    hits, n = sum(1 for one in document.tried if one.flips), len(document.tried)
    assert sentences.headline(document, "en") == (
        f"The cause was not determined: {hits} of {n} experiments turn the answer right, "
        "none with all that shows a cause."
    )
    quiet = document.model_copy(
        update={"tried": tuple(one.model_copy(update={"flips": False}) for one in document.tried)}
    )
    assert sentences.headline(quiet, "zh") == f"原因未能确定：{n} 个实验无一使答案变对。"


def test_a_null_that_is_as_large_only_the_other_way_is_said_so() -> None:
    found = fixtures.why()
    rows = [row for row in found.segments if row.null is not None and row.direct is not None]
    most = max(rows, key=lambda row: abs(row.direct or 0.0))
    assert most.null is not None
    both = "of its length reach as far (p"
    for same_way, told in ((0, "reach as far the other way"), (5, both), (None, both)):
        null = most.null.model_copy(update={"p": 0.3, "draws": 39, "same_way": same_way})
        document = found.model_copy(update={"segments": (most.model_copy(update={"null": null}),)})
        assert told in sentences.evidence_finding(document, "en").replace("\u00a0", " ")
