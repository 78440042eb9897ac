"""What chapter 12 computes: heads by what they look at, a budget, a diagnosis, arrays from elsewhere.

On the model: text A once (3 s), every head on it (3 s), the answer of case R (3 s), a look at its decision.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.jobs.brought import attention
from whybox.learn.course.comparing import equal
from whybox.learn.course.computed import Arrays, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures.figure import OnModel, OnModels, Toys, Value
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said
from whybox.measure.anchors import anchors
from whybox.measure.base_rates import rate
from whybox.measure.classes import classes_of
from whybox.measure.diagnosis import diagnose
from whybox.measure.heads import heads_of
from whybox.measure.looking import look_at
from whybox.measure.subject import Subject, of_run
from whybox.parts.attention import scores
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.report.diagnosis_words import action, meaning
from whybox.report.document import Lang
from whybox.statistics.attention import entropy
from whybox.statistics.head_table import HeadTable
from whybox.statistics.marks import Keys, of_text
from whybox.statistics.rows import AttentionWish, rows_of

Array = np.ndarray
HeadAt = tuple[int, int]
UNNAMED: tuple[HeadAt, ...] = ((16, 0), (11, 6), (18, 8), (0, 0), (7, 1))
TEN: tuple[HeadAt, ...] = (
    (2, 1), (12, 5), (17, 4), (23, 7), (0, 6), (4, 5), (5, 5), (1, 1), (29, 3), (3, 5),
)  # fmt: skip
COLUMNS = ("entropy_norm", "sink", "previous", "self", "local", "stripe", "anchor")
MARKS = ((0.6, "█"), (0.3, "▓"), (0.1, "▒"), (0.02, "░"), (0.0, "·"))
DRAWN_ROW = 61
BERT = (12, 12, 15)  # layers, heads, tokens


@dataclass(frozen=True, eq=False)
class Named:
    """Statistics and classes of the heads that the chapter names, by (layer, head)."""

    rows: Mapping[HeadAt, Mapping[str, float | None]]
    classes: Mapping[HeadAt, tuple[str, ...]]


def _named(ground: Ground) -> Named:
    """Those heads on text A; what `whybox look` keeps of a head, of fifteen in place of all."""
    heads, n = (*UNNAMED, *TEN), len(ground.text_a.ids)
    prompt, places = ground.model.prompt(list(ground.text_a.ids)), np.arange(n)
    pauses = anchors(prompt)
    wish = AttentionWish(top=1, marks=(*of_text(prompt.ids), ("anchor", Keys(pauses))))
    pattern = np.stack([_pattern(ground, *at) for at in heads])
    table = HeadTable.of([(0, rows_of(pattern, visible(places, places), wish, places, places))])
    rows = [{**row, "anchor_tokens": len(pauses) / n} for row in table.rows()]
    return Named(
        dict(zip(heads, rows, strict=True)), {at: classes_of(row) for at, row in zip(heads, rows, strict=True)}
    )


def _pattern(ground: Ground, layer: int, head: int) -> Float[np.ndarray, "q k"]:
    """One head's weights, from the rotated queries and keys that the ground keeps."""
    spec, places = ground.model.spec.layers[layer].attention, np.arange(len(ground.text_a.ids))
    group = head // (spec.heads // spec.kv_heads)
    query = ground.text_a.base["query_pos", layer][:, [head]]
    key = ground.text_a.base["key_pos", layer][:, [group]]
    return np.asarray(softmax(scores(query, key, spec.scale), visible(places, places))[0])


def case_subject(ground: Ground) -> Subject:
    """Case R up to its decision, with its evidence and a wrong answer."""
    study = ground.case_r.study
    looked = look_at(ground.model, study.path)
    return of_run(looked, heads_of(looked, "not run"), study.roles.evidence, wrong=True, question=study.roles.question)


def head_row(ground: Ground, layer: int, head: int) -> dict[str, float]:
    """One head's statistics on text A."""
    row = ground.once(_named).rows[layer, head]
    return {column: float(row[column] or 0.0) for column in COLUMNS}


