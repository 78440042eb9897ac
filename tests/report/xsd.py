"""As much of XML Schema as `junit.xsd` uses: sequences with bounds, references, typed attributes, mixed content."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

XS = "{http://www.w3.org/2001/XMLSchema}"


def faults(document: str, schema: Path) -> list[str]:
    """What the document has that the schema forbids, or lacks that it demands."""
    elements = {str(each.get("name")): each for each in ET.parse(schema).getroot().findall(f"{XS}element")}
    root = ET.fromstring(document)
    return list(_faults(root, elements)) if root.tag in elements else [f"unknown root {root.tag}"]


def _faults(node: ET.Element, elements: dict[str, ET.Element]) -> Iterator[str]:
    kind = elements[node.tag].find(f"{XS}complexType")
    assert kind is not None
    if kind.get("mixed") != "true" and (node.text or "").strip():
        yield f"text in {node.tag}"
    known = {str(each.get("name")): each for each in kind.findall(f"{XS}attribute")}
    yield from (f"unknown attribute {node.tag}.{name}" for name in node.attrib if name not in known)
    for name, each in known.items():
        if name not in node.attrib and each.get("use") == "required":
            yield f"missing attribute {node.tag}.{name}"
        if name in node.attrib and not _fits(str(each.get("type")), node.attrib[name]):
            yield f"{node.tag}.{name} is no {each.get('type')}: {node.attrib[name]!r}"
    yield from _children(node, kind, elements)


def _children(node: ET.Element, kind: ET.Element, elements: dict[str, ET.Element]) -> Iterator[str]:
    left = [child.tag for child in node]
    for each in kind.findall(f"{XS}sequence/{XS}element"):
        count = 0
        while left and left[0] == each.get("ref"):
            left.pop(0)
            count += 1
        most = each.get("maxOccurs", "1")
        if count < int(each.get("minOccurs", "1")) or (most != "unbounded" and count > int(most)):
            yield f"{count} × {each.get('ref')} in {node.tag}"
    if left:
        yield f"{left[0]} is not allowed there in {node.tag}"
    for child in node:
        if child.tag in elements:
            yield from _faults(child, elements)


def _fits(kind: str, value: str) -> bool:
    try:
        match kind:
            case "xs:integer":
                int(value)
            case "xs:decimal":
                return Decimal(value).is_finite()
    except (ValueError, InvalidOperation):
        return False
    return True
