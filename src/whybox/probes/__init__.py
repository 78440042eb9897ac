"""Behaviour probes, one file each. To add one: a `Design` with `plan` and `read`, named in this list."""

from whybox.probes.consistency import ConsistencyProbe
from whybox.probes.design import Design
from whybox.probes.documents import DocumentsProbe
from whybox.probes.edit import EditProbe
from whybox.probes.evidence import EvidenceProbe
from whybox.probes.failure import FailureProbe
from whybox.probes.knowledge import KnowledgeProbe
from whybox.probes.memory import MemoryProbe
from whybox.probes.order import OrderProbe

PROBES: dict[str, type[Design]] = {
    probe.NAME: probe
    for probe in (
        OrderProbe,
        EditProbe,
        MemoryProbe,
        EvidenceProbe,
        DocumentsProbe,
        ConsistencyProbe,
        KnowledgeProbe,
        FailureProbe,
    )
}
