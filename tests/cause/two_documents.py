"""Ten items of two documents that differ in an invented name and a digit, for what the real models are known to do."""

from dataclasses import dataclass

from whybox.cause.ground import Ground, between
from whybox.items.instance import CaseInstance, Message
from whybox.model import Model
from whybox.text.prompt import Part

SYSTEM = "You answer from the documents only."
NAMES = (
    ("Velmora", "Tanrik", 7, 4), ("Orsted", "Quenby", 3, 8), ("Halvik", "Prandor", 9, 5), ("Mirelle", "Stovan", 2, 6),
    ("Kestral", "Dunmore", 5, 9), ("Arvello", "Brindle", 8, 3), ("Corvane", "Ilsworth", 4, 7),
    ("Fenwick", "Jarrow", 6, 2), ("Lindale", "Nystrom", 7, 3), ("Rothmar", "Sedgely", 5, 8),
)  # fmt: skip
TEMPLATE = "The {name} depot keeps parcels for {days} days."


@dataclass(frozen=True)
class TwoDocuments:
    """The case, with the gold document first in even items and second in odd ones."""

    case: CaseInstance
    gold: str
    other: str
    prefix: str

    def ground(self, model: Model, floor: float) -> Ground:
        return between(model, self.case, self.case.right, self.case.wrong or "", self.prefix, floor)


def items(count: int = 10) -> list[TwoDocuments]:
    return [_item(index, *NAMES[index]) for index in range(count)]


def _item(index: int, name: str, beside: str, right: int, wrong: int) -> TwoDocuments:
    gold, other = ("doc1", "doc2") if index % 2 == 0 else ("doc2", "doc1")
    texts = {
        gold: TEMPLATE.format(name=name, days=right),
        other: TEMPLATE.format(name=beside, days=wrong),
    }
    question = f"How many days does the {name} depot keep parcels?"
    user = Message("user", (*(Part(key, texts[key]) for key in ("doc1", "doc2")), Part("question", question)))
    case = CaseInstance(
        id=f"two-{index}",
        case_id=f"two-{index}",
        values=(),
        messages=(Message("system", (Part("policy", SYSTEM),)), user),
        raw_parts=(),
        join="\n",
        right=f"{right} days",
        wrong=f"{wrong} days",
        kind="number",
        evidence=(gold,),
    )
    return TwoDocuments(case, gold, other, f"The {name} depot keeps parcels for ")
