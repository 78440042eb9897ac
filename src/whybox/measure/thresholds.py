"""From which value on a head has a class, and a pattern is said: every constant of looking, in one place.

They sort what is seen. None of them says that something is wrong.
"""

from types import MappingProxyType

# Classes of heads, on judged queries.
SINK = 0.3
PREVIOUS = 0.4
DIAGONAL = 0.4
LOCAL = 0.6  # within 4 tokens
INDUCTION = 0.4
INDUCTION_OVER_CONTROL = 10.0
DUPLICATE = 0.4
ANCHOR = 0.3
ANCHOR_OVER_TOKENS = 2.0
STRIPE = 0.8
FLAT = 0.85  # of ln(visible keys)
SECONDARY_SINK = 0.3
SECONDARY_SINK_ROWS = 8  # that see the key, at least

SHORT_TEXT = 64  # below this many tokens classes are printed with "short text"

# Diagnoses.
COMMON = 0.1  # a code that fires on more of the ordinary prompts only describes
SYSTEM_LIFT = 0.5
SYSTEM_HEADS = 0.9
SELF_ROW = 0.4
SELF_ROW_HEADS = 0.5
FLAT_HEADS = 0.5
EARLY = 1 / 3  # of the layers; the others are middle and late
RECENT_ROWS = 4
RECENT = 0.6  # within 16 tokens
UNSEEN = 1.0
DOCUMENTS_APART = 0.2
EXAMPLE = 0.3
INERTIA = 0.6
BRIGHT = 0.3
OPPOSITE = -0.5  # cosine of two writes
TEMPLATE = 0.2
ONE_HOT = 0.05
ROW_SUM = MappingProxyType({"fp64": 1e-5, "fp32": 1e-5, "fp16": 2**-10})  # by the precision of the run
ROW_SUM_ROUNDED = 2**-8  # where weights of attention are rounded to bfloat16
