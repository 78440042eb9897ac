"""A summary of a run in Markdown, for the page of a pull request or a pipeline: verdict first, one row a probe."""

from collections.abc import Iterator

from whybox.report.document import RunDocument
from whybox.report.run_lines import MARKS, estimate_of, faults, mechanisms, why
from whybox.report.run_words import say
from whybox.report.visible import one_line, shortened

MOST_ROWS = 200
MOST_TEXT = 300
_MEANT = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~!"} | {"&": "&amp;", "@": "&#64;"})


def markdown(document: RunDocument) -> str:
    """The document as a summary. Foreign text is escaped: it makes no link, no mention, no markup."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: RunDocument) -> Iterator[str]:
    lang = document.lang
    verdict = say(f"state.{document.verdict or 'none'}", lang)
    yield f"## whybox · {_text(document.suite)} · {MARKS[document.verdict]} {verdict}"
    yield ""
    yield say("run.counts", lang, **document.calls.model_dump())
    yield ""
    told = [f"- **{_text(name)}** {_text(said)}" for name, said in faults(document, lang)]
    yield from [*told, ""] if told else []
    yield say("run.table", lang)
    yield "|---|---|---|---|"
    for probe in document.probes[:MOST_ROWS]:
        state = say(f"state.{probe.verdict or 'none'}", lang)
        mark = f"{MARKS[probe.verdict]} {state}"
        cells = _text(probe.probe), _text(probe.target), mark, _text(estimate_of(probe, lang))
        yield f"| {' | '.join(cells)} |"
    gates = [gate for gate in document.gates if gate.verdict != "pass"]
    if gates:
        yield ""
    for gate in gates[:MOST_ROWS]:
        name = f"**{_text(gate.probe)}** · {_text(gate.target)} · {_text(gate.gate)}"
        yield f"- {MARKS[gate.verdict]} {name}: {_text(why(gate, lang))}"
    found = [(probe, *each) for probe in document.probes for each in mechanisms(probe, lang)]
    if found:
        yield ""
    for probe, item, said in found[:MOST_ROWS]:
        yield f"- **{_text(probe.probe)}** · {_text(probe.target)} · {_text(item)}: {_text(said)}"
    if (left := max(0, len(document.probes) - MOST_ROWS) + max(0, len(gates) - MOST_ROWS)) > 0:
        yield ""
        yield say("run.left_out", lang, n=left)


def _text(text: str) -> str:
    return shortened(one_line(text), MOST_TEXT).translate(_MEANT)
