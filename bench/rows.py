"""Every contest and every row of the table, with its goal."""

from bench.contest import Contest, Cost, NearTruth, Peak, Row, SameTop, Side, Speed, Start, WithinFloor

GB = 10**9
PROMPT = "The capital of France is"
HEADS_TOKENS = 128
EVERY_HEAD = 3
"""So many heads lie between two whose effects are computed in float64 as well."""
WRITTEN = 32

EXPLAINED: dict[str, str] = {
    "decode-1/llama.cpp": "docs/decisions/decode-speed.md",
    "decode-16/transformers": "docs/decisions/many-streams.md",
    "statistics-8192-fp32/time": "docs/decisions/attention-statistics.md",
    "statistics-8192-bf16/time": "docs/decisions/attention-statistics.md",
    "statistics-32768/memory": "docs/decisions/attention-statistics.md",
    "ablations/bf16": "docs/decisions/ablations.md",
}
"""Row → the note under docs/decisions/ that says what was tried, what it measured, and what limits it."""


def ours(task: str, **arguments: object) -> Side:
    return Side("whybox", "bench.ours", task, arguments)


def transformers(task: str, **arguments: object) -> Side:
    return Side("transformers", "bench.peers.transformers_side", task, arguments)


def llama_cpp(task: str, **arguments: object) -> Side:
    return Side("llama.cpp", "bench.peers.llama_cpp_side", task, arguments)


def llama_server(task: str, **arguments: object) -> Side:
    return Side("llama.cpp server", "bench.peers.llama_server_side", task, arguments)


def transformer_lens(task: str, **arguments: object) -> Side:
    return Side("TransformerLens", "bench.peers.transformer_lens_side", task, arguments)


def _prefill(tokens: int) -> Contest:
    return Contest(
        f"prefill-{tokens}",
        {
            "ours bf16": ours("prefill", precision="bf16", tokens=tokens),
            "transformers bf16": transformers("prefill", precision="bf16", tokens=tokens),
            "transformers bf16, all rows": transformers("prefill", precision="bf16", tokens=tokens, all_rows=True),
            "llama.cpp Q4_1": llama_cpp("prefill", tokens=tokens),
        },
    )


def _prefill_rows(tokens: int) -> tuple[Row, ...]:
    contest, work = f"prefill-{tokens}", f"prefill, {tokens:,} tokens, bf16, logits of the last row"
    mine, speed = ("ours bf16",), Speed("tokens/s")
    all_rows = ("transformers bf16, all rows",)
    return (
        Row(f"{contest}/transformers", work, "transformers bf16", contest, mine, ("transformers bf16",), speed, 1.2),
        Row(f"{contest}/all-rows", work, "transformers bf16, all rows", contest, mine, all_rows, speed, None),
        Row(f"{contest}/llama.cpp", work, "llama.cpp Q4_1", contest, mine, ("llama.cpp Q4_1",), speed, 4.0),
    )


def _statistics(precision: str) -> Contest:
    return Contest(
        f"statistics-8192-{precision}",
        {
            "ours with statistics": ours("prefill", precision=precision, tokens=8192, statistics=True),
            "own prefill": ours("prefill", precision=precision, tokens=8192),
            "transformers SDPA": transformers("prefill", precision=precision, tokens=8192),
        },
        rounds=2,
    )


