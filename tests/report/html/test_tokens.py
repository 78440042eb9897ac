from typing import Any

from tests.report import fixtures
from whybox.report.html.tokens import MOST_CHIPS, runs_of


def long_prompt(length: int) -> dict[str, Any]:
    text = "abcd" * length
    tokens = [
        {"id": 7, "text": "abcd", "bytes": "61626364", "span": [4 * i, 4 * i + 4], "segment": int(i >= 10)}
        for i in range(length)
    ]
    segments = [{"name": n, "kind": "part", "letter": n.upper()} for n in ("a", "b")]
    return {"text": text, "tokens": tokens, "segments": segments}


def test_short_prompts_are_drawn_whole() -> None:
    runs, unseen = runs_of(fixtures.why().prompt)
    assert unseen == 0
    assert sum(len(run.head) for run in runs) == 57
    assert all(run.gap is None for run in runs)
    assert [run.info.name for run in runs][:3] == ["template", "policy", "template"]


def test_long_prompts_are_cut_in_the_middle_and_say_so() -> None:
    runs, _ = runs_of(fixtures.why(prompt=long_prompt(5000), segments=[]).prompt)
    drawn = sum(len(run.head) + len(run.tail) for run in runs)
    left_out = sum(run.gap.tokens for run in runs if run.gap)
    assert drawn <= MOST_CHIPS + 4
    assert drawn + left_out == 5000
    gap = runs[1].gap
    assert gap is not None
    assert gap.text.startswith("abcdabcd")


def test_cut_characters_and_control_tokens_are_marked() -> None:
    prompt = long_prompt(4)
    prompt["tokens"][1] |= {"part": 2, "of": 3}
    prompt["tokens"][2] |= {"control": True}
    prompt["tokens"][3] |= {"control_like": True}
    chips = [chip for run in runs_of(fixtures.why(prompt=prompt, segments=[]).prompt)[0] for chip in run.head]
    assert [chip.classes for chip in chips] == ["chip", "chip cut rest", "chip control", "chip control-like"]
    assert [chip.part for chip in chips] == ["", "2/3", "", ""]
    assert chips[1].title == "#1 · id 7 · 61626364"