def head_class(ground: Ground, layer: int, head: int) -> str:
    """Its class; of several the narrower one, which stands first in the list of classes."""
    return ground.once(_named).classes[layer, head][0].replace(" ", "_")


def drawn(weights: Array) -> str:
    """A row of a map: one mark a key, the darker the more weight."""
    return "".join(next(mark for least, mark in MARKS if weight >= least) for weight in weights)


def _ten(ground: Ground) -> Rows:
    rows = [(f"{at[0]}.{at[1]}", head_row(ground, *at)) for at in TEN]
    return tuple((name, *(row[column] for column in COLUMNS)) for name, row in rows)


def _sinks(ground: Ground) -> Grid:
    """Share of key 0, 30 × 9."""
    heads, layers = ground.model.spec.layers[0].attention.heads, len(ground.model.spec.layers)
    sinks = ground.text_a.heads.sink.reshape(layers, heads)
    return Grid(sinks, tuple(f"L{n}" for n in range(layers)), tuple(f"H{n}" for n in range(heads)))


def _budget(ground: Ground) -> Rows:
    """Segments of case R in the decision's row: tokens, share, share over what its length would give it."""
    subject = ground.once(case_subject)
    shares, budget = subject.budget.mean(), subject.budget
    lengths = dict(zip(budget.names, budget.lengths, strict=True))
    found = [(name, lengths[name], shares[name], budget.mean_lift(name) or 0.0) for name in budget.names]
    return tuple(row for row in found if row[1])


def _diagnosed(ground: Ground) -> Rows:
    """Codes that fire on case R, on how many of 200 ordinary prompts, what each may mean, which test follows."""
    found = [(each.code, rate(each.code, ground.model.file.digest())) for each in diagnose(ground.once(case_subject))]
    rates = ((code, "–" if known is None else f"{known.hits} / {known.n}") for code, known in found)
    return tuple((code, hits, _in_both(meaning, code), _in_both(action, code)) for code, hits in rates)


def _in_both(said: Callable[[str, Lang], str], code: str) -> Said:
    return Said(en=said(code, "en"), zh=said(code, "zh"))


def _self_head(ground: Ground) -> Value:
    return head_row(ground, 11, 6)["self"]


def _brought_arrays() -> list[Array]:
    """Twelve layers of (1, 12, 15, 15), as BERT returns them; every head does one thing only."""
    layers, heads, n = BERT
    kinds = [np.eye(n), np.eye(n, k=-1), np.full((n, n), 1 / n), np.eye(n)[np.zeros(n, int)], _stripe(n)]
    kinds[1][0, 0] = 1.0
    pattern = np.stack([kinds[head % len(kinds)] for head in range(heads)])
    return [pattern[None].astype(np.float32)] * layers


def _stripe(n: int) -> Array:
    """All rows look at the third token."""
    found = np.zeros((n, n))
    found[:, 3] = 1.0
    return found


def _brought(_: Ground) -> Rows:
    """What looks like what in arrays that another library computed: the first five heads of the first layer."""
    found = attention(_brought_arrays(), [f"t{n}" for n in range(BERT[2])])
    table, classes = found.heads(), found.looked().classes
    names = ("A[q, q] = 1", "A[q, q − 1] = 1", "A = 1/n", "A[q, 0] = 1", "A[q, 3] = 1")
    return tuple(
        (names[head], f"{table['entropy'][head] or 0:.3f}", ", ".join(classes[head])) for head in range(len(names))
    )


def _brought_sizes() -> Value:
    found = attention(_brought_arrays(), [f"t{n}" for n in range(BERT[2])])
    return float(len(found.patterns)), float(len(found.patterns[0])), float(len(found.tokens))


def _entropies() -> Value:
    """One key has all, four share evenly, softmax(2, 1, 0)."""
    rows = np.zeros((1, 3, 4))
    rows[0, 0, 2], rows[0, 1], rows[0, 2, :3] = 1, 0.25, softmax(np.array([2.0, 1.0, 0.0]))
    return tuple(map(float, entropy(rows, np.ones((3, 4), bool)).data[0]))


