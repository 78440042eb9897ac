"""L9: the small decoder becomes Llama; each step left out is named."""

import pytest

from tests.learn.course.chapters.decoders import changed, starter
from tests.learn.course.driving import chapter, computations, failed, run, sources_exist, without_model
from tests.real import real
from whybox.learn.course.chapters.l09_llama import REAL, SMALL
from whybox.learn.ground import Ground

NAME = "l09"
COMPUTED = computations(NAME)
LLAMA = (
    changed(
        starter(NAME, "llama"),
        ("def rms_norm(x, gain, eps=1e-6):", "def rms_norm(x, gain, eps):"),
        ("n, d = len(x), x.shape[1] // heads", 'n, d = len(x), len(block["query"]) // heads'),
        (".reshape(n, heads, d).transpose(1, 0, 2) for", ".reshape(n, -1, d).transpose(1, 0, 2) for"),
        (
            "    scores = query @ key",
            """    query, key = turned(query, model["base"]), turned(key, model["base"])
    key, value = (np.repeat(each, heads // model["kv_heads"], axis=0) for each in (key, value))
    scores = query @ key""",
        ),
        ("    x = x + sinusoid(*x.shape)\n", ""),
        ('rms_norm(x, block["attention_gain"])', 'rms_norm(x, block["attention_gain"], model["eps"])'),
        ('rms_norm(x, block["mlp_gain"])', 'rms_norm(x, block["mlp_gain"], model["eps"])'),
        (
            'rms_norm(x, model["final_gain"]) @ model["embedding"].T',
            'rms_norm(x, model["final_gain"], model["eps"]) @ model.get("head", model["embedding"]).T',
        ),
    )
    + """

def turned(x, base):
    n, d = x.shape[-2:]
    angle = (np.arange(n)[:, None] * base ** (-np.arange(0, d, 2) / d)).astype(x.dtype)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
"""
)
TURNING = 'turned(query, model["base"]), turned(key, model["base"])'
ENTERING = '    x = model["embedding"][ids]\n'
SINUSOID = ENTERING + "    x = x + sinusoid(*x.shape)\n"
HALVES = "x[..., : d // 2], x[..., d // 2 :]"
JOINED = "np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)"
NEIGHBOURS = "np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)"
REPEATED = 'np.repeat(each, heads // model["kv_heads"], axis=0)'
WRONG = [
    (changed(LLAMA, ("axis=-1, keepdims=True) + eps)", "axis=-1, keepdims=True) + 1e-6)")), "ε is still"),
    (changed(LLAMA, (ENTERING, SINUSOID)), "sinusoid is still added"),
    (changed(LLAMA, (ENTERING, SINUSOID), (TURNING, "query, key")), "not turned"),
    (changed(LLAMA, (TURNING, "query, key")), "no position at all"),
    (changed(LLAMA, (TURNING, "turned(query, 1e4), turned(key, 1e4)")), "base is 10,000"),
    (changed(LLAMA, (REPEATED, 'np.tile(each, (heads // model["kv_heads"], 1, 1))')), "h % g"),
    (changed(LLAMA, ('model.get("head", model["embedding"]).T', 'model["embedding"].T')), "used as head"),
    (changed(LLAMA, (HALVES, "x[..., ::2], x[..., 1::2]"), (JOINED, NEIGHBOURS)), "neighbours"),
    (starter(NAME, "llama"), "the code stopped"),
]


def test_right_code_passes_on_small_llamas() -> None:
    assert failed(run(SMALL, LLAMA)) == ""
    assert failed(run(SMALL, LLAMA, seed=1)) == ""


@pytest.mark.parametrize(("code", "told"), WRONG)
def test_a_step_left_out_is_named(code: str, told: str) -> None:
    assert told in failed(run(SMALL, code))


@pytest.mark.model
def test_real_weights_give_the_real_numbers() -> None:
    """The exercise's own task: text A and Paris, by the learner's code."""
    assert COMPUTED.tasks["llama"] is REAL
    remarks = run(REAL, LLAMA, ground=Ground(lambda: real("smollm2")))
    assert failed(remarks) == ""
    assert len(remarks) >= 2


def test_answers() -> None:
    ground = without_model()
    assert COMPUTED.answers["always"](ground) == ("never",)
    sites = next(q for q in chapter(NAME).exercises if q.id == "sites")
    assert sites.kind == "match"
    right = dict(zip((item.id for item in sites.items), COMPUTED.answers["sites"](ground), strict=True))
    assert (right["line_cache"], right["line_softmax"], right["line_out"]) == ("key_pos", "pattern", "attn_out")
    sources_exist(chapter(NAME))


def test_twelve_stations() -> None:
    recital = chapter(NAME).recite
    assert recital.ordered
    assert len(recital.stations) == 12
