"""One safeguard of the verdicts taken away: `python -m tests.bench.without shams|hidden|reference SEED` prints whether
a wrong cause is named, and which bounds break. In a process of its own no shapes are checked.
"""

import json
import sys

from bench import verdicts
from bench.calibration import verdict_cell
from whybox.verdict import tree

SOUND = tree.lacking


def unasked(lack: tree.Lack) -> None:
    """Nobody asks any more whether a change lacks this."""
    tree.lacking = lambda change: tuple(each for each in SOUND(change) if each is not lack)


def judged(safeguard: str, seed: int) -> verdicts.Judged:
    match safeguard:
        case "shams":
            unasked(tree.Lack.SHAMS_FLIP)
            return verdicts.judged("hanging", seed)
        case "hidden":
            unasked(tree.Lack.UNREAD)
            return verdicts.judged("misled", seed, "torch")
        case "reference":
            verdicts.explained = lambda planted, _="": verdicts.why(planted.model, planted.case)
            return verdicts.judged("engine_fault.window-off-by-one", seed)
        case _:
            raise ValueError(f"no safeguard {safeguard!r}")


if __name__ == "__main__":
    case = judged(sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"wrong": case.wrong, "broken": list(verdicts.broken([case], verdict_cell()))}))
