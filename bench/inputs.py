"""What all sides share, made in a process of its own and kept in the cache: peers' weights, ids, the 8B file.

    python -m bench.inputs FOLDER [--giant]

Writes FOLDER/inputs.json.
"""

import argparse
import json
from pathlib import Path

from bench import export, giant, workload
from whybox import library
from whybox.model import Model, open_model

TEXT_TOKENS = 33000


def prepare(folder: Path, with_giant: bool) -> Path:
    """The file that every worker reads: model (GGUF), folder (the same weights for transformers), text, questions."""
    model = open_model("smollm2", engine="numpy")
    path = library.locate("smollm2")
    twin = folder / "smollm2-fp32"
    if not twin.exists():
        export.save(model, twin)
    big = folder / "random-8b-q4_0.gguf"
    if with_giant and not big.exists():
        giant.write(big)
    found = {"model": str(path), "folder": str(twin), "giant": str(big), **ids(model)}
    target = folder / "inputs.json"
    target.write_text(json.dumps(found))
    return target


def ids(model: Model) -> dict[str, object]:
    """The long text and the questions, as ids."""
    text = model.prompt(workload.market(2000)).ids
    if len(text) < TEXT_TOKENS:
        raise ValueError(f"the long text has {len(text)} tokens, {TEXT_TOKENS} are needed")
    return {
        "text": text[:TEXT_TOKENS],
        "questions": [model.prompt(question).ids for question in workload.questions()],
    }


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--giant", action="store_true")
    options = asked.parse_args()
    prepare(options.folder, options.giant)
