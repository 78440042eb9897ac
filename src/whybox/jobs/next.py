"""`next`: the next-token distribution of a prompt, what is written on from it, and the walk through the stages."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whybox.engine.sampling import GREEDY, Decoding
from whybox.errors import PromptError
from whybox.jobs.provenance import model_info
from whybox.jobs.walk import SEEN, walk
from whybox.model import Model
from whybox.report.document import Candidate, Generated, Lang, NextDocument, Stage, TokenRow
from whybox.text.prompt import Prompt

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Wanted:
    """top: how many candidates to list. generate: tokens to write on. trace: whether to walk the stages."""

    top: int = 10
    generate: int = 0
    trace: bool = False
    decoding: Decoding = GREEDY
    lang: Lang = "en"


def next_token(model: Model, prompt: Prompt, wanted: Wanted, told: Told = lambda done, planned: None) -> NextDocument:
    """One pass over the prompt (and `generate` steps on from it). told: how many tokens are written, of how many.

    Raises PromptError where more tokens are asked for than the context leaves room for.
    """
    _require_room(model, prompt, wanted.generate)
    start = time.perf_counter()
    stages: tuple[Stage, ...] | None = None
    if wanted.trace:
        trace = model.run(prompt, see=SEEN)
        stages = tuple(walk(prompt, trace, wanted.lang))
        log_probs = trace.log_probs()
    else:
        log_probs = model.run(prompt, tail=1).log_probs()
    return NextDocument(
        schema=NextDocument.identity(),
        lang=wanted.lang,
        model=model_info(model),
        seed=wanted.decoding.seed,
        text=prompt.text,
        tokens=token_rows(prompt),
        next=candidates(model, log_probs, wanted.top),
        generated=_generated(model, prompt, wanted, told),
        stages=stages,
        notes=(*model.spec.notes, *(str(warning) for warning in prompt.warnings)),
        took_s=time.perf_counter() - start,
    )


def token_rows(prompt: Prompt) -> tuple[TokenRow, ...]:
    """The tokens of a prompt as rows of a document."""
    return tuple(
        TokenRow(id=t.id, text=t.text, bytes=t.bytes.hex(), part=t.part, of=t.of, span=t.span) for t in prompt.tokens
    )


def candidates(model: Model, log_probs: np.ndarray, top: int) -> tuple[Candidate, ...]:
    """The `top` most probable next tokens."""
    best = np.argsort(-log_probs, kind="stable")[:top]
    return tuple(
        Candidate(
            id=int(i), text=model.tokenizer.label(int(i)), prob=float(np.exp(log_probs[i])), logprob=float(log_probs[i])
        )
        for i in best
    )


def _require_room(model: Model, prompt: Prompt, count: int) -> None:
    room = max(model.room(len(prompt.ids)), 0)
    if count > room:
        raise PromptError(
            f"{count} tokens were asked for; behind {len(prompt.ids)} the trained context leaves room for {room}",
            "ask for fewer with -n, or pass --allow-long and read the result as beyond training",
        )


def _generated(model: Model, prompt: Prompt, wanted: Wanted, told: Told) -> Generated | None:
    """Ctrl-C ends the writing; what was written by then is kept."""
    if not wanted.generate:
        return None
    ids: list[int] = []
    broken_off = False
    try:
        for chosen, _ in model.steps(prompt, wanted.generate, wanted.decoding):
            ids.append(chosen)
            told(len(ids), wanted.generate)
    except KeyboardInterrupt:
        broken_off = True
    written = model.generated(prompt, ids)
    return Generated(ids=written.ids, text=written.text, broken_off=broken_off)
