"""What stands at the end of a text that its limit cut: a whole answer, or a piece of a longer one.

Behind a digit more digits may follow (7 of 75, 11: of 11:30, July 1 of July 15), behind a number word more of it,
behind a unit a longer unit (7 m of 7 months). A word counts as whole unless a known answer goes on from it (German,
Germany).
"""

import re
from collections.abc import Sequence

from whybox.items.scoring.folding import Folded, fold_text
from whybox.items.scoring.numerals import CHINESE_RUN, ENGLISH_RUN
from whybox.items.scoring.score import Mention, Score
from whybox.items.scoring.units import UNITS

CUT = Score("error", flags=("truncated",))

# With nothing but these behind it, a number may still go on.
_OPEN = " \t.,:/'’"
_JOINTS = ("-", "_", "/", "'", "’")
_FORMS = [(form, unit.name) for unit in UNITS for form in unit.after]
_PIECES = sorted(
    {form for form, name in _FORMS if any(longer.startswith(form) and other != name for longer, other in _FORMS)},
    key=len,
    reverse=True,
)
_GOES_ON = re.compile(
    rf"[0-9]\Z|(?:{ENGLISH_RUN.pattern}|{CHINESE_RUN.pattern})\Z|[0-9\s-](?:{'|'.join(map(re.escape, _PIECES))})\Z"
)


def whole(
    folded: Folded, mentions: Sequence[Mention], known: Sequence[str], finish_reason: str | None
) -> list[Mention]:
    """The mentions that are complete; all of them unless the length limit ended the text."""
    if finish_reason != "length":
        return list(mentions)
    answers = {answer: fold_text(answer).strip() for answer in known}
    return [
        one
        for one in mentions
        if one.offered
        or not _may_go_on(folded, one, [said for answer, said in answers.items() if answer != one.candidate])
    ]


def ends_in_a_number(text: str, end: int) -> bool:
    """Whether a cut text has a digit before `end` and nothing behind it that ends a number."""
    return text[end - 1 : end].isdigit() and not text[end:].strip(_OPEN)


def _may_go_on(folded: Folded, mention: Mention, answers: Sequence[str]) -> bool:
    tail = folded.original[folded.ends[mention.end - 1] :]  # closing marks (**7**) end a number, too
    if tail.strip(_OPEN + "-_"):
        return False
    if tail.startswith(_JOINTS):
        return True
    said = folded.text[mention.start : mention.end]
    if _GOES_ON.search(said):
        return True
    return not tail and any(answer.startswith(said) and len(answer) > len(said) for answer in answers)
