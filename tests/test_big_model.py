"""The maker of the big random model, at a small size: a file that opens, streams and answers."""

from pathlib import Path

import numpy as np

from bench.giant import Shape, write
from whybox.model import open_model

SMALL = Shape(layers=2, width=64, hidden=96, heads=4, kv_heads=2, vocab=331, context=64)


def test_a_small_one_opens_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    write(path, SMALL)
    streamed, held = open_model(str(path), weights="streamed"), open_model(str(path), weights="held")
    prompt = streamed.prompt("the")
    assert b"".join(token.bytes for token in prompt.tokens).endswith(b"the")  # behind a token that begins a text
    mine, theirs = streamed.run(prompt), held.run(prompt)
    assert np.array_equal(mine.logits, theirs.logits)
    assert 0.1 < float(mine.logits.std()) < 30
    assert [share.type for share in streamed.file.types()] == ["Q4_0", "F32"]