def _statistics_rows(precision: str) -> tuple[Row, ...]:
    contest, mine = f"statistics-8192-{precision}", ("ours with statistics",)
    work = f"prefill + all attention statistics, 8,192 tokens, {precision}"
    peers = ("own prefill", "transformers SDPA")
    alone, other, speed = f"prefill, 8,192 tokens, {precision}", "transformers SDPA", Speed("tokens/s")
    return (
        Row(f"{contest}/prefill", alone, other, contest, ("own prefill",), (other,), speed, None),
        Row(f"{contest}/time", work, "the faster of own and transformers prefill", contest, mine, peers, Cost(), 1.4),
        Row(f"{contest}/memory", f"{work}: peak memory", "2.5 GB", contest, mine, (), Peak(25 * GB // 10), 1.0),
    )


CONTESTS: tuple[Contest, ...] = (
    _prefill(128),
    _prefill(1024),
    Contest(
        "decode-1",
        {
            "ours bf16": ours("decode", precision="bf16", streams=1, tokens=128),
            "ours int8": ours("decode", precision="int8", streams=1, tokens=128),
            "llama.cpp Q4_1": llama_cpp("decode", tokens=128),
            "transformers bf16": transformers("decode", precision="bf16", streams=1, tokens=128),
        },
    ),
    Contest(
        "decode-16",
        {
            "ours bf16": ours("decode", precision="bf16", streams=16, tokens=64),
            "transformers bf16": transformers("decode", precision="bf16", streams=16, tokens=64),
        },
    ),
    Contest(
        "decode-numpy",
        {
            "ours NumPy": ours("decode", engine="numpy", precision="fp32", streams=1, tokens=24),
            "transformers fp32": transformers("decode", precision="fp32", streams=1, tokens=24),
        },
    ),
    _statistics("fp32"),
    _statistics("bf16"),
    Contest(
        "statistics-32768",
        {"ours": ours("prefill", precision="bf16", tokens=32768, statistics=True, cold=True)},
        rounds=1,
    ),
    Contest(
        "ablations",
        {
            "ours fp32": ours("ablations", precision="fp32", tokens=HEADS_TOKENS),
            "ours bf16": ours("ablations", precision="bf16", tokens=HEADS_TOKENS),
            "TransformerLens fp32": transformer_lens("ablations", tokens=HEADS_TOKENS, cold=True),
            "float64": ours("exact ablations", tokens=HEADS_TOKENS, every=EVERY_HEAD, cold=True),
        },
        rounds=2,
    ),
    Contest(
        "interventions",
        {
            "ours": ours("interventions", precision="fp32", tokens=1000, count=1000),
            "a fresh run each": ours("fresh interventions", precision="fp32", tokens=1000, count=1000),
        },
        rounds=3,
    ),
    Contest(
        "questions",
        {
            "ours bf16": ours("questions", precision="bf16", tokens=WRITTEN, cold=True),
            "transformers bf16": transformers("questions", precision="bf16", tokens=WRITTEN, sample=15, cold=True),
            "llama.cpp server": llama_server("questions", tokens=WRITTEN, slots=16, sample=150, cold=True),
        },
        rounds=1,
    ),
    Contest(
        "cold",
        {
            "torch engine": ours("cold", command=["-m", "whybox", "next", PROMPT, "--engine", "torch"]),
            "numpy engine": ours("cold", command=["-m", "whybox", "next", PROMPT, "--engine", "numpy"]),
            "import torch": ours("cold", command=["-c", "import torch"]),
        },
    ),
    Contest(
        "giant",
        {engine: ours("giant", engine=engine, cold=True) for engine in ("torch", "numpy")},
        rounds=1,
        giant=True,
    ),
)

_SPEED, _HEADS = Speed("tokens/s"), Speed("heads/s")
_LENS, _ABLATE = (
    ("TransformerLens fp32",),
    f"zero each of 270 heads at all positions, {HEADS_TOKENS} tokens, read at the end",
)
_EFFECTS, _NEAR = "largest error of an effect against float64 ÷ our noise floor", NearTruth("float64", EVERY_HEAD)
_GIANT = "Llama-3-8B-shaped Q4_0 file opened, one next token"
_ASKED = f"30 questions × 5 positions of the right passage × {WRITTEN} tokens"

ROWS: tuple[Row, ...] = (
    *_prefill_rows(128),
    *_prefill_rows(1024),
    Row("decode-1/llama.cpp", "decode, one stream, best of bf16 and int8", "llama.cpp Q4_1", "decode-1",
        ("ours bf16", "ours int8"), ("llama.cpp Q4_1",), _SPEED, 1.0),
    Row("decode-1/transformers", "decode, one stream, best of bf16 and int8", "transformers bf16", "decode-1",
        ("ours bf16", "ours int8"), ("transformers bf16",), _SPEED, None),
    Row("decode-16/transformers", "decode, 16 streams, bf16", "transformers bf16", "decode-16",
        ("ours bf16",), ("transformers bf16",), _SPEED, 3.0),
    Row("decode-numpy", "decode, one stream, NumPy engine, fp32", "transformers fp32", "decode-numpy",
        ("ours NumPy",), ("transformers fp32",), _SPEED, 1.0),
    *_statistics_rows("fp32"),
    *_statistics_rows("bf16"),
    Row("statistics-32768/memory", "prefill + all attention statistics, 32,768 tokens, bf16: peak memory", "4 GB",
        "statistics-32768", ("ours",), (), Peak(4 * GB), 1.0),
    Row("ablations/fp32", f"{_ABLATE}, fp32", "TransformerLens fp32", "ablations",
        ("ours fp32",), _LENS, _HEADS, 2.5),
    Row("ablations/bf16", f"{_ABLATE}, bf16", "TransformerLens fp32", "ablations",
        ("ours bf16",), _LENS, _HEADS, 10.0),
    Row("ablations/top-fp32", "the same ten strongest heads, fp32", "TransformerLens fp32", "ablations",
        ("ours fp32",), _LENS, SameTop(10), 1.0),
    Row("ablations/top-bf16", "the same ten strongest heads, bf16", "TransformerLens fp32", "ablations",
        ("ours bf16",), _LENS, SameTop(10), 1.0),
    Row("ablations/effects-fp32", f"{_EFFECTS}, fp32", "TransformerLens fp32",
        "ablations", ("ours fp32",), _LENS, _NEAR, 1.0),
    Row("ablations/effects-bf16", f"{_EFFECTS}, bf16", "TransformerLens fp32",
        "ablations", ("ours bf16",), _LENS, _NEAR, 1.0),
    Row("interventions", "1,000 edges, segments and heads at the last of 1,000 positions, fp32", "a fresh run each",
        "interventions", ("ours",), ("a fresh run each",), Speed("interventions/s"), 100.0),
    Row("interventions/same", "largest difference of their effects ÷ the noise floor, fp32", "a fresh run each",
        "interventions", ("ours",), ("a fresh run each",), WithinFloor(), 1.0),
    Row("questions/transformers", _ASKED, "transformers bf16, generate per prompt", "questions",
        ("ours bf16",), ("transformers bf16",), _SPEED, 5.0),
    Row("questions/server", _ASKED, "llama.cpp server Q4_1, 16 slots", "questions",
        ("ours bf16",), ("llama.cpp server",), _SPEED, 2.0),
    Row("cold", "cold `whybox next`, less torch's import", "the NumPy engine", "cold",
        ("torch engine",), ("numpy engine",), Start("import torch"), 1.0),
    Row("giant/torch", f"{_GIANT}, torch engine: peak memory", "8 GB", "giant", ("torch",), (), Peak(8 * GB), 1.0),
    Row("giant/numpy", f"{_GIANT}, NumPy engine: peak memory", "8 GB", "giant", ("numpy",), (), Peak(8 * GB), 1.0),
)  # fmt: skip

NOTES = (
    "Every side computes the logits of the last row only, unless the row says otherwise; all get the same ids.",
    "tokens/s of the questions count written tokens, prompts included in the time. transformers answers 15 of the 150 "
    "prompts (3 questions × 5 positions) and is scaled by tokens; the server and whybox answer all 150.",
    "The fresh runs beside the interventions are a sample of 10 of the 1,000, scaled by number.",
    "The 8B file holds random weights of that shape: what it tells is time and memory, not text.",
)
