"""The table of planted rows, one function of (seed, decoys) each."""

from collections.abc import Callable
from functools import partial

from whybox.testing import context_rows, form_rows, knowledge_rows, pair_rows, trap_rows
from whybox.testing.decoys import Decoys
from whybox.testing.engine_rows import KINDS, engine_fault
from whybox.testing.planted import Planted

Row = Callable[[int, Decoys], Planted]

ROWS: dict[str, Row] = {
    "induction": context_rows.induction,
    "first_biased": context_rows.first_biased,
    "recency_biased": context_rows.recency_biased,
    "blind_spot": context_rows.blind_spot,
    "not_looking": context_rows.not_looking,
    "suppressed": context_rows.suppressed,
    "outvoted": context_rows.outvoted,
    "memoriser": knowledge_rows.memoriser,
    "shared_memory": knowledge_rows.shared_memory,
    "missing_fact": knowledge_rows.missing_fact,
    "sink": pair_rows.sink,
    "cancel": pair_rows.cancel,
    "backup": pair_rows.backup,
    "redundant_or": pair_rows.redundant_or,
    "format_derailer": form_rows.format_derailer,
    "usurper": form_rows.usurper,
    "near_tie": form_rows.near_tie,
    **{f"engine_fault.{kind}": partial(engine_fault, kind) for kind in KINDS},
    "mixed": knowledge_rows.mixed,
    "beyond": knowledge_rows.beyond,
    "hanging": trap_rows.hanging,
    "misled": trap_rows.misled,
    "leaning": trap_rows.leaning,
    "two_memories": trap_rows.two_memories,
    "averse": trap_rows.averse,
    "bystanders": form_rows.bystanders,
    "suggested": trap_rows.suggested,
}
