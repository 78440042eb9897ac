"""The cache: what is kept of old tokens, what it costs, and pages.

Shown takes two runs of text A and one prompt of five ids: 4 s.
"""

import numpy as np

from whybox.learn.course.chapters.l10_cached import CACHED
from whybox.learn.course.comparing import Both, equal, unlike
from whybox.learn.course.computed import Arrays, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures.figure import Toys, Value
from whybox.learn.figures.published import LLAMA_2_70B, LLAMA_3_8B, SMOLLM2, UNGROUPED, outline
from whybox.learn.ground import Ground
from whybox.parts.attention import attention
from whybox.parts.cache import LayerCache
from whybox.parts.flash import flash_attention
from whybox.parts.paged import Pool, Table, pool_like, store, tiles_of, waste
from whybox.parts.position import rope_angles, rotate
from whybox.size import cache, work
from whybox.size.load import Load
from whybox.spec import Attention, Pairing, PlainRope

Array = np.ndarray
BLOCK = 16
LENGTHS = (1, 16, 17, 1_000)
CONTEXTS = (100, 1_000, 4_000)


def _filled(lengths: tuple[int, ...], block: int, order: tuple[int, ...]) -> tuple[Pool, list[Table]]:
    """Sequences that grow side by side, a token each in turn, in one pool."""
    nothing = np.zeros((0, 1, 1))
    pool, tables = pool_like(nothing, nothing, block, order), [Table() for _ in lengths]
    for turn in range(max(lengths)):
        for row, length in enumerate(lengths):
            if turn < length:
                number = np.full((1, 1, 1), float(row + 1))
                pool, tables[row] = store(pool, tables[row], number, number)
    return pool, tables


def _by_hand() -> Value:
    """Blocks of each of four sequences, and the slots that stand empty in all."""
    pool, tables = _filled(LENGTHS, BLOCK, tuple(range(70)))
    return *(float(len(table.blocks)) for table in tables), float(sum(waste(pool, table) for table in tables))


def _paged_error() -> Value:
    """Attention over pages in any order against contiguous keys: largest distance in ten orders."""
    rng, n = np.random.default_rng(0), 37
    query, key, value = (rng.normal(size=(n, heads, 8)) for heads in (6, 2, 2))
    spec, places = Attention(heads=6, kv_heads=2, head_width=8, scale=8**-0.5), np.arange(n)
    right = attention(query, key, value, places, places, spec).head_out
    errors = []
    for _ in range(10):
        order = tuple(map(int, rng.permutation(11)))
        pool, table = store(pool_like(key, value, 5, order), Table(), key, value)
        errors.append(np.abs(flash_attention(query, places, tiles_of(pool, table), spec) - right).max())
    return float(max(errors))


FIGURES: Toys = {
    "l10.by_hand": _by_hand,
    "l10.paged_error": _paged_error,
    "l10.most_waste": lambda: float(
        max(waste(*_one(length, BLOCK)) for length in range(1, 3 * BLOCK)),
    ),
}


def _one(length: int, block: int) -> tuple[Pool, Table]:
    pool, tables = _filled((length,), block, tuple(range(8)))
    return pool, tables[0]


def _bytes(ground: Ground) -> Rows:
    """Model, key/value heads, bytes a token, gigabytes at 4,096."""
    rows = []
    for name in (SMOLLM2, LLAMA_3_8B, LLAMA_2_70B, UNGROUPED):
        token = cache.per_token(outline(name), Load(1)).value
        rows.append((name, float(token), cache.per_request(outline(name), Load(4096)).value / 1e9))
    return tuple(rows)


def _work(ground: Ground) -> Rows:
    """Tokens written, and how many times the arithmetic it takes without a cache."""
    return tuple((n, float(work.without_cache(outline(SMOLLM2), Load(n)).value)) for n in CONTEXTS)


def _pool(ground: Ground) -> Grid:
    """Blocks of one pool, each slot with the number of the sequence that filled it; 0: empty."""
    pool, _ = _filled((9, 5, 2), 4, (3, 0, 5, 2, 6, 1, 4, 7))
    held = pool.key[:, :, 0, 0]
    rows = tuple(f"{number}" for number in range(len(held)))
    return Grid(held, rows, tuple(f"{slot}" for slot in range(pool.block)), held == 0)


def _stored(ground: Ground) -> tuple[str, ...]:
    """Which of a layer's arrays lie in its cache."""
    model = ground.model.on_reference()
    trace = model.run("The capital of France is", see=[(site, 0) for site in STORED.values()])
    assert trace.cache is not None
    layer = trace.cache.layers[0]
    assert isinstance(layer, LayerCache)
    held = (layer.key, layer.value)
    return tuple(name for name, site in STORED.items() if any(np.array_equal(trace[site, 0], each) for each in held))


STORED = {
    "query": "query",
    "query_turned": "query_pos",
    "key": "key",
    "key_turned": "key_pos",
    "value": "value",
    "pattern": "pattern",
}
SLOTS = (23, 41, 17, 29)


