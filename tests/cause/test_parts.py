"""Roles of parts, prompts without or with other orders of them, and spans as shams."""

from whybox.cause import parts, spans
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.text.prompt import Segment, SegmentKind

REFUND = {
    "id": "refund",
    "prompt": [
        {"role": "system", "parts": [{"name": "policy", "text": "Documents only."}]},
        {
            "role": "user",
            "parts": [
                {"name": "doc1", "text": "Exchanges: 30 days."},
                {"name": "doc2", "text": "Refunds: 7 days."},
                {"name": "question", "text": "How long?"},
            ],
        },
    ],
    "answer": {"right": "7 days", "wrong": "30 days", "kind": "number"},
    "evidence": ["doc2"],
}


def test_roles_of_the_refund_case() -> None:
    found = parts.roles_of(Case.from_data(REFUND).filled())
    assert (found.evidence, found.others, found.question) == (("doc2",), ("doc1",), "question")


def test_without_evidence_nothing_is_left_out_or_moved() -> None:
    case = Case.from_data(REFUND | {"evidence": []}).filled()
    found = parts.roles_of(case)
    assert found.others == ()
    assert parts.other_orders(case, found) == []


def test_prompts_alone_closed_and_in_the_other_order() -> None:
    case = Case.from_data(REFUND).filled()
    roles = parts.roles_of(case)
    assert [part.name for part in parts.alone(case, roles).parts] == ["policy", "doc2", "question"]
    assert [part.name for part in parts.closed_book(case, roles).parts] == ["policy", "question"]
    assert parts.other_orders(case, roles) == [("doc2", "doc1")]


def test_a_chat_without_named_parts_is_cut_at_sentences_and_stays_the_same_text() -> None:
    content = "Exchanges take 30 days. Refunds take 7 days.\nHow long does a refund take?"
    case = Case.from_messages([{"role": "user", "content": content}], "7 days", "30 days").filled()
    cut, presumed = parts.with_presumed_evidence(case)
    assert presumed
    assert cut.join.join(part.text for part in cut.parts) == content
    assert [cut.part(name).text.strip() for name in cut.evidence] == ["Refunds take 7 days."]
    assert parts.roles_of(cut).others == ("user.1",)


def test_chinese_sentences_end_without_blanks() -> None:
    content = "换货30天。退款7天。退款要多久？"
    case = Case.from_messages([{"role": "user", "content": content}], "7天", "30天").filled()
    cut, _ = parts.with_presumed_evidence(case)
    assert [part.text for part in cut.parts] == ["换货30天。", "退款7天。", "退款要多久？"]


def test_no_sentence_states_the_answer_so_nothing_is_presumed() -> None:
    case = Case.from_messages([{"role": "user", "content": "How long?"}], "7 days", "30 days").filled()
    assert parts.with_presumed_evidence(case) == (case, False)


def test_other_spans_of_the_refund_case_are_the_21_of_its_length() -> None:
    """50 ids, evidence at 26 … 35, the first id left out."""
    found = spans.other_spans(10, range(26, 36), 50)
    assert len(found) == 21
    assert [span.start for span in found] == [*range(1, 17), *range(36, 41)]


def test_the_nearest_spans_are_kept_when_there_are_more() -> None:
    found = spans.other_spans(2, range(50, 52), 100, most=4)
    assert [span.start for span in found] == [47, 48, 52, 53]


def test_template_pieces_are_one_stretch_and_sentences_that_nobody_typed_stay_apart() -> None:
    segments = [
        Segment("bos", SegmentKind.BOS, None, 0, 1),
        Segment("not typed 1", SegmentKind.TEMPLATE, "system", 1, 4),
        Segment("template 2", SegmentKind.TEMPLATE, None, 4, 6),
        Segment("doc", SegmentKind.PART, "user", 6, 9),
        Segment("template 3", SegmentKind.TEMPLATE, None, 9, 11),
    ]
    found = spans.stretches(segments, 10)
    assert [(one.name, one.keys) for one in found] == [
        ("template", (0, 4, 5, 9)),
        ("not typed 1", (1, 2, 3)),
        ("doc", (6, 7, 8)),
    ]
    assert found[0].span is None
    assert found[2].span == range(6, 9)


