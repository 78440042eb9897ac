"""A passage placed at a depth of its context, measured in the ids really sent, never only asked for.

Depth d = (context ids before the part) / (context ids − ids of the part). Parts are moved as text, the prompt is
encoded once, and requested and realised depth are both kept.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.errors import PromptError, UsageError
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.generate.vocabulary import Language

# A full stop before a letter or digit (7.5, e.g.) ends nothing; quotes and brackets behind an end belong to it.
_STOPS = ".!?．"
_OTHER_ENDS = "。！？；｡…؟۔।॥։።។။།\n\r\u2028\u2029"
_PLAIN = f"[^{_STOPS}{_OTHER_ENDS}]*"
_SENTENCE = re.compile(
    f"{_PLAIN}(?:[{_STOPS}](?=[A-Za-z0-9０-９]){_PLAIN})*(?:[{_STOPS}{_OTHER_ENDS}]+[\"'”’」)\\]]*[ \\t]*|$)"
)
# Thai has no mark behind a sentence: a blank stands between two.
_THAI = re.compile(r"(?<=[\u0e00-\u0e7f][ \t])(?=[^ \t])")
MOST_TOLERANCE = 0.25
"""Of a context: where one sentence is more, a depth between its ends can mean nothing."""
MOST_REDRAWS = 20
Span = tuple[int, int]


@dataclass(frozen=True)
class Encoded:
    """The ids of a whole prompt, and which of them belong to each named part."""

    ids: tuple[int, ...]
    spans: Mapping[str, Span]


@dataclass(frozen=True)
class Placement:
    """Texts around the passage, and the depth that was asked for beside the one that came out (0 … 1)."""

    before: str
    passage: str
    after: str
    requested: float
    realised: float
    tolerance: float


# Render the three texts as the parts `before`, `passage`, `after` of the real prompt and encode it once.
Encode = Callable[[str, str, str], Encoded]


def sentences(text: str) -> list[str]:
    """Text cut behind the sentence ends of many scripts, and line ends. Joined, the pieces are the text."""
    ended = (match[0] for match in _SENTENCE.finditer(text) if match[0])
    return [piece for each in ended for piece in _THAI.split(each)]


def realised_depth(encoded: Encoded) -> float:
    """Where the passage stands in the context made of before, passage and after; 0 for a context without other ids."""
    before, after = (_length(encoded.spans.get(name, (0, 0))) for name in ("before", "after"))
    return before / (before + after) if before + after else 0.0


def _length(span: Span) -> int:
    return span[1] - span[0]


def place(
    passage: str, depth: float, fillers: int, language: Language, generator: np.random.Generator, encode: Encode
) -> Placement:
    """A context of `fillers` neutral sentences with the passage between two of them, at most one sentence from `depth`.

    PromptError when 20 drawings of fillers all miss, or the passage's ids stand in the prompt more than once.
    """
    last = "no drawing was tried"
    for _ in range(MOST_REDRAWS):
        drawn = [sentence for sentence, _ in zip(draw_fillers(generator, language), range(fillers), strict=False)]
        placement, encoded = _best_of(drawn, passage, depth, language, encode)
        if abs(placement.realised - depth) > placement.tolerance:
            last = f"realised {placement.realised:.3f}, tolerance {placement.tolerance:.3f}"
        elif not occurs_once(encoded):
            last = "the ids of the passage occur more than once"
        else:
            return placement
    raise PromptError(
        f"placement: expected depth {depth:.3f} within one sentence, found {last}", "Use more filler sentences."
    )


def place_in_text(text: str, passage: str, depth: float, encode: Encode) -> Placement:
    """The passage between two sentences of a given text, with nothing to redraw. PromptError outside the tolerance,
    UsageError for a text of too few sentences to have such a depth.
    """
    pieces = sentences(text)
    placement, encoded = min(
        (
            _measured("".join(pieces[:cut]), passage, "".join(pieces[cut:]), depth, encode)
            for cut in _near(pieces, depth)
        ),
        key=lambda found: abs(found[0].realised - depth),
    )
    if 0 < depth < 1 and placement.tolerance > MOST_TOLERANCE:
        raise UsageError(
            f"placement: depth {depth:.3f} in a text whose longest sentence is {placement.tolerance:.0%} of it",
            f"give a text with sentences of at most {MOST_TOLERANCE:.0%} each, or ask for depth 0 or 1",
        )
    if abs(placement.realised - depth) > placement.tolerance or not occurs_once(encoded):
        raise PromptError(
            f"placement: expected depth {depth:.3f} within {placement.tolerance:.3f}, found {placement.realised:.3f}",
            "Give a text with more sentences.",
        )
    return placement


def _best_of(
    drawn: Sequence[str], passage: str, depth: float, language: Language, encode: Encode
) -> tuple[Placement, Encoded]:
    glue = joiner(language)
    return min(
        (
            _measured(glue.join(drawn[:cut]), passage, glue.join(drawn[cut:]), depth, encode)
            for cut in _near(drawn, depth)
        ),
        key=lambda found: abs(found[0].realised - depth),
    )


def _near(pieces: Sequence[str], depth: float) -> Iterator[int]:
    """The cuts whose share of characters is nearest to the depth; ids decide among them."""
    ends = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
    middle = int(np.argmin(np.abs(ends - depth * ends[-1])))
    yield from range(max(0, middle - 1), min(len(pieces), middle + 1) + 1)


def _measured(before: str, passage: str, after: str, depth: float, encode: Encode) -> tuple[Placement, Encoded]:
    encoded = encode(before, passage, after)
    return Placement(before, passage, after, depth, realised_depth(encoded), _longest_share(before, after)), encoded


def _longest_share(before: str, after: str) -> float:
    """The longest sentence as a share of the context: the step that placement cannot be finer than."""
    pieces = sentences(before) + sentences(after)
    total = sum(map(len, pieces))
    return max(map(len, pieces), default=0) / total if total else 0.0


# For a target that reveals no ids: the depth is counted in characters, and every gate on depth is skipped.
CHARACTERS_ONLY = "depth in characters, not verified"


def encode_characters(before: str, passage: str, after: str) -> Encoded:
    """Stand-in for `Encode` where no ids are to be had; results carry the note `CHARACTERS_ONLY`."""
    middle, end = len(before), len(before) + len(passage)
    spans = {"before": (0, middle), "passage": (middle, end), "after": (end, end + len(after))}
    return Encoded(tuple(map(ord, before + passage + after)), spans)


def occurs_once(encoded: Encoded) -> bool:
    """Whether the ids of the passage stand in the prompt exactly once."""
    start, end = encoded.spans["passage"]
    wanted, ids = encoded.ids[start:end], encoded.ids
    return sum(ids[i : i + len(wanted)] == wanted for i in range(len(ids) - len(wanted) + 1)) == 1
