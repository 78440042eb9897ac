"""The machine documents of the verbs: what `--json` prints, and the only thing that text and page may show.

Rules that hold in every document: fields are frozen and complete, unknown fields are refused, a number is finite, and a
number that was not obtained is null beside a sibling `<name>_reason` that says why.
"""

import json
from typing import Any

from whybox.report.document.base import Document, Interval, Lang, ModelInfo, Part, SchemaId, TokenRow
from whybox.report.document.next import Candidate, Generated, NextDocument, Stage
from whybox.report.document.why import (
    Agreement,
    Answer,
    AnswerSide,
    Block,
    CaseInfo,
    Cause,
    Check,
    Code,
    Count,
    HeadRow,
    LensRow,
    Metric,
    Null,
    PatternMap,
    Prefix,
    PromptToken,
    PromptView,
    Provenance,
    SegmentInfo,
    SegmentRow,
    Shams,
    Sides,
    Tried,
    Verdict,
    WhyDocument,
)

__all__ = [
    "DOCUMENTS",
    "Agreement",
    "Answer",
    "AnswerSide",
    "Block",
    "Candidate",
    "CaseInfo",
    "Cause",
    "Check",
    "Code",
    "Count",
    "Document",
    "Generated",
    "HeadRow",
    "Interval",
    "Lang",
    "LensRow",
    "Metric",
    "ModelInfo",
    "NextDocument",
    "Null",
    "Part",
    "PatternMap",
    "Prefix",
    "PromptToken",
    "PromptView",
    "Provenance",
    "SchemaId",
    "SegmentInfo",
    "SegmentRow",
    "Shams",
    "Sides",
    "Stage",
    "TokenRow",
    "Tried",
    "Verdict",
    "WhyDocument",
    "schemas",
    "to_json",
]

DOCUMENTS: tuple[type[Document], ...] = (NextDocument, WhyDocument)


def to_json(document: Document) -> str:
    """The document as JSON text: the same bytes for the same document, UTF-8 characters as they are, no NaN."""
    return json.dumps(document.model_dump(mode="json", by_alias=True), ensure_ascii=False, allow_nan=False, indent=1)


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of every document, by schema name."""
    return {kind.NAME: kind.model_json_schema(by_alias=True, mode="serialization") for kind in DOCUMENTS}
