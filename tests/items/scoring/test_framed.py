"""A third name, which the documents state in the place of the right one."""

import pytest

from whybox.items.case import Case
from whybox.items.scoring import framed, name_scorer

STAFF = """
id: staff
text:
  - {name: a, text: 销售部负责人是王芳。}
  - {name: b, text: 财务部负责人是李明。}
  - {name: c, text: 法务部负责人是赵强。}
  - {name: q, text: 财务部负责人是谁？答案：}
answer: {right: 李明, wrong: 王芳, kind: KIND}
evidence: [b]
"""
HEADS = ("The head of sales is Petra.", "The head of finance is Ingrid.", "The head of law is Karl Berg.")
TEAMS = ("The note says that Karl leads the team.", "The list says that Ingrid leads the team.", "Petra leads a choir.")


@pytest.mark.parametrize("kind", ["name", "text"])
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("赵强。李明", "hedged"),
        ("赵强。\n问题：李明", "hedged"),
        ("赵强\n李明", "hedged"),
        ("李明。赵强", "hedged"),
        ("李明，赵强", "hedged"),
        ("李明。\n问题：赵强", "right"),  # another question, cut before its answer
        ("李明。\n问题：销售部", "right"),
        ("李明。财务", "right"),
        ("李明。", "right"),
        ("不是赵强，是李明。", "right"),
        ("赵强？不，李明。", "right"),
        ("李明。法务部负责人是赵强。", "right"),  # about something else
    ],
)
def test_a_name_that_the_prompt_states_in_the_place_of_the_right_one_is_another_answer(
    text: str, outcome: str, kind: str
) -> None:
    case = Case.parse(STAFF.replace("KIND", kind)).filled()
    for finish in ("stop", "length"):
        assert case.scorer().score(text, finish).outcome == outcome


def test_what_was_said_first_is_among_the_several() -> None:
    score = name_scorer("Ingrid", ["Petra"], rivals=framed("Ingrid", HEADS)).score("Karl Berg, Ingrid")
    assert (score.outcome, score.several) == ("hedged", ("karl berg", "Ingrid"))
    assert name_scorer("Ingrid", ["Petra"], rivals=framed("Ingrid", HEADS)).score("Ingrid, Berlin").right


def test_frames_are_what_stands_around_the_right_name() -> None:
    assert framed("Ingrid", HEADS) == {"petra", "karl berg"}
    assert framed("Ingrid", TEAMS) == {"karl"}
    assert framed("李明", ("由李明负责。", "由赵强负责。", "赵强管理仓库。")) == {"赵强"}
    assert framed("李明", ("李明管理仓库。", "赵强管理车队。", "王芳去了。")) == {"赵强"}
    assert framed("blue", ("It is blue.", "It is red.")) == frozenset()
    assert framed("李明", ("李明。", "赵强。")) == frozenset()  # no frame: any word may stand so


def test_a_third_name_that_was_given_is_not_cut_by_what_the_limit_ends_behind_it() -> None:
    scorer = Case.parse(STAFF.replace("KIND", "name")).filled().scorer()
    assert scorer.score("赵强。\n问题：销售部", "length").outcome == "invalid"
    assert scorer.score("赵强", "length").outcome == "error", "it may go on"
    assert scorer.score("财务部负责人", "length").outcome == "error"
