"""JUnit XML for CI: a suite is a probe on a target, a case is a gate. Failure, error and skipped are told apart.

An inconclusive gate is skipped with its reason: it neither passed nor failed. A probe without gates is one case that
reports its estimate. Follows the schema that Jenkins, GitLab and GitHub actions read (tests/report/junit.xsd).
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from whybox.report.document import GateRow, ProbeRow, RunDocument
from whybox.report.numbers import exact
from whybox.report.run_lines import estimate_of, examined, mechanisms, why
from whybox.report.visible import calm


def junit(document: RunDocument) -> str:
    """The document as JUnit XML. Text of targets and files appears literally; what XML cannot hold is shown as \\u…."""
    suites = [_suite(document, probe) for probe in document.probes]
    root = ET.Element("testsuites", {"name": _text(document.suite)} | _totals(suites))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(document: RunDocument, probe: ProbeRow) -> ET.Element:
    name = f"{probe.probe} · {probe.target}"
    gates = [gate for gate in document.gates if (gate.probe, gate.target) == (probe.probe, probe.target)]
    seconds = probe.seconds / max(1, len(gates))
    cases = [_case(document, name, probe, gate, seconds) for gate in gates] or [_ungated(document, name, probe)]
    suite = ET.Element("testsuite", {"name": _text(name)})
    suite.attrib |= _counts(cases) | {"time": f"{probe.seconds:.3f}"}
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(document, probe):
        ET.SubElement(properties, "property", {"name": key, "value": _text(value)})
    suite.extend(cases)
    return suite


def _case(document: RunDocument, suite: str, probe: ProbeRow, gate: GateRow, seconds: float) -> ET.Element:
    case = ET.Element("testcase", {"name": _text(gate.gate), "classname": _text(suite), "time": f"{seconds:.3f}"})
    message = _text(why(gate, document.lang))
    match gate.verdict:
        case "fail":
            found = ET.SubElement(case, "failure", {"message": message, "type": gate.because})
            found.text = _text(f"{gate.says}\n{estimate_of(probe, document.lang)}")
        case "error":
            ET.SubElement(case, "error", {"message": message, "type": gate.because})
        case "skipped" | "inconclusive":
            ET.SubElement(case, "skipped", {"message": message})
        case "pass":
            pass
    return case


def _ungated(document: RunDocument, suite: str, probe: ProbeRow) -> ET.Element:
    """A probe without gates: measured, with nothing that it must hold."""
    case = ET.Element("testcase", {"name": "measured", "classname": _text(suite), "time": f"{probe.seconds:.3f}"})
    if probe.verdict == "skipped":
        ET.SubElement(case, "skipped", {"message": _text(probe.not_measured)})
    elif probe.verdict == "error":
        ET.SubElement(case, "error", {"message": _text(probe.not_measured), "type": "broken-design"})
    else:
        ET.SubElement(case, "system-out").text = _text(estimate_of(probe, document.lang))
    return case


def _properties(document: RunDocument, probe: ProbeRow) -> Iterator[tuple[str, str]]:
    yield "probe", probe.kind
    yield "target", probe.target
    yield "seed", str(document.seed)
    yield "calls", str(probe.calls)
    yield "errors", str(probe.errors)
    for target in document.targets:
        if target.name == probe.target:
            yield from ((f"doctor.{check.check}", examined(check, document.lang)) for check in target.checks)
    for item, said in mechanisms(probe, document.lang):
        yield f"why.{_text(item)}", said
    for row in probe.estimates:
        low, high = row.interval or (None, None)
        numbers = {"": row.estimate, ".low": low, ".high": high, ".floor": row.floor, ".null_95": row.null_95}
        numbers |= {".p": row.p, ".p_adjusted": row.p_adjusted, ".n": row.n}
        for key, value in numbers.items():
            if value is not None:
                yield f"{row.statistic}{key}", exact(value)


def _counts(cases: Sequence[ET.Element]) -> dict[str, str]:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counted = {name: sum(case.find(tag) is not None for case in cases) for name, tag in kinds.items()}
    return {name: str(count) for name, count in ({"tests": len(cases)} | counted).items()}


def _totals(suites: Sequence[ET.Element]) -> dict[str, str]:
    names = ("tests", "failures", "errors", "skipped")
    totals = {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in names}
    return totals | {"time": f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}"}


def _text(text: str) -> str:
    """Text that XML may hold: control characters and lone surrogates are shown, not sent."""
    return calm(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
