"""Explains planted models and prints one line of JSON for each: a process of its own, where no type is checked."""

import json
import sys

from whybox.jobs.why import Plan, WhyOptions, why
from whybox.report.document import to_json
from whybox.testing import ROWS
from whybox.testing.decoys import Decoys

BESIDE = Decoys(heads=1)


def explained(row: str, engine: str, effort: str) -> str:
    planted = ROWS[row](1, BESIDE)
    announced: list[Plan] = []
    fact = planted.fact.text if planted.fact else ""
    options = WhyOptions(effort, limit=4, fact=fact)  # type: ignore[arg-type]
    document = why(planted.model.variant(engine=engine), planted.case, options, announced.append)
    return json.dumps({"announced": announced[0].stages, "document": json.loads(to_json(document))})


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        print(explained(*asked.split(":")), flush=True)
