"""Dialogues whose replies are the target's own: turn by turn, with the checker's question on branches of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whybox.items.instance import CaseInstance, Message
from whybox.probes.design import Record
from whybox.targets.target import Chat, Reply
from whybox.text.prompt import Part

TURN = "turn"


@dataclass(frozen=True)
class Live:
    """A dialogue as far as it has come. replies: the target's own, one for each sentence that was said so far."""

    opening: tuple[Message, ...]
    sentences: tuple[str, ...]
    asked: Message
    replies: tuple[str, ...] = ()

    def branches(self, arm: str, depths: Sequence[int], case: CaseInstance) -> Iterator[tuple[str, CaseInstance]]:
        """By arm what can be asked now: the next turn, and the question where a depth is reached."""
        come = len(self.replies)
        if come + 1 in depths:
            yield f"{come + 1}:{arm}", replace(case, messages=(*self.opening, *self._talk(), self.asked))
        if come + 1 < depths[-1]:
            says = Message("user", (Part(f"turn{come + 1}", self.sentences[come]),))
            yield f"{TURN}{come + 1}:{arm}", replace(case, messages=(*self.opening, *self._talk(), says))

    def _talk(self) -> Iterator[Message]:
        for i, (sentence, reply) in enumerate(zip(self.sentences, self.replies, strict=False)):
            yield Message("user", (Part(f"turn{i + 1}", sentence),))
            yield Message("assistant", (Part(f"reply{i + 1}", reply),))


def replies_of(records: Sequence[Record]) -> Mapping[tuple[str, str], tuple[str, ...] | None]:
    """By item and arm the replies in the order of their turns; None where a turn was lost and nothing can follow."""
    said: dict[tuple[str, str], dict[int, str | None]] = {}
    for record in records:
        turn, arm = record.call.arm.split(":", 1)
        if turn.startswith(TURN):
            text = record.outcome.text if isinstance(record.outcome, Reply) else None
            said.setdefault((record.call.item, arm), {})[int(turn.removeprefix(TURN))] = text
    found: dict[tuple[str, str], tuple[str, ...] | None] = {}
    for where, turns in said.items():
        texts = [turns[number] for number in sorted(turns)]
        whole = tuple(text for text in texts if text is not None)
        found[where] = whole if len(whole) == len(texts) else None
    return found


def case_of(record: Record, case: CaseInstance) -> CaseInstance:
    """The dialogue that was really sent, as a case."""
    prompt = record.call.request.prompt
    if not isinstance(prompt, Chat):
        return case
    roles = {"system": "system", "assistant": "assistant"}
    messages = tuple(
        Message(roles.get(turn.role, "user"), (Part(f"message{i + 1}", turn.content),))  # type: ignore[arg-type]
        for i, turn in enumerate(prompt.turns)
    )
    return replace(case, messages=messages, evidence=())
