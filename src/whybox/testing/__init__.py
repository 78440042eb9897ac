"""Models whose failure is known by construction, and engines with one known fault: ground truth for test suites.

planted = ROWS["not_looking"](seed=0, decoys=CROWD)      planted.model, planted.case, planted.expected
broken = FAULTS["kv-heads-tiled"].of(model)              the same file, run with a fault
"""

from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.faults import FAULTS, Fault
from whybox.testing.planted import Expected, Planted
from whybox.testing.rows import ROWS

__all__ = ["CROWD", "FAULTS", "NONE", "ROWS", "Decoys", "Expected", "Fault", "Planted"]
