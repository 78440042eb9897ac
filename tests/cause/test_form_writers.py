"""Writers of a form that holds no answer: searched only where nothing else explains the form."""

from dataclasses import replace

from tests.cause.studies import studied
from tests.testing.reading import near
from whybox.cause.claims import Kind
from whybox.cause.form_writers import is_explained, is_illegal
from whybox.items.case import Case
from whybox.testing import context_rows, form_rows
from whybox.testing.decoys import Decoys

FEW = Decoys(heads=3)


def test_the_head_that_writes_the_form_is_found() -> None:
    planted = form_rows.usurper(1, FEW)
    study = studied(planted, "removals")
    (claim,) = study.claims[Kind.FORM]
    assert claim.name == "head 3.0"
    trial = study.trials[claim.name]
    assert trial.flips
    assert trial.outcome.own.ld == near(planted.expected.numbers["ld_without_form"])
    assert claim.control is None
    screen = next(one for one in study.screens if "form" in one.what)
    assert (screen.best, screen.of_ld) == ("head 3.0", False)
    heads = sum(layer.attention.heads for layer in study.bench.model.spec.layers)
    assert screen.runs == heads + len(study.bench.model.spec.layers)


def test_a_form_that_the_contracts_prefix_undoes_is_not_searched() -> None:
    study = studied(form_rows.format_derailer(1, FEW), "removals")
    assert study.trials["contract"].flips
    assert is_illegal(study)
    assert is_explained(study)
    assert "choice" not in study.trials
    assert Kind.FORM not in study.claims


def test_the_choice_at_the_start_is_carried_out_and_its_answer_read() -> None:
    planted = form_rows.format_derailer(1, FEW)
    data = planted.case.text.model_dump(exclude_none=True, exclude_unset=True)
    study = studied(replace(planted, case=Case.from_data(data | {"contract": None})), "form and decoding")
    chosen = study.trials["choice"]
    assert chosen.flips
    assert planted.instance.right in chosen.outcome.answer
    assert study.start is not None
    assert chosen.outcome.own.ld == study.start.ld > 0
    assert is_explained(study)


def test_a_legal_answer_has_no_form_to_explain() -> None:
    assert not is_illegal(studied(context_rows.not_looking(1), "form and decoding"))


def test_of_a_crowd_each_does_it_and_so_do_its_shams() -> None:
    study = studied(form_rows.bystanders(1), "shams")
    (claim,) = study.claims[Kind.FORM]
    shams = study.trials[claim.name].shams
    assert study.trials[claim.name].flips
    assert shams is not None
    assert shams.flipped >= 19