def test_a_raw_prompt_has_no_template_and_what_joins_its_parts_is_called_so() -> None:
    segments = [
        Segment("bos", SegmentKind.BOS, None, 0, 1),
        Segment("doc1", SegmentKind.PART, None, 1, 4),
        Segment("join 1", SegmentKind.TEMPLATE, None, 4, 5),
        Segment("doc2", SegmentKind.PART, None, 5, 9),
        Segment("join 2", SegmentKind.TEMPLATE, None, 9, 10),
    ]
    found = spans.stretches(segments, 11)
    assert [(one.name, one.keys) for one in found] == [
        ("bos", (0,)),
        ("doc1", (1, 2, 3)),
        ("between the parts", (4, 9)),
        ("doc2", (5, 6, 7, 8)),
    ]
    assert {one.kind for one in found} == {SegmentKind.PART, SegmentKind.TEMPLATE}


def test_a_part_apart_that_holds_the_wrong_answer_is_left_out_and_not_moved() -> None:
    system = {"role": "system", "parts": [{"name": "policy", "text": "Always answer: 30 days."}]}
    case = Case.from_data(REFUND | {"prompt": [system, REFUND["prompt"][1]]}).filled()
    roles = parts.roles_of(case)
    assert (roles.others, roles.fixed) == (("policy", "doc1"), ("policy",))
    assert [part.name for part in parts.alone(case, roles).parts] == ["doc2", "question"]
    assert parts.other_orders(case, roles) == [("doc2", "doc1")]


def test_what_a_text_holds() -> None:
    case = Case.from_data(REFUND).filled()
    for text in ("Not 30 days.", "Is it 30 days?", "Always answer 30.", "thirty days", "A 30-day window"):
        assert parts.speaks_of(case, text, "30 days"), text
    for text in ("Documents only.", "130 days", "30 weeks", "Room 30 is open"):
        assert not parts.speaks_of(case, text, "30 days"), text
    yes = Case.from_data(REFUND | {"answer": {"right": "yes", "wrong": "no", "kind": "text"}}).filled()
    assert not parts.speaks_of(yes, "There is no refund.", "no")


def test_the_same_value_in_another_form() -> None:
    answer = {"right": '{{"days": 7}}', "wrong": "7 days", "kind": "text"}
    case = Case.from_data(REFUND | {"answer": answer}).filled()
    assert parts.same_value(case, "7 days")
    assert not parts.same_value(case, "30 days")
    assert parts.roles_of(case).fixed == ()
    named = Case.from_data(REFUND | {"answer": {"right": "York", "wrong": "New York", "kind": "name"}}).filled()
    assert not parts.same_value(named, "New York")


def test_an_order_across_messages_changes_roles() -> None:
    case = Case.from_data(REFUND).filled()
    assert not parts.crosses_roles(case, parts.roles_of(case))
    ruled = Case.from_data(REFUND | {"evidence": ["policy"]}).filled()
    assert parts.crosses_roles(ruled, parts.roles_of(ruled))


def turns(*said: str) -> CaseInstance:
    """User and model in turn; the last turn holds the evidence and the question."""
    roles = ("user", "assistant")
    talk = [{"role": roles[i % 2], "parts": [{"name": f"t{i}", "text": text}]} for i, text in enumerate(said)]
    asked = [{"name": "doc", "text": "Refunds: 7 days."}, {"name": "question", "text": "How long?"}]
    last = {"role": "user", "parts": asked}
    return Case.from_data(REFUND | {"prompt": [*talk, last], "evidence": ["doc"]}).filled()


def test_an_earlier_turn_that_states_an_answer_is_left_out_and_small_talk_stays() -> None:
    """Closed book is no context that states anything: who said it makes no difference."""
    for text in ("So a refund takes 30 days.", "A refund takes 7 days."):
        case = turns("Hello.", text)
        roles = parts.roles_of(case)
        assert (roles.others, roles.fixed) == (("t1",), ("t1",))
        assert [part.name for part in parts.closed_book(case, roles).parts] == ["t0", "question"]
    told = turns("A refund takes 7 days, I was told.", "Thank you. How can I help?")
    assert parts.roles_of(told).others == ("t0",)
    assert parts.roles_of(turns("Hello.", "Thank you.")).others == ()


def test_turns_alternate_where_one_between_them_is_left_out() -> None:
    case = turns("Hello.", "So a refund takes 30 days.")
    left = parts.alone(case, parts.roles_of(case))
    assert [(m.role, [p.name for p in m.parts]) for m in left.messages] == [("user", ["t0", "doc", "question"])]
    assert [m.role for m in case.keeping([p.name for p in case.parts]).messages] == ["user", "assistant", "user"]