def _brightest(ground: Ground) -> tuple[str, ...]:
    """The key with the largest mean weight over all heads and judged queries."""
    columns = ground.text_a.heads.columns.mean(axis=0)
    return ("first",) if int(columns.argmax()) == 0 else ("content",)


def _draw_entropy(rng: np.random.Generator, _: Ground) -> Arrays:
    """Rows of a causal map; what is hidden holds anything."""
    n = int(rng.choice([7, 11, 13]))
    seen = np.tril(np.ones((n, n), bool))
    pattern = softmax(rng.normal(size=(n, n)) * 2, seen)
    pattern[n // 2] = np.eye(n)[1]  # one key has all
    even = softmax(np.zeros((n, n)), seen)
    dirty = np.where(seen, pattern, rng.choice([np.nan, -1.0, 0.3], size=(n, n)))
    known = np.zeros((1, 3))
    known[0] = softmax(np.array([2.0, 1.0, 0.0]))
    return {"pattern": pattern, "even": even, "dirty": dirty, "visible": seen, "known": known}


_DRIVE_ENTROPY = """
import numpy as np

def drive(code, inputs):
    visible = inputs["visible"]
    return {
        "clean": code.attention_entropy(inputs["pattern"], visible),
        "even": code.attention_entropy(inputs["even"], visible),
        "dirty": code.attention_entropy(inputs["dirty"], visible),
        "known": code.attention_entropy(inputs["known"], np.ones((1, 3), bool)),
    }
"""


def _judge_entropy(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    seen = inputs["visible"]
    right = entropy(np.where(seen, inputs["pattern"], 0)[None], seen).data[0]
    even = np.log(seen.sum(axis=1))
    shaped = np.shape(outputs["clean"]) == right.shape
    found = [
        Remark(
            shaped,
            f"one number a query: expected shape {right.shape}, came {np.shape(outputs['clean'])}",
            f"每个 query 一个数：应为形状 {right.shape}，得到 {np.shape(outputs['clean'])}",
        )
    ]
    if not shaped:
        return tuple(found)
    sharp = len(right) // 2
    known, came = entropy_of(inputs["known"]), outputs["clean"]
    return (
        *found,
        equal(("softmax(2, 1, 0)", "softmax(2, 1, 0)"), outputs["known"], known),
        equal(("a row with all its weight on one key", "权重全在一个 key 上的行"), came[[sharp]], np.zeros(1)),
        equal(("rows that are even over what they see", "在可见 key 上均匀的行"), outputs["even"], even),
        equal(("rows of a causal map", "因果注意力的各行"), came, right),
        equal(("the same rows, anything at hidden keys", "同样的行，被遮处写着任意值"), outputs["dirty"], right),
    )


def entropy_of(rows: Array) -> Array:
    """Of rows without hidden keys."""
    return np.asarray(entropy(rows[None], np.ones(rows.shape, bool)).data[0])


FIGURES: Toys = {"l12.entropies": _entropies, "l12.brought": _brought_sizes}
ON_MODEL: OnModels = {"l12.self_head": OnModel(_self_head, runs=1)}

COMPUTED = Computations(
    figures=FIGURES,
    on_model=ON_MODEL,
    tables={"ten": _ten, "budget": _budget, "diagnosed": _diagnosed, "brought": _brought},
    grids={"sinks": _sinks},
    answers={
        "unnamed": lambda ground: tuple(head_class(ground, *at) for at in UNNAMED),
        "brightest": _brightest,
        "ten_classes": lambda ground: tuple(head_class(ground, *at) for at in TEN),
        "actions": lambda _: ("repeat_last", "look_at_tokens", "be_specific", "move_and_test"),
    },
    tasks={"entropy": Task(("attention_entropy",), _draw_entropy, _DRIVE_ENTROPY, _judge_entropy)},
)
