"""The case file: what it accepts, what it refuses and in which words, and the variants that come out of it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import CaseError
from whybox.items import Case
from whybox.items.schema import CaseText
from whybox.items.slots import escape, fill
from whybox.items.variants import are_distinct

REFUND = """\
id: refund-window
prompt:
  - role: system
    parts: [{name: policy, text: "You answer from the documents only."}]
  - role: user
    parts:
      - {name: doc1, text: "Exchanges are accepted for {other} days."}
      - {name: doc2, text: "Refunds are paid within {right} days."}
      - {name: question, text: "How long does a refund take?"}
vary: {right: [7, 5, 9], other: [30, 20, 60]}     # comment
answer: {right: "{right} days", wrong: "{other} days", kind: number}
evidence: [doc2]
"""


def test_the_case_itself_has_the_first_values() -> None:
    instance = Case.parse(REFUND).filled()
    assert [(m.role, [p.text for p in m.parts]) for m in instance.messages] == [
        ("system", ["You answer from the documents only."]),
        (
            "user",
            [
                "Exchanges are accepted for 30 days.",
                "Refunds are paid within 7 days.",
                "How long does a refund take?",
            ],
        ),
    ]
    assert (instance.right, instance.wrong, instance.evidence, instance.join) == ("7 days", "30 days", ("doc2",), "\n")
    assert not instance.is_raw
    assert instance.scorer().score("It takes 30 days.").outcome == "wrong"


def test_variants_are_all_combinations_once_the_case_first() -> None:
    case = Case.parse(REFUND)
    instances = case.instances(40, seed=1)
    assert len(instances) == 9
    assert len({instance.values for instance in instances}) == 9
    assert instances[0] == case.filled()
    assert [instance.id for instance in instances[:2]] == ["refund-window", "refund-window/1"]
    assert case.instances(4, seed=1) == instances[:4]
    assert case.instances(40, seed=2) != instances


def test_values_of_one_variant_differ_and_none_is_inside_another() -> None:
    text = REFUND.replace("[7, 5, 9]", "[7, 3, 60]")
    values = Case.parse(text).variants()
    assert {"right": "3", "other": "30"} not in values
    assert {"right": "60", "other": "60"} not in values
    assert {"right": "3", "other": "20"} in values
    assert all(are_distinct(combination.values()) for combination in values)


def test_a_huge_product_of_slots_is_drawn_and_not_listed() -> None:
    slots = {f"s{i}": [f"{chr(97 + i)}{chr(97 + j)}{i}" for j in range(20)] for i in range(12)}
    text = " ".join(f"{{{slot}}}" for slot in slots)
    data = {"id": "big", "text": text, "vary": slots, "answer": {"right": "{s0}", "kind": "text"}}
    values = Case.from_data(data).variants(40, seed=3)
    assert len({tuple(v.values()) for v in values}) == 40


def test_without_vary_there_is_the_case_alone() -> None:
    case = Case.parse("id: raw\ntext: 'The sky {{is}}'\nanswer: {right: blue, kind: text}\n")
    (instance,) = case.instances()
    assert instance.is_raw
    assert [(p.name, p.text) for p in instance.raw_parts] == [("text", "The sky {is}")]


def test_scalars_stay_as_written() -> None:
    case = Case.parse(
        "id: asis\ntext: [{name: a, text: 07}, {name: b, text: 1.50}]\nanswer: {right: yes, kind: text}\n"
    )
    assert [part.text for part in case.filled().raw_parts] == ["07", "1.50"]
    assert case.filled().scorer().score("Yes.").outcome == "right"


def test_settings_contract_and_observed_output() -> None:
    case = Case.parse(
        REFUND.replace("kind: number}", "kind: number, got: 'A refund {takes} 30 days.'}")
        + 'decoding: {temperature: 0.7, seed: 3, banned: ["7"]}\ncontract: {prefix: "Answer: "}\njoin: "\\n\\n"\n'
    )
    instance = case.filled()
    assert case.got == instance.got == "A refund {takes} 30 days."
    assert (instance.decoding.temperature, instance.decoding.seed, instance.decoding.banned) == (0.7, 3, ("7",))
    assert (instance.contract_prefix, instance.join) == ("Answer: ", "\n\n")
    assert case.instances()[1].got is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("evidence: [doc2]", "evidense: [doc2]"), "case:12: evidense: expected one of .*did you mean 'evidence'"),
        (("evidence: [doc2]", "evidence: [doc3]"), "case:12: evidence.0.: expected a part among .*found 'doc3'"),
        (("name: doc2", "name: doc1"), "every part name once, found 'doc1' twice"),
        (("{right} days.", "{rihgt} days."), r"case:8: prompt\[1\].parts\[1\].text: expected slots among right, other"),
        (("{right} days.", "{right days."), "a single brace at character 24"),
        (("kind: number", "kind: nubmer"), "case:11: answer.kind: expected 'number', 'name', 'choice' or 'text'"),
        (('{other} days", kind', '{right} days", kind'), "vary.other|answer.wrong"),
        (('wrong: "{other} days"', 'wrong: "soon"'), "answer: expected answers of kind number"),
        (("other: [30", "other: [soon"), "answer: expected answers of kind number"),
        (("20, 60]", "soon, 60]"), r"case:10: vary.other\[1\]: expected a value for kind number, found 'soon'"),
        (("[30, 20, 60]", "[30, 30]"), "vary.other: expected values that differ in more than blanks"),
        (("other: [30", "unused: [1], other: [30"), "vary.unused: expected a slot that some text or answer uses"),
        (
            ("role: system", "role: sistem"),
            r"prompt\[0\].role: expected 'system', 'user' or 'assistant', found 'sistem'",
        ),
        (("id: refund-window\n", ""), "id: expected this field, found none"),
        (('text: "How', 'txt: "How'), "did you mean 'text'"),
        (("evidence: [doc2]", "text: too"), "either prompt .messages. or text .raw., found both"),
        (("evidence: [doc2]", "evidence: *x"), "case:12: expected no YAML alias|undefined alias"),
        (("evidence: [doc2]", "join: a\njoin: b"), "case:13: expected every key once, found 'join' twice"),
        (("evidence: [doc2]", "evidence: !!python/name:os.system [doc2]"), "case:12: expected no YAML tag"),
        (("evidence: [doc2]", "evidence: [doc2"), "expected YAML, found"),
        (("evidence: [doc2]", "evidence: " + "[" * 40), "expected at most 16 levels, found deeper nesting"),
        (("evidence: [doc2]", "decoding: {temperature: hot}"), "decoding.temperature: expected a valid number"),
    ],
)
def test_refusals_name_line_field_expected_and_found(change: tuple[str, str], message: str) -> None:
    assert REFUND.count(change[0]) == 1
    with pytest.raises(CaseError, match=message):
        Case.parse(REFUND.replace(*change))


def test_an_alias_bomb_is_refused_at_its_first_alias() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(9)
    )
    with pytest.raises(CaseError, match=r"case:2: expected no YAML alias"):
        Case.parse(bomb)


@pytest.mark.parametrize("text", ["", "[]", "just text", "- a\n- b\n", "\x00"])
def test_other_shapes_are_refused(text: str) -> None:
    with pytest.raises(CaseError):
        Case.parse(text)


def test_files_are_bounded_and_utf8(tmp_path: Path) -> None:
    big = tmp_path / "big.yaml"
    big.write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(CaseError, match="expected at most 1,048,576 bytes, found 1,048,577"):
        Case.load(big)
    (tmp_path / "latin.yaml").write_bytes(b"id: caf\xe9\n")
    with pytest.raises(CaseError, match="expected UTF-8 text, found byte 0xe9 at 7"):
        Case.load(tmp_path / "latin.yaml")
    with pytest.raises(CaseError, match="found no file"):
        Case.load(tmp_path / "none.yaml")
    (tmp_path / "ok.yaml").write_bytes(b"\xef\xbb\xbf" + REFUND.encode())
    assert Case.load(tmp_path / "ok.yaml") == Case.parse(REFUND)


def test_messages_become_a_case_with_literal_braces(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Reply as {json}."},
        {"role": "user", "content": [{"type": "text", "text": "One?"}]},
        {"role": "assistant", "content": "30 days"},
        {"role": "user", "content": "Sure?"},
    ]
    instance = Case.from_messages(messages, "7 days", "30 days").filled()
    assert [(p.name, p.text) for p in instance.parts] == [
        ("system", "Reply as {json}."),
        ("user", "One?"),
        ("assistant", "30 days"),
        ("user2", "Sure?"),
    ]
    assert instance.kind == "number"
    assert Case.from_messages(messages, "Paris", "Rome").filled().kind == "text"
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}))
    assert Case.load_messages(tmp_path / "chat.json", "7 days", "30 days").filled() == instance


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "at least one message"),
        (["hi"], r"messages\[0\]: expected an object"),
        ([{"role": "user"}], r"messages\[0\].content: expected text, found NoneType"),
        (
            [{"role": "robot", "content": "x"}],
            r"prompt\[0\].role: expected 'system', 'user' or 'assistant', found 'robot'",
        ),
        ([{"role": "user", "content": [{"type": "image_url"}]}], r"content\[0\]: expected a block of type text"),
        ([{"role": "user", "content": "x", "tool_calls": []}], "found 'tool_calls'"),
    ],
)
def test_messages_that_are_none_are_refused(messages: list[object], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        Case.from_messages(messages, "7", "8")  # type: ignore[arg-type]


def test_parts_kept_replaced_and_moved() -> None:
    instance = Case.parse(REFUND).filled()
    assert [p.name for p in instance.keeping(["doc2", "question"]).parts] == ["doc2", "question"]
    assert [m.role for m in instance.keeping(["doc2"]).messages] == ["user"]
    assert instance.keeping(["doc1"]).evidence == ()
    assert instance.replacing({"doc2": "x"}).part("doc2").text == "x"
    moved = instance.reordered(["question", "doc1"])
    assert [p.name for p in moved.parts] == ["policy", "question", "doc2", "doc1"]
    for names in (["doc9"], ["doc1", "doc1"]):
        with pytest.raises(CaseError):
            instance.reordered(names)


def test_choice_options_score_by_letter_and_content() -> None:
    case = Case.parse(
        "id: c\ntext: 'Pick {{A..B}}'\nanswer: {right: B, wrong: A, kind: choice, options: {A: 3 days, B: 7 days}}\n"
    )
    scorer = case.filled().scorer()
    assert scorer.score("7 days").outcome == "right"
    assert scorer.score("A").outcome == "wrong"


def test_a_choice_by_log_probability_is_one_among_labels() -> None:
    def case(**answer: object) -> Case:
        options = {"A": "3 days", "B": "7 days"}
        plain = {"right": "B", "kind": "choice", "options": options, "by": "logprob"}
        kept = {name: value for name, value in (plain | answer).items() if value is not None}
        return Case.from_data({"id": "c", "text": "Pick one:", "answer": kept})

    instance = case().filled()
    assert instance.by == "logprob"
    assert Case.from_instance(instance).filled().by == "logprob"
    assert case(by=None).filled().by == "text"
    for wrong, said in (
        ({"options": None}, "answer.by: expected logprob only with kind: choice and two options or more"),
        ({"options": {"B": "7 days"}}, "found kind: choice, 1 options"),
        ({"options": None, "kind": "text"}, "found kind: text, 0 options"),
        ({"match": {"pattern": "B"}}, "answer.match: expected no match beside by: logprob"),
        ({"by": "logprobs"}, "answer.by: expected 'text' or 'logprob', found 'logprobs'"),
    ):
        with pytest.raises(CaseError, match=re.escape(said)):
            case(**wrong)


def test_the_lenient_scorer_tells_a_wrong_form_from_a_wrong_value() -> None:
    examples = Path(__file__).parents[2] / "examples"
    instance = Case.load(examples / "format.yaml").filled()
    for text, strict, lenient in (
        ('{"days": 7}', "right", "right"),
        ("Refunds are paid within 7 days.", "wrong", "right"),
        ("It takes 8 days.", "invalid", "invalid"),
    ):
        assert instance.scorer().score(text).outcome == strict
        assert instance.lenient_scorer().score(text).outcome == lenient
    refund = Case.parse(REFUND).filled()
    assert refund.scorer().score('{"days": 7}').outcome == "invalid"
    assert refund.lenient_scorer().score('{"days": 7}').outcome == "right"
    assert refund.lenient_scorer().score("It takes 30.").outcome == "wrong"


def test_a_number_of_something_else_is_no_form_of_the_answer() -> None:
    refund = Case.parse(REFUND).filled().lenient_scorer()
    for text in (
        "It takes 7 weeks.",
        "Within 7 working days.",
        "There are 7 documents.",
        "7%",
        "See document 7.",
        "Day 7",
    ):
        assert refund.score(text).outcome == "invalid", text
    for text in ("It takes 7.", "7", "**7**", "Seven days", "需要7。"):
        assert refund.score(text).outcome == "right", text
    examples = Path(__file__).parents[2] / "examples"
    keyed = Case.load(examples / "format.yaml").filled().lenient_scorer()
    assert keyed.score("Refunds are paid within 7 weeks.").outcome == "invalid"
    assert keyed.score('{"refund_days": 7}').outcome == "right"


@settings(deadline=None)
@given(st.text())
def test_escaped_text_fills_back_to_itself(text: str) -> None:
    assert fill(escape(text), {}) == text


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_but_a_case_is_a_case_error(text: str) -> None:
    with pytest.raises(CaseError, match="expected"):
        Case.parse(text)


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "examples").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_example_is_a_valid_case(path: Path) -> None:
    case = Case.load(path)
    for instance in case.instances(10):
        scorer = instance.scorer()
        assert scorer.score(instance.right).outcome == "right"
        assert instance.wrong is None or scorer.score(instance.wrong).outcome == "wrong"


def test_the_cases_of_the_documentation_are_valid() -> None:
    page = (Path(__file__).parents[2] / "docs" / "case.md").read_text(encoding="utf-8")
    refund, sky, chosen = (Case.parse(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    assert refund.filled() == Case.parse(REFUND).filled()
    assert sky.filled().raw_parts[0].text == 'Reply as {"colour": ...}. The sky over Oslo is'
    assert chosen.filled().by == "logprob"
    assert set(re.findall(r"^\| `(\w+)", page, re.MULTILINE)) >= set(CaseText.model_fields)


def test_lengths_and_patterns_are_said_in_the_words_of_this_project() -> None:
    def refused(**changes: object) -> str:
        with pytest.raises(CaseError) as error:
            Case.from_data({"id": "x", "text": "a", "answer": {"right": "b", "kind": "text"}} | changes)
        return error.value.cause

    assert "expected a length of at least 1, found ''" in refused(answer={"right": "", "kind": "text"})
    assert "expected text of the pattern" in refused(id="a b")


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        ("7 days", "seven days", "number"),
        ("7天", "七天", "number"),
        ("7 days", "７ days", "number"),
        ("$5", "5 dollars", "number"),
    ],
)
def test_the_right_value_in_other_words_is_no_wrong_answer(right: str, wrong: str, kind: str) -> None:
    data = {"id": "x", "text": "How long?", "answer": {"right": right, "wrong": wrong, "kind": kind}}
    with pytest.raises(CaseError, match="expected an answer other than the right one, found"):
        Case.from_data(data)


@pytest.mark.parametrize(
    ("right", "wrong"), [("7 days", "7 hours"), ("$5", "€5"), ("七天", "三十天"), ("７天", "３０天")]
)
def test_units_and_digits_of_any_script_tell_answers_apart(right: str, wrong: str) -> None:
    data = {"id": "x", "text": "How long?", "answer": {"right": right, "wrong": wrong, "kind": "number"}}
    scorer = Case.from_data(data).filled().scorer()
    assert (scorer.score(right).outcome, scorer.score(wrong).outcome) == ("right", "wrong")


@pytest.mark.parametrize(
    ("kind", "right", "text", "may"),
    [
        ("number", "7 days", "It takes 14 days.", True),  # a third value: wrong, and in due form
        ("number", "7 days", "It takes a while.", False),
        ("name", "Velmora", "It is Tanrik.", True),
        ("name", "Velmora", "{ { {", False),
        ("text", "退款", "换货", True),
        ("choice", "A", "Because it is.", False),
    ],
)
def test_what_may_be_another_answer_is_no_broken_form(kind: str, right: str, text: str, may: bool) -> None:
    data = {"id": "x", "text": "Which?", "answer": {"right": right, "kind": kind}}
    assert Case.from_data(data).filled().may_answer(text) is may


def test_behind_a_contract_only_what_keeps_it_may_answer() -> None:
    data = {"id": "x", "text": "?", "answer": {"right": "Velmora", "kind": "name"}, "contract": {"prefix": "Answer: "}}
    case = Case.from_data(data).filled()
    assert [case.may_answer(said) for said in ("Answer: Tanrik", "Answer: ", "Tanrik")] == [True, False, False]


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("id", "x" * 5000, "5,000"),
        ("text", "a " * 2**20, "2,097,152"),
        ("vary", {"a": list(map(str, range(10_000)))}, "10,000"),
    ],
)
def test_what_is_too_long_is_told_by_its_length(field: str, value: object, found: str) -> None:
    data = {"id": "x", "text": "How long?", "answer": {"right": "7 days", "kind": "number"}} | {field: value}
    with pytest.raises(CaseError, match=f"expected a length of at most .*, found one of {found}") as problem:
        Case.from_data(data)
    assert len(problem.value.cause) < 200


def test_a_file_that_is_no_case_is_told_as_such_with_a_remedy(tmp_path: Path) -> None:
    readme, broken = tmp_path / "README.md", tmp_path / "case.yaml"
    for file in (readme, broken):
        file.write_text("# Title\n\n*A black box* tells you: what.")
    with pytest.raises(CaseError, match=r"README.md: expected a case file in YAML, found .md that is none") as found:
        Case.load(readme)
    assert "docs/case.md" in found.value.remedy
    with pytest.raises(CaseError, match=r"case.yaml:3: expected no YAML alias") as found:
        Case.load(broken)
    assert "docs/case.md" in found.value.remedy
