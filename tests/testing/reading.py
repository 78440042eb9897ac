"""How the tests of planted models read them: LD behind the prompt, heads removed, edges by name."""

from collections.abc import Sequence

import numpy as np
import pytest

from whybox.engine.edit import Edit, zero
from whybox.items import CaseInstance
from whybox.model import Model
from whybox.testing.circuit import Place
from whybox.testing.planted import Planted
from whybox.text.prompt import Prompt


def near(value: float) -> object:
    """LD within .02 at a scale of 20, in proportion beyond."""
    return pytest.approx(value, abs=0.02 * max(1.0, abs(value) / 20))


def ld(model: Model, case: CaseInstance, edits: Sequence[Edit] = (), forced: str = "") -> float:
    """z[right] − z[wrong] behind the prompt (and a forced prefix of the answer)."""
    prompt = model.prompt(case)
    ids = model.join(prompt, forced)[0] if forced else prompt.ids
    logits = model.engine.run(ids, (), edits, tail=1).logits[-1]
    right, wrong = (model.tokenizer.encode(answer)[0] for answer in (case.right, case.wrong or ""))
    return float(logits[right] - logits[wrong])


def without(*places: Place) -> list[Edit]:
    """Heads that write nothing."""
    return [zero("head_out", layer, h=head) for layer, head in places]


def last(prompt: Prompt) -> int:
    return len(prompt) - 1


def place_of(model: Model, prompt: Prompt, word: str) -> int:
    """Position of a word that stands once in the prompt's documents."""
    (found,) = [i for i in range(9) if prompt.tokens[i].text.strip() == word]
    return found


def mass(planted: Planted, name: str, word: str) -> float:
    """What the last row of a named head gives to a word of the documents."""
    model, prompt = planted.model, planted.model.prompt(planted.instance)
    layer, head = planted.heads[name]
    pattern: np.ndarray = model.run(prompt, see=[("pattern", layer)])["pattern", layer]
    return float(pattern[head, -1, place_of(model, prompt, word)])


def answer(planted: Planted, edits: Sequence[Edit] = (), case: CaseInstance | None = None) -> str:
    """What is written, scored by the case's own scorer."""
    chosen = planted.instance if case is None else case
    written = planted.model.generate(chosen, 8, edits=edits)
    return chosen.scorer().score(written.text, "stop" if written.stopped else "length").outcome
