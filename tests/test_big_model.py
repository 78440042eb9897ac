"""The maker of the big random model, at a small size: a file that opens, streams and answers."""

from pathlib import Path

import numpy as np

from bench.big_model import Shape, write_big
from whybox.model import open_model

SMALL = Shape(width=64, layers=2, heads=4, kv_heads=2, mlp=96, vocab=331, context=64)


def test_a_small_one_opens_and_answers(tmp_path: Path) -> None:
    path = str(write_big(tmp_path / "small.gguf", SMALL))
    streamed, held = open_model(path, weights="streamed"), open_model(path, weights="held")
    prompt = streamed.prompt(" the")
    assert [token.text for token in prompt.tokens] == [" ", "th", "e"]
    mine, theirs = streamed.run(prompt), held.run(prompt)
    assert np.array_equal(mine.logits, theirs.logits)
    assert 0.1 < float(mine.logits.std()) < 30
    assert [share.type for share in streamed.file.types()] == ["Q4_0", "F32"]
