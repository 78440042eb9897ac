"""A prompt and an answer as one text: no token boundary is forced where the model would not have put one."""

from itertools import takewhile

from whybox.errors import PromptError
from whybox.text.prompt import Prompt
from whybox.text.tokenizer import Tokenizer


def join(tokenizer: Tokenizer, prompt: Prompt, answer: str) -> tuple[tuple[int, ...], int]:
    """Ids of prompt + answer encoded as one text, and the index of the first id that is not the prompt's own.

    Only the run behind the prompt's last control token is encoded anew; ids before it stay as they are. Where the joint
    encoding changes the prompt's last ids, the index steps back to the last id that both agree on.
    Raises PromptError where prompt and answer together are not text.
    """
    if not isinstance(answer, str):
        raise PromptError(f"expected the text of an answer, found {answer!r}")
    try:
        text = (prompt.data + answer.encode()).decode()
    except UnicodeError as error:
        raise PromptError(f"the prompt and {answer!r} together are not UTF-8 text: {error}") from None
    controls = [index for index, token in enumerate(prompt.tokens) if token.control]
    trusted = [prompt.tokens[index].span for index in controls]
    pieces = tokenizer.pieces(text, [span for span in trusted if span[0] < span[1]])
    kept = controls[-1] + 1 if controls else 0
    run_start = prompt.tokens[controls[-1]].place[1] if controls else 0
    ids = (*prompt.ids[:kept], *(piece.id for piece in pieces if piece.start >= run_start))
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ids, prompt.ids, strict=False)))
    return ids, shared
