"""The suites that `whybox init` writes: commented, and running at once."""

import json
import re
from collections.abc import Iterator
from typing import Literal

from whybox.probes import PROBES

Size = Literal["smoke", "full"]
_PLAIN = re.compile(r"[\w./~-]+(?::[\w./:-]+)?")  # what YAML takes for the text that it is
SMOKE = ("order", "edit", "evidence")
SMOKE_ITEMS = 24
SMOKE_SIZES = {"edit": {"trajectories": 6}}
FULL_SIZES = {"knowledge": {"dated": "releases"}}

_HEAD = {
    "smoke": "A first look that runs at once. It has no gates on accuracy: a small model would fail them.",
    "full": "The designed sizes: what the gates demand can be shown, or shown not to hold.",
}
_TOP = """\
# {head}
# whybox run              makes the calls, goes on where it was, writes the reports
# whybox run --dry-run    says what it would do
suite: {size}
version: 1
seed: 0                   # of every draw; another seed draws other items

targets:
  - {model}
  # - {{name: server, model: "openai:my-model", base_url: "http://127.0.0.1:8000/v1", concurrency: 8}}
  #                       # the key comes from OPENAI_API_KEY and from nowhere else

# data:                   # items of your own, in place of generated ones
#   mine: {{file: cases.yaml}}                 # cases in YAML, JSONL or CSV; a probe takes them with `data: mine`

probes:
"""
_RUN = """
run:
  temperature: 0
  {stop}
  floor: {{items: {items}, times: {times}}}   # the same request again and again, before the first probe
  looks: 1                # how often the gates may be read

report:
  strict: false           # true: an inconclusive gate ends the run with 4
"""
_STOP = {
    "smoke": r'stop: ["\n"]            # an answer ends with its line: small models go on and on',
    "full": r'# stop: ["\n"]          # an answer ends with its line; not for answers that may take several',
}


def suite_text(size: Size, model: str = "smollm2") -> str:
    """The file as text. smoke: a few small probes. full: every probe with the gates of its design."""
    named = [name for name in PROBES if size == "full" or name in SMOKE]
    top = _TOP.format(head=_HEAD[size], size=size, model=model if _PLAIN.fullmatch(model) else json.dumps(model))
    floor = {"smoke": (4, 3), "full": (12, 5)}[size]
    parts = [top, *(_probe(name, size) for name in named), *_gates(named, size)]
    return "".join(parts) + _RUN.format(stop=_STOP[size], items=floor[0], times=floor[1])


def _probe(name: str, size: Size) -> str:
    probe = PROBES[name]
    designed = {each: probe.model_fields[each].default for each in ("items", "runs", "max_tokens")}
    small: dict[str, int | str] = {"items": SMOKE_ITEMS, **SMOKE_SIZES.get(name, {})}
    sizes = designed | (small if size == "smoke" else FULL_SIZES.get(name, {}))
    return f"  {name}:  # {probe.ABOUT}\n" + "".join(f"    {each}: {count}\n" for each, count in sizes.items())


def _gates(named: list[str], size: Size) -> Iterator[str]:
    if size == "smoke":
        yield "\n# gates:                  # what must hold, written before the first run\n"
    else:
        yield "\ngates:                    # what must hold, written before the first run\n"
    for name in named:
        for gate in PROBES[name].GATES:
            yield f"{'# ' if size == 'smoke' else ''}  - {{probe: {name}, {gate}}}\n"
