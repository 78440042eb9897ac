"""L1: text becomes rows of a table. On the default model: its tokenizer, and two short runs."""

import numpy as np

from whybox.learn.course.comparing import Both, equal, found
from whybox.learn.course.computed import Arrays, Computations, Remark, Rows, Task
from whybox.learn.figures.figure import OnModel, Value
from whybox.learn.ground import Ground
from whybox.parts.embedding import lookup
from whybox.text.prompt import from_text

WORDS = ("refund", " refund", "退款", "换货")
CAPITAL = "The capital of France is"
BANKS = ("the river bank", "the bank account")
BANK = " bank"
PAIRS = {
    "process": ("退款流程说明", "说明退款流程"),
    "cat": ("猫追狗", "狗追猫"),
    "dog": ("dog bites man", "man bites dog"),
    "the_dog": ("The dog bites the man", "The man bites the dog"),
    "policy": ("refund policy", "policy refund"),
    "days": ("7 days or 30 days", "30 days or 7 days"),
}
ROWS, WIDTH, IDS = 17, 5, 7

DRIVE = """
import numpy as np

def drive(code, inputs):
    table, ids, row = inputs["table"], inputs["ids"], inputs["row"]
    out = np.array(code.embed(ids, table))
    # 2^45 rows that share one row's memory: as an array of their own they fit in no address space.
    endless = np.broadcast_to(row, (2**45, len(row)))
    far = np.array([2**44, 3, 2**44 + 1])
    written = table.copy()
    code.embed(ids, written)[...] = 0.0
    return {
        "out": out,
        "refused": np.array([refuses(code, np.array([ids[0], bad]), table) for bad in (len(table), -1)]),
        "endless": attempt(lambda: code.embed(far, endless), len(far), len(row)),
        "table_after": written,
    }

def refuses(code, ids, table):
    try:
        code.embed(ids, table)
    except Exception:
        return True
    return False

def attempt(call, rows, width):
    try:
        return np.array(call())
    except (MemoryError, ValueError):
        return np.full((rows, width), np.nan)
"""


def _counts(ground: Ground) -> Value:
    return tuple(float(len(ground.model.tokenizer.encode(text))) for text in WORDS)


def _cut(ground: Ground) -> Rows:
    """Text, id, bytes, and which part of which character each token is."""
    prompts = [from_text(ground.model.tokenizer, text) for text in WORDS]
    return tuple(
        (f"“{prompt.text}”", token.id, token.bytes.hex(" ").upper(), token.label)
        for prompt in prompts
        for token in prompt.tokens
    )


def _stages(ground: Ground) -> Rows:
    """Place, id, token and the first three of its row's numbers."""
    tokens = from_text(ground.model.tokenizer, CAPITAL).tokens
    rows = ground.model.engine.run([token.id for token in tokens], ["embed"], tail=1)["embed"]
    return tuple(
        (place, token.id, f"“{token.text}”", *map(float, row[:3]))
        for place, (token, row) in enumerate(zip(tokens, rows, strict=True))
    )


def _sizes(ground: Ground) -> Value:
    """Rows and columns of the table; numbers in the rows that a prompt reads; in its one-hot; products of the two."""
    vocab, width = ground.model.spec.vocab, ground.model.spec.width
    n = len(ground.model.tokenizer.encode(CAPITAL))
    return tuple(map(float, (vocab, width, n, n * width, n * vocab, n * vocab * width)))


def _banks(ground: Ground) -> tuple[float, float]:
    """Between two sentences, for the token they share: distance of its rows, and cosine after the last layer."""
    model = ground.model
    (token,) = model.tokenizer.encode(BANK)
    last = len(model.spec.layers) - 1
    rows, ends = [], []
    for text in BANKS:
        ids = model.tokenizer.encode(text)
        trace = model.engine.run(ids, ["embed", ("resid_post", last)], tail=1)
        rows.append(trace["embed"][ids.index(token)])
        ends.append(trace["resid_post", last][ids.index(token)])
    cosine = float(ends[0] @ ends[1] / np.linalg.norm(ends[0]) / np.linalg.norm(ends[1]))
    return float(np.abs(rows[0] - rows[1]).max()), cosine


def _one_text_two_spellings(ground: Ground) -> Value:
    """Ids of "ab" as the tokenizer writes it, and of "a" and "b" beside each other; 1 where both read the same."""
    tokenizer = ground.model.tokenizer
    apart = [*tokenizer.encode("a"), *tokenizer.encode("b")]
    whole = tokenizer.encode("ab")
    return float(len(whole)), float(len(apart)), float(tokenizer.text(whole) == tokenizer.text(apart))


def _same_row(ground: Ground) -> tuple[str, ...]:
    return ("same",) if ground.once(_banks)[0] == 0 else ("other",)


def _same_ids(ground: Ground) -> tuple[str, ...]:
    encode = ground.model.tokenizer.encode
    return tuple(name for name, (one, other) in PAIRS.items() if sorted(encode(one)) == sorted(encode(other)))


def _draw(rng: np.random.Generator, ground: Ground) -> Arrays:
    ids = rng.integers(0, ROWS, IDS)
    ids[-1] = ids[0]
    return {"table": rng.normal(size=(ROWS, WIDTH)), "ids": ids, "row": rng.normal(size=WIDTH)}


def _judge(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    table, ids = given["table"], given["ids"]
    many: Both = (
        f"{IDS} ids of a {ROWS} × {WIDTH} table, one id twice",
        f"{ROWS} × {WIDTH} 的表，{IDS} 个 id，有一个重复",
    )
    after: Both = ("the table, after the rows were overwritten", "覆盖取出的行之后，原来的表")
    return (
        equal(many, came["out"], lookup(ids, table), within=0),
        _refused(f"id {ROWS} of a table of {ROWS} rows", f"{ROWS} 行的表，id {ROWS}", bool(came["refused"][0])),
        _refused(f"id −1 of a table of {ROWS} rows", f"{ROWS} 行的表，id −1", bool(came["refused"][1])),
        _endless(came["endless"], given["row"]),
        equal(after, came["table_after"], table, within=0),
    )


def _endless(came: np.ndarray, row: np.ndarray) -> Remark:
    tried: Both = ("three ids of a table with 2⁴⁵ rows", "有 2⁴⁵ 行的表，取三个 id")
    if np.isnan(came).any():
        expected: Both = ("three rows, and no array as long as the table", "只取三行，不建与表等长的数组")
        return found(tried, False, expected, ("one that fits in no memory", "内存放不下的数组"))
    return equal(tried, came, np.broadcast_to(row, (3, WIDTH)), within=0)


def _refused(en: str, zh: str, refused: bool) -> Remark:
    return found((en, zh), refused, ("an exception", "抛出异常"), ("a row", "一行"))


COMPUTED = Computations(
    on_model={
        "l01.counts": OnModel(_counts, runs=0),
        "l01.sizes": OnModel(_sizes, runs=0),
        "l01.banks": OnModel(lambda ground: ground.once(_banks), runs=0),
        "l01.spellings": OnModel(_one_text_two_spellings, runs=0),
    },
    tables={"cut": _cut, "stages": _stages},
    answers={"same_row": _same_row, "same_ids": _same_ids},
    tasks={"embed": Task(("embed",), _draw, DRIVE, _judge)},
)
