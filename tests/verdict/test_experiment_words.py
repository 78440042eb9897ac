"""Names of experiments in the reader's language."""

import re
from pathlib import Path

import pytest

from tests.cause.studies import opened
from whybox.cause.effort import full_stages, quick_stages
from whybox.cause.stages import stages
from whybox.compare.switches import REFERENCE
from whybox.jobs.why import FIGURES, WhyOptions, why
from whybox.report.words import WORDS
from whybox.testing import ROWS
from whybox.testing.decoys import NONE
from whybox.verdict.experiment_words import named, segment_named

KEPT = re.compile(r"doc\d|policy|token|MLP|LD|query|key|kernel|log P|head_out|fp32|KV")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("boost decision → doc2 + doc3", "增强注意力：决定位置 → doc2 + doc3"),
        ("cut decision → tokens 3 … 9", "切断注意力：决定位置 → token 3 … 9"),
        ("order doc2 doc1", "顺序 doc2 doc1"),
        ("order doc2 doc1 and MLP 3 set to zero, evidence hidden", "顺序 doc2 doc1，并把MLP 3 置零，且隐藏证据"),
        ("head 1.2 + MLP 3 set to zero", "头 1.2 + MLP 3 置零"),
        ("head 1.2 patched from the evidence alone", "头 1.2 换成只有证据时的值"),
        ("prefix 'Answer: ' forced", "强制前缀 'Answer: '"),
        ("behind the prefix “a\nb”", "在前缀“a\nb”之后"),
        ("each head set to zero: 270 runs, most by head 4.1", "逐个把头置零：270 次运行，最大的是 头 4.1"),
        (
            "several of them set to zero together: 6 runs, most by MLP 29 + head 23.4",
            "其中几个一起置零：6 次运行，最大的是 MLP 29 + 头 23.4",
        ),
        ("no cache and batch 1", "不用缓存 与 批大小 1"),
        ("0 of 21 shams flip", "21 个对照中 0 个翻转"),
        ("flips 9 of 9 failing variants", "9 个出错变体中 9 个翻转"),
        ("limit of 128 tokens", "上限 128 个 token"),
    ],
)
def test_known_names(english: str, chinese: str) -> None:
    assert named(english, "zh") == chinese
    assert named(english, "en") == english


def test_a_name_of_the_users_own_stays_as_it_is() -> None:
    assert named("scores 0…29 q=56 k=1,2 cut", "zh") == "scores 0…29 q=56 k=1,2 cut"
    assert segment_named("template", "zh") == "模板"
    assert segment_named("not typed 2", "zh") == "非用户输入 2"
    assert segment_named("template", "en") == "template"


@pytest.mark.parametrize("folder", ["cause", "compare", "jobs"])
def test_every_name_that_the_code_gives_is_in_the_catalogue(folder: str) -> None:
    """Literal names of trials and switches, read from the source: one that is added and not translated is seen here."""
    source = Path(__file__).parents[2] / "src" / "whybox" / folder
    given = [
        name
        for file in source.rglob("*.py")
        for name in re.findall(r'(?:Trial|Switch|prompt_trial\(model, setting,) ?\(?"([^"{}]+)"', file.read_text())
    ]
    assert [name for name in given if named(name, "zh") == name and not KEPT.fullmatch(name)] == []


def test_every_stage_of_a_plan_has_a_name_in_both_languages() -> None:
    study = opened(ROWS["not_looking"](1))
    plan = [*stages(study), *quick_stages(study), *full_stages(study)]
    names = [*(stage.name for stage in plan), REFERENCE, FIGURES]
    assert [name for name in names if f"stage.{name}" not in WORDS] == []


def test_what_a_report_of_a_wrong_answer_says_by_itself_is_chinese() -> None:
    """Notes, experiments, flags, and what a run changed; names of sites, ids and the user's own words stay."""
    planted = ROWS["not_looking"](1, NONE)
    found = why(planted.model, planted.case, WhyOptions(limit=4, lang="zh"))
    said = [
        *found.provenance.notes,
        *(row.what for row in found.tried),
        *(flag for row in found.tried for flag in row.flags),
    ]
    said += [found.metric.definition, found.verdict.causes[0].undone_by or "", *(row.kind for row in found.runs)]
    assert [one for one in said if one and named(one, "zh") == one] == []
    assert not re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", found.verdict.because)
