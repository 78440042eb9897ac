"""Judges the rows of the mutation benchmark whose names begin so: key → state, as JSON on stdout."""

import json
import sys

from bench.mutations.__main__ import rows
from bench.mutations.judge import judged

if __name__ == "__main__":
    chosen = [row for row in rows() if row.key.startswith(tuple(sys.argv[1:]))]
    print(json.dumps({row.key: judged(row).state for row in chosen}))
