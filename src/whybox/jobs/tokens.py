"""The tokens of a prompt as documents show them."""

from collections.abc import Iterator, Mapping

from whybox.report import document as d
from whybox.text.prompt import Code, Prompt


def shown_tokens(prompt: Prompt, owner: Mapping[int, int]) -> Iterator[d.PromptToken]:
    """Tokens with what they belong to; owner: place → segment, tokens without one are left out."""
    marked = [w.span for w in prompt.warnings if w.code is Code.CONTROL_TEXT and w.span is not None]
    for place, token in enumerate(prompt.tokens):
        if place in owner:
            yield d.PromptToken(
                id=token.id,
                text=token.text,
                bytes=token.bytes.hex(),
                part=token.part,
                of=token.of,
                span=token.span,
                segment=owner[place],
                control=token.control,
                control_like=any(start < token.span[1] and token.span[0] < end for start, end in marked),
            )
