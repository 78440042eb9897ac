"""What chapter 14 tells of longer runs: measured once, kept call by call, so that every interval follows from it.

Both on smollm2, fp32, greedy, seed 0, with the items that the probes generate: `evidence` with 60 items and five
passages (420 calls, two minutes with torch), `memory` with 30 items, the rule in the system message, and without it.
"""

import numpy as np
from jaxtyping import Int

PLACES = """
11001 10101 00001 00001 10001 10001 11101 00000 10001 00000 00001 00000 00000 00000 00111
10101 00001 10001 00011 11001 10111 10001 10111 00000 10000 00001 11001 10001 10001 00000
00000 01101 10001 00000 01001 00011 00000 10000 01100 00000 11001 10001 00000 00000 00000
11111 10001 00000 11000 10100 10011 10001 00010 10001 00000 10000 10001 11000 10011 10001
"""
"""Each of 60 questions: 1 where it was answered rightly with the right passage at place 1 … 5."""

TURNS = (1, 5, 10, 20)
TOKENS = (70, 166, 285, 522)  # of the first dialogue without the rule, at each of these turns
WITH_RULE, WITHOUT_RULE = (1, 30, 30, 30), (0, 30, 30, 30)
"""How many of 30 answers kept the rule."""
DIALOGUES = 30


def places() -> Int[np.ndarray, "item place"]:
    """0 and 1."""
    return np.array([[int(mark) for mark in row] for row in PLACES.split()])
