"""The table of planted rows, one function of (seed, decoys) each."""

from collections.abc import Callable
from functools import partial

from whybox.testing.context_rows import blind_spot, first_biased, induction, not_looking, recency_biased, suppressed
from whybox.testing.decoys import Decoys
from whybox.testing.engine_rows import KINDS, engine_fault
from whybox.testing.form_rows import format_derailer, near_tie
from whybox.testing.knowledge_rows import beyond, memoriser, missing_fact, mixed
from whybox.testing.pair_rows import backup, cancel, redundant_or, sink
from whybox.testing.planted import Planted
from whybox.testing.trap_rows import hanging

Row = Callable[[int, Decoys], Planted]

ROWS: dict[str, Row] = {
    "induction": induction,
    "first_biased": first_biased,
    "recency_biased": recency_biased,
    "blind_spot": blind_spot,
    "not_looking": not_looking,
    "suppressed": suppressed,
    "memoriser": memoriser,
    "missing_fact": missing_fact,
    "sink": sink,
    "cancel": cancel,
    "backup": backup,
    "redundant_or": redundant_or,
    "format_derailer": format_derailer,
    "near_tie": near_tie,
    **{f"engine_fault.{kind}": partial(engine_fault, kind) for kind in KINDS},
    "mixed": mixed,
    "beyond": beyond,
    "hanging": hanging,
}
