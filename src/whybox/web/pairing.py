"""Two sides of a question: each runs on its own model's thread, the comparison on the first one's."""

import time
from functools import lru_cache, partial

from whybox.errors import PromptError
from whybox.jobs.explore.alike import Alike, alike
from whybox.jobs.explore.desk import SEED
from whybox.jobs.explore.pair import Side, chosen, paired
from whybox.report.document.explore import AnyPrompt, State
from whybox.report.document.pair import PairDocument, PairLens
from whybox.text.tokenizer import Tokenizer
from whybox.web.seat import Seat, Table
from whybox.web.sizes import run


async def pair(table: Table, state: State) -> PairDocument:
    """A: the state's prompt on the first model; B: what stands beside it. Both without changes."""
    began = time.monotonic()
    a, b = await _sides(table, state)

    def work() -> PairDocument:
        return paired(state, a, b, _alike(a, b), time.monotonic() - began, SEED)

    return await table.first.worker.short(work)


async def pair_lens(table: Table, state: State) -> PairLens:
    """Both sides by layer, for the most probable token of either."""
    a, b = await _sides(table, state)
    seat, other = table.other(state)
    in_a, in_b = await table.first.worker.short(lambda: chosen(a, b, _alike(a, b)))
    rows_a = await table.first.worker.short(partial(table.first.desk.lens_rows, state.prompt, in_a), run(state.prompt))
    rows_b = await seat.worker.short(partial(seat.desk.lens_rows, other.prompt, in_b), run(other.prompt))
    first, second = map(a.model.tokenizer.label, in_a)
    return PairLens(first=first, second=second, a=rows_a, b=rows_b)


async def _sides(table: Table, state: State) -> tuple[Side, Side]:
    seat, other = table.other(state)
    a = await table.first.worker.short(partial(_side, table.first, "A", state.prompt), run(state.prompt))
    return a, await seat.worker.short(partial(_side, seat, "B", other.prompt), run(other.prompt))


def _side(seat: Seat, name: str, prompt: AnyPrompt) -> Side:
    """On the seat's own thread, which has opened its model before it does anything else."""
    try:
        return seat.desk.side(prompt)
    except PromptError as error:
        raise PromptError(f"{name}: {error.cause}", error.remedy) from error


def _alike(a: Side, b: Side) -> Alike:
    return _known(a.model.tokenizer, b.model.tokenizer)


@lru_cache(maxsize=1)
def _known(one: Tokenizer, other: Tokenizer) -> Alike:
    """Two vocabularies of a quarter million tokens take half a second to compare: once."""
    return alike(one, other)
