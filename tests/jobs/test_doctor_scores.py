"""What the doctor says of scores, against echoes whose true numbers are known."""

import asyncio
import re
from dataclasses import dataclass, field

import pytest

from whybox.jobs.doctor import abilities
from whybox.targets import wire
from whybox.targets.target import AnswerRequest, AnswerScore, Failure, Raw


@dataclass
class Echoing:
    """Scores from an echo in which a word is likely where the same stood four words before."""

    begins: tuple[str, ...]
    language: str = "en"
    failures: list[Failure] = field(default_factory=list)

    async def score(self, request: AnswerRequest) -> AnswerScore | Failure:
        assert isinstance(request.prompt, Raw)
        words = re.findall(r"\s?\S+", request.prompt.text + request.answer)
        numbers = [-0.1 if word in words[max(0, n - 4) : n] else -12.0 for n, word in enumerate(words)]
        given = [*self.begins, *words]
        logprobs = {"tokens": given, "token_logprobs": [None, *[*[-5.0] * len(self.begins), *numbers][1:]]}
        return wire.answer_score({"choices": [{"logprobs": logprobs}]}, request)


@pytest.mark.parametrize(
    ("begins", "state"),
    [((), "yes"), (("<|begin_of_text|>",), "yes"), (("You", " are"), "no")],
    ids=["", "BOS", "other"],
)
def test_a_score_is_that_of_the_text_that_was_sent(begins: tuple[str, ...], state: str) -> None:
    found = asyncio.run(abilities.scores(Echoing(begins)))  # type: ignore[arg-type]
    assert found.state == state
    if state == "yes":
        assert found.numbers["likely"] == pytest.approx(-0.2)
    else:
        assert "not the text that was sent" in str(found.quote)
