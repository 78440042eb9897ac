"""How often each diagnosis of `look` fires on ordinary prompts: measured here, shipped in the package.

    python -m bench.rates [-m MODEL] [--engine torch] [--write]

Prints the rates; `--write` puts them in place of those of the same model file.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import whybox
from whybox.measure import ordinary
from whybox.measure.probe import probe

DATA = Path(__file__).parents[1] / "src" / "whybox" / "measure" / "data" / "base_rates.json"


def main() -> None:
    options = _options()
    model = whybox.open(options.model, engine=options.engine)
    found = ordinary.count(model, probe(model, draws=10), _tell)
    row = {
        "model": options.model,
        "digest": model.file.digest(),
        "engine": model.engine.name,
        "precision": model.engine.precision,
        "seed": ordinary.SEED,
        "n": found.n,
        "tried": found.tried,
        "fired": found.fired,
    }
    print(json.dumps(row, indent=1))
    if options.write:
        write(row)


def write(row: dict[str, Any], path: Path = DATA) -> None:
    """The row in place of the one of the same file, the others as they are."""
    known = json.loads(path.read_text(encoding="utf-8"))["models"]
    kept = [each for each in known if each["digest"] != row["digest"]]
    path.write_text(json.dumps({"models": [*kept, row]}, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.rates", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("-m", "--model", default="smollm2")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--write", action="store_true", help=f"keep the rates in {DATA.name}")
    return parser.parse_args()


def _tell(done: int) -> None:
    if done % 10 == 0:
        print(f"{done} prompts", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
