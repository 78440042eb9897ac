"""One run as one file: what it refuses, what it gives back, what two processes may do with it."""

import sqlite3
from pathlib import Path

import pytest

from tests.suite.fake import calls_of
from whybox.errors import StorageError, UsageError
from whybox.probes.design import AnyOutcome, Call
from whybox.suite import records
from whybox.suite.database import only_writer, opened
from whybox.suite.store import Store
from whybox.suite.terms import differences
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Attempt,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    Sampling,
    TokenLogprob,
    Turn,
    Usage,
)

TOKEN = TokenLogprob("七", -0.5, (("七", -0.5), ("\ud800", -1.25)))
OUTCOMES: list[AnyOutcome] = [
    Reply("seven\x00天", "length", (TOKEN,), "", Usage(5, 1), "m", "fp", "why", 0.25, 0.1, (Attempt("ok", 0.25),)),
    Failure("http", "it failed", "try", 500, True, True, 1.5, 0.5, (Attempt("http", 0.5, 1.0),)),
    AnswerScore(-2.5, (TOKEN,), 0.5, (Attempt("ok", 0.5),)),
]
REQUESTS = [
    Request(Chat((Turn("system", "Be brief."), Turn("user", "How long?"))), Sampling(0.7, 0.9, 8, 3, ("\n",)), 5, 2),
    AnswerRequest(Raw("Refunds take"), " 7 days", 3, 2),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcomes_come_back_whole(outcome: AnyOutcome) -> None:
    again = records.outcome_of(records.outcome_text(outcome))
    assert again == outcome
    assert (again.seconds, again.attempts) == (outcome.seconds, outcome.attempts)


@pytest.mark.parametrize("request_", REQUESTS)
def test_requests_come_back_whole(request_: Request | AnswerRequest) -> None:
    assert records.request_of(records.request_text(request_), request_.repeat) == request_


def test_an_answer_is_never_replaced_and_a_failure_keeps_its_attempts(tmp_path: Path) -> None:
    calls = calls_of(1)
    with Store(tmp_path / "run.sqlite") as store:
        store.begin(calls)
        store.keep(calls[0], Failure("http", "no", attempts=(Attempt("http", 1.0),)))
        store.keep(calls[0], Reply("yes", attempts=(Attempt("ok", 0.5),)))
        store.keep(calls[0], Reply("another"))
        store.keep(calls[0], Failure("http", "late"))
        (record,) = store.records(calls)
    assert record.outcome == Reply("yes")
    assert [attempt.ended for attempt in record.outcome.attempts] == ["http", "ok"]


def test_a_call_that_was_not_planned_and_a_cell_that_is_there_twice_are_refused(tmp_path: Path) -> None:
    calls = calls_of(2)
    with Store(tmp_path / "run.sqlite") as store:
        with pytest.raises(UsageError, match="two calls"):
            store.begin([*calls, calls[0]])
        store.begin(calls[1:])
        with pytest.raises(StorageError):
            store.keep(calls[0], Reply("x"))


def test_another_plan_does_not_go_into_the_same_file(tmp_path: Path) -> None:
    with Store(tmp_path / "run.sqlite") as store:
        name = store.begin(calls_of(2))
        assert store.begin(list(reversed(calls_of(2)))) == name
        with pytest.raises(UsageError, match="another suite, seed"):
            store.begin(calls_of(3))


def test_what_differs_from_the_run_of_a_file_is_told(tmp_path: Path) -> None:
    there = {"": {"seed": "0"}, "probes.order": {"items": "2"}, "targets.a": {"engine": "torch"}}
    here = {"": {"seed": "1"}, "probes.order": {"items": "3"}, "targets.b": {"engine": "torch"}}
    with Store(tmp_path / "run.sqlite") as store:
        store.begin(calls_of(2), terms=there)
        with pytest.raises(UsageError) as refused:
            store.begin(calls_of(3), terms=here)
    assert refused.value.cause.endswith(
        "holds another run: seed: 0 there, 1 here; probes.order.items: 2 there, 3 here; "
        "targets.a only there; targets.b only here"
    )


def test_of_many_differences_the_first_are_told() -> None:
    there, here = ({"probes.order": {str(i): side for i in range(9)}} for side in "ab")
    assert len(differences(there, here)) == 6
    assert differences(there, here)[-1] == "and 4 more"
    assert differences({}, here) == []


def test_what_is_no_run_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, however long it may be" * 99)
    with pytest.raises(StorageError, match="cannot keep results"):
        Store(tmp_path / "text")
    with pytest.raises(UsageError, match="no run"):
        Store.existing(tmp_path / "nothing.sqlite")
    opened(tmp_path / "later.sqlite", 99, "CREATE TABLE x (y)").close()
    with pytest.raises(StorageError, match="expected tables of version 1, found 99"):
        Store(tmp_path / "later.sqlite")


def test_one_process_writes_and_others_read(tmp_path: Path) -> None:
    path, calls = tmp_path / "run.sqlite", calls_of(1)
    with only_writer(path), Store(path) as store:
        store.begin(calls)
        store.keep(calls[0], Reply("yes"))
        with Store(path) as reader:
            assert reader.counts().finished == 1
        with pytest.raises(UsageError, match="another process"), only_writer(path):
            pass
    with only_writer(path):
        assert path.is_file()


def test_every_finished_call_is_on_disk_before_the_next(tmp_path: Path) -> None:
    calls: list[Call] = calls_of(2)
    with Store(tmp_path / "run.sqlite") as store:
        store.begin(calls)
        for done, call in enumerate(calls):
            other = sqlite3.connect(tmp_path / "run.sqlite")
            assert other.execute("SELECT count(*) FROM outcomes").fetchone() == (done,)
            other.close()
            store.keep(call, Reply("yes"))