def _turned(plain: Array, places: Array, base: float, pairing: Pairing = Pairing.HALF) -> Array:
    rope = PlainRope(base, plain.shape[-1], pairing)
    return rotate(plain[:, None], *rope_angles(rope, places, len(places)), pairing)[:, 0]


def _draw_slots(rng: np.random.Generator, ground: Ground) -> Arrays:
    """Caches of one key head in which one slot is turned for another position; the last has none."""
    inputs: dict[str, Array] = {"base": np.array(500.0)}
    for index, count in enumerate(SLOTS):
        plain, places = rng.normal(size=(count, 14)), np.arange(count)
        slot = int(rng.integers(2, count - 2))
        there = slot + int((1, -1, 2, 0)[index])
        turned = np.where(places == slot, there, places)
        inputs |= {f"plain_{index}": plain, f"cached_{index}": _turned(plain, turned, 500.0)}
        inputs[f"right_{index}"] = np.array([slot, there] if there != slot else [-1, -1])
    return inputs


DRIVE_SLOTS = """
import numpy as np

def drive(code, inputs):
    base, out = float(inputs["base"]), {}
    for index in range(4):
        given = inputs[f"plain_{index}"], inputs[f"cached_{index}"]
        out[str(index)] = np.asarray(code.misplaced(*given, base))
    return out
"""
ITS_OWN: Both = (
    "the second number is the position that the slot was turned for, not its own",
    "第二个数是该槽实际按哪个位置旋转的，不是它自己的序号",
)


def _judge_slots(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    remarks = []
    for index, count in enumerate(SLOTS):
        right, came = inputs[f"right_{index}"], outputs[str(index)]
        if right[0] >= 0:
            remarks.append(unlike(ITS_OWN, came, right[[0, 0]]))
        remarks.append(equal((f"a cache of {count} slots", f"{count} 个槽的缓存"), came, right))
    return tuple(remarks)


GROWTH = (3, 1, 4, 8, 1, 5)
"""Tokens that arrive, for two sequences in turn."""
ORDER = (4, 1, 6, 0, 5, 2, 3)


def _draw_pages(rng: np.random.Generator, ground: Ground) -> Arrays:
    return {"growth": np.array(GROWTH), "free": rng.permutation(ORDER), "size": np.array(4)}


DRIVE_PAGES = """
import numpy as np

def drive(code, inputs):
    size, free, out = int(inputs["size"]), inputs["free"].tolist(), {}
    tables, lengths = [[], []], [0, 0]
    for turn, count in enumerate(inputs["growth"].tolist()):
        row = turn % 2
        handed = list(tables[row]), list(free)
        blocks, free = code.grow(*handed, lengths[row], count, size)
        tables[row], free = list(map(int, blocks)), list(map(int, free))
        lengths[row] += count
        out[f"blocks_{turn}"], out[f"free_{turn}"] = np.array(tables[row], int), np.array(free, int)
        out[f"waste_{turn}"] = np.atleast_1d(code.waste(tables[row], lengths[row], size))
    places = [code.locate(tables[0], place, size) for place in range(lengths[0])]
    out["places"] = np.asarray(places)
    return out
"""
BLOCK_TOO_MANY: Both = (
    "a block was taken although the last one was just full: take it when the next token comes",
    "最后一块刚好填满时就多领了一块：等下一个 token 来了再领",
)


def _judge_pages(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    size, free = int(inputs["size"]), tuple(map(int, inputs["free"]))
    nothing = np.zeros((0, 1, 1))
    pool, tables = pool_like(nothing, nothing, size, free), [Table(), Table()]
    remarks = []
    for turn, count in enumerate(inputs["growth"].tolist()):
        row = turn % 2
        number = np.zeros((count, 1, 1))
        pool, tables[row] = store(pool, tables[row], number, number)
        table, tried = tables[row], f"sequence {row} at {tables[row].length} tokens"
        zh, came = f"序列 {row} 长 {table.length} 时", outputs[f"blocks_{turn}"]
        remarks += [
            Remark(table.length % size != 0 or len(came) != len(table.blocks) + 1, *BLOCK_TOO_MANY),
            equal((f"{tried}: its blocks", f"{zh}的块"), came, np.array(table.blocks)),
            equal((f"{tried}: free blocks", f"{zh}的空闲块"), outputs[f"free_{turn}"], np.array(pool.free, int)),
            equal((f"{tried}: waste", f"{zh}的浪费"), outputs[f"waste_{turn}"], np.array([waste(pool, table)])),
        ]
    first, places = np.array(tables[0].blocks), np.arange(tables[0].length)
    where = np.stack([first[places // size], places % size], axis=1)
    return (*remarks, equal(("locate: block and slot", "locate：块号与槽号"), outputs["places"], where))


COMPUTED = Computations(
    figures=FIGURES,
    tables={"bytes": _bytes, "work": _work},
    grids={"pool": _pool},
    answers={"stored": _stored},
    tasks={
        "cached": CACHED,
        "slots": Task(("misplaced",), _draw_slots, DRIVE_SLOTS, _judge_slots),
        "pages": Task(("grow", "locate", "waste"), _draw_pages, DRIVE_PAGES, _judge_pages),
    },
)
