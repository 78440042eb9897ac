"""Deterministic scorers: fold the text, find known candidates, drop denied ones, let what is asserted decide."""

from whybox.items.scoring.choice import ChoiceScorer, choice_scorer
from whybox.items.scoring.framed import framed
from whybox.items.scoring.matches import Match, Overlap, Pattern, Schema, text_f1
from whybox.items.scoring.names import followers
from whybox.items.scoring.one_value import OneValueScorer, bounds_in
from whybox.items.scoring.rules import JsonWithKeys, NeverWrite, inflections, never_write
from whybox.items.scoring.score import Outcome, Score, Scorer
from whybox.items.scoring.scorers import (
    AbstainScorer,
    CandidateScorer,
    FalsePremiseScorer,
    code_scorer,
    forms_scorer,
    lenient_number_scorer,
    name_scorer,
    number_scorer,
    symbol_scorer,
    text_scorer,
    word_scorer,
    yes_no_scorer,
)
from whybox.items.scoring.table import Agreement, Table, agreement
from whybox.items.scoring.tables import tables

__all__ = [
    "AbstainScorer",
    "Agreement",
    "CandidateScorer",
    "ChoiceScorer",
    "FalsePremiseScorer",
    "JsonWithKeys",
    "Match",
    "NeverWrite",
    "OneValueScorer",
    "Outcome",
    "Overlap",
    "Pattern",
    "Schema",
    "Score",
    "Scorer",
    "Table",
    "agreement",
    "bounds_in",
    "choice_scorer",
    "code_scorer",
    "followers",
    "forms_scorer",
    "framed",
    "inflections",
    "lenient_number_scorer",
    "name_scorer",
    "never_write",
    "number_scorer",
    "symbol_scorer",
    "tables",
    "text_f1",
    "text_scorer",
    "word_scorer",
    "yes_no_scorer",
]
