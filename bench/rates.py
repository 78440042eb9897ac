"""How often each diagnosis of `look` fires on ordinary prompts: measured here, shipped in the package.

    python -m bench.rates [-m MODEL] [--engine torch] [--kept FILE] [--write]

Prints the rates; `--write` puts them in place of those of the same model file. What was judged is kept in a file, line
by line, where `--kept` names one: work that was broken off goes on from there.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import whybox
from whybox.items.generate import Item
from whybox.measure import ordinary
from whybox.measure.ordinary import Judge
from whybox.measure.probe import probe

DATA = Path(__file__).parents[1] / "src" / "whybox" / "measure" / "data" / "base_rates.json"


def main() -> None:
    options = _options()
    model = whybox.open(options.model, engine=options.engine)
    judge = ordinary.judged_by(model, probe(model, draws=10))
    if options.kept:
        judge = kept(judge, options.kept)
    found = ordinary.count(judge, lambda text: len(model.tokenizer.encode(text)), _tell, ordinary.PER_LANGUAGE)
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


def kept(judge: Judge, path: Path) -> Judge:
    """The same, each item judged once: its codes stand in a line of the file as soon as they are known."""
    known: dict[str, list[str] | None] = {}
    if path.exists():
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]  # a line that was broken off is judged again
        path.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            known.update(json.loads(line))

    def once(item: Item) -> set[str] | None:
        name = f"{item.id}/{len(item.instance.parts)}"
        if name not in known:
            codes = judge(item)
            known[name] = None if codes is None else sorted(codes)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({name: known[name]}) + "\n")
        codes_known = known[name]
        return None if codes_known is None else set(codes_known)

    return once


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
    parser.add_argument(
        "--kept", type=Path, metavar="FILE", help="judge no item twice: what was judged is in this file"
    )
    parser.add_argument("--write", action="store_true", help=f"keep the rates in {DATA.name}")
    return parser.parse_args()


def _tell(done: int) -> None:
    if done % 10 == 0:
        print(f"{done} prompts", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
