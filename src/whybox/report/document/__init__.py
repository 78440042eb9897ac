"""The machine documents of the verbs: what `--json` prints, and the only thing that text and page may show.

Rules that hold in every document: fields are frozen and complete, unknown fields are refused, a number is finite, and a
number that was not obtained is null beside a sibling `<name>_reason` that says why.
"""

import json
from typing import Any

from whybox.report.document.base import Document, Interval, Lang, ModelInfo, Part, SchemaId, TokenRow
from whybox.report.document.doctor import DoctorCheck, DoctorDocument, FloorRow, TargetInfo
from whybox.report.document.look import (
    BaseRate,
    ClassCount,
    Decision,
    Diagnosis,
    Dilution,
    DilutionPoint,
    HeadClass,
    HeadLook,
    HeadMap,
    KeyRows,
    LayerLook,
    LayerRule,
    LookDocument,
    LookPayload,
    LookSegment,
    MapView,
    Opened,
    Packed,
    PatternRows,
    Probe,
    QueryRows,
    SecondarySink,
    Where,
)
from whybox.report.document.next import Candidate, Generated, NextDocument, Stage
from whybox.report.document.run import (
    AaRow,
    ArmAnswer,
    CallCounts,
    CurvePoint,
    CurveRow,
    DecidingRow,
    EstimateRow,
    GateRow,
    ProbeRow,
    RunDocument,
    SuiteTarget,
)
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
    "AaRow",
    "Agreement",
    "Answer",
    "AnswerSide",
    "ArmAnswer",
    "BaseRate",
    "Block",
    "CallCounts",
    "Candidate",
    "CaseInfo",
    "Cause",
    "Check",
    "ClassCount",
    "Code",
    "Count",
    "CurvePoint",
    "CurveRow",
    "DecidingRow",
    "Decision",
    "Diagnosis",
    "Dilution",
    "DilutionPoint",
    "DoctorCheck",
    "DoctorDocument",
    "Document",
    "EstimateRow",
    "FloorRow",
    "GateRow",
    "Generated",
    "HeadClass",
    "HeadLook",
    "HeadMap",
    "HeadRow",
    "Interval",
    "KeyRows",
    "Lang",
    "LayerLook",
    "LayerRule",
    "LensRow",
    "LookDocument",
    "LookPayload",
    "LookSegment",
    "MapView",
    "Metric",
    "ModelInfo",
    "NextDocument",
    "Null",
    "Opened",
    "Packed",
    "Part",
    "PatternMap",
    "PatternRows",
    "Prefix",
    "Probe",
    "ProbeRow",
    "PromptToken",
    "PromptView",
    "Provenance",
    "QueryRows",
    "RunDocument",
    "SchemaId",
    "SecondarySink",
    "SegmentInfo",
    "SegmentRow",
    "Shams",
    "Sides",
    "Stage",
    "SuiteTarget",
    "TargetInfo",
    "TokenRow",
    "Tried",
    "Verdict",
    "Where",
    "WhyDocument",
    "schemas",
    "to_json",
]

DOCUMENTS: tuple[type[Document], ...] = (DoctorDocument, LookDocument, NextDocument, RunDocument, WhyDocument)


def to_json(document: Document) -> str:
    """The document as JSON text: the same bytes for the same document, UTF-8 characters as they are, no NaN."""
    return json.dumps(document.model_dump(mode="json", by_alias=True), ensure_ascii=False, allow_nan=False, indent=1)


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of every document, by schema name."""
    return {kind.NAME: kind.model_json_schema(by_alias=True, mode="serialization") for kind in DOCUMENTS}
