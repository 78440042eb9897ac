"""A case with its slots filled: concrete messages or raw parts, concrete answers, and their scorer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from whybox.errors import CaseError
from whybox.items.lenient import is_number, unwrapped
from whybox.items.scoring import (
    Match,
    OneValueScorer,
    Scorer,
    bounds_in,
    choice_scorer,
    followers,
    framed,
    lenient_number_scorer,
    name_scorer,
    number_scorer,
    text_scorer,
)
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.one_value import gives_amount
from whybox.text.prompt import Part

Kind = Literal["number", "name", "choice", "text"]
By = Literal["text", "logprob"]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; its parts are joined by the `join` of the instance."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Decoding:
    """Decoding settings that a case states; None = not stated (greedy when `temperature` is None)."""

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    banned: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseInstance:
    """One concrete prompt with its answers. Either `messages` or `raw_parts` is empty.

    `values`: the slot values that made it; `wrong`: None when the case names none; `got`: only on the case itself;
    `match`: how answers are matched where not by their kind; `by`: how a target chooses among the options.
    """

    id: str
    case_id: str
    values: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    raw_parts: tuple[Part, ...]
    join: str
    right: str
    wrong: str | None
    kind: Kind
    options: tuple[tuple[str, str], ...] = ()
    evidence: tuple[str, ...] = ()
    got: str | None = None
    decoding: Decoding = field(default_factory=Decoding)
    contract_prefix: str | None = None
    match: Match | None = None
    by: By = "text"

    @property
    def is_raw(self) -> bool:
        """Whether the prompt goes to the model without a chat template."""
        return not self.messages

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts in the order in which they stand."""
        return self.raw_parts or tuple(part for message in self.messages for part in message.parts)

    def part(self, name: str) -> Part:
        """The part of that name; CaseError lists the names that exist."""
        for part in self.parts:
            if part.name == name:
                return part
        raise CaseError(f"{self.id}: expected a part among {', '.join(p.name for p in self.parts)}, found {name!r}")

    def scorer(self) -> Scorer:
        """The scorer of this answer kind, with right and wrong as known candidates."""
        others = () if self.wrong is None else (self.wrong,)
        if self.match is not None:
            return self.match.scorer(self.right, others)
        match self.kind:
            case "number":
                return number_scorer(self.right, others, allowed=bounds_in(self.right, self._evidence_texts()))
            case "name":
                return name_scorer(self.right, others, followers(self.right, self._evidence_texts()), self._rivals())
            case "text":
                return text_scorer(self.right, others, self._rivals())
            case "choice":
                labels = [label for label, _ in self.options] or sorted({*"ABCD", self.right, *others})
                return choice_scorer(self.right, labels, dict(self.options))
            case _:
                assert_never(self.kind)

    def form_scorer(self) -> Scorer:
        """The right value in whatever form, and nothing but that value: it tells a wrong form from a wrong value. A
        text that states another value of the same kind as well is hedged.
        """
        right = unwrapped(self.right)
        numeric = self.match is None and self.kind in ("number", "text") and is_number(right)
        return OneValueScorer(self.lenient_scorer(), right) if numeric else self.lenient_scorer()

    def _evidence_texts(self) -> tuple[str, ...]:
        return tuple(part.text for part in self.parts if part.name in self.evidence)

    def _rivals(self) -> frozenset[str]:
        """Other names that the prompt states where it states the right one."""
        return framed(self.right, tuple(part.text for part in self.parts))

    def lenient_scorer(self) -> Scorer:
        """The same answer in whatever form: the value without its unit, or without the JSON around it.

        It finds a value, and decides nothing else: 7 weeks are no form of 7 days.
        """
        if self.match is not None:
            return self.scorer()
        right = unwrapped(self.right)
        others = () if self.wrong is None else (unwrapped(self.wrong),)
        match self.kind:
            case "number":
                return lenient_number_scorer(right, others)
            case "text" if right != self.right and is_number(right):
                alone = lenient_number_scorer(right)
                return lenient_number_scorer(right, [o for o in others if is_number(o) and not alone.score(o).right])
            case "text" if right != self.right:
                return text_scorer(right, [other for other in others if other != right])
            case _:
                return self.scorer()

    def breaks_contract(self, text: str) -> bool:
        """A contract states how a legal answer begins; this one begins otherwise."""
        return self.contract_prefix is not None and not text.lstrip().startswith(self.contract_prefix.strip())

    def may_answer(self, text: str) -> bool:
        """Whether a text that asserts none of the known answers may give another: a number; a word, where no contract
        states how an answer begins, or behind its beginning. Then its form is not what is wrong with it.
        """
        if self.contract_prefix is not None and self.breaks_contract(text):
            return False
        said = text.lstrip().removeprefix((self.contract_prefix or "").strip())
        match self.kind:
            case "number":
                return gives_amount(fold_text(said), self.right)
            case "choice":
                return False
            case _:
                return re.search(r"[^\W\d_]{2}|[\u3040-\u9fff]", said) is not None

    def keeping(self, names: Iterable[str]) -> "CaseInstance":
        """The same prompt with only the named parts. A message left without parts is left out, and what stood before
        and behind it, where of one role, becomes one message: templates ask for turns that alternate.
        """
        kept = {self.part(name).name for name in names}
        return self._arranged({part.name: part if part.name in kept else None for part in self.parts})

    def replacing(self, texts: Mapping[str, str]) -> "CaseInstance":
        """The same prompt with other texts in the named parts."""
        for name in texts:
            self.part(name)
        return self._arranged({p.name: replace(p, text=texts.get(p.name, p.text)) for p in self.parts})

    def reordered(self, names: Sequence[str]) -> "CaseInstance":
        """The named parts stand in this order, in the places that they hold together; all others stay."""
        places = [part.name for part in self.parts if part.name in set(names)]
        if sorted(places) != sorted(names):
            raise CaseError(f"{self.id}: expected an order of existing parts, each once, found {', '.join(names)}")
        moved = dict(zip(places, map(self.part, names), strict=True))
        return self._arranged({part.name: moved.get(part.name, part) for part in self.parts})

    def _arranged(self, at: Mapping[str, Part | None]) -> "CaseInstance":
        def fitted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
            return tuple(new for part in parts if (new := at[part.name]) is not None)

        messages = [replace(message, parts=fitted(message.parts)) for message in self.messages]
        return replace(
            self,
            raw_parts=fitted(self.raw_parts),
            messages=tuple(_alternating(messages)),
            evidence=tuple(name for name in self.evidence if at[name] is not None),
        )


def _alternating(messages: Iterable[Message]) -> Iterator[Message]:
    """Those that hold parts; two of one role between which one was left out are joined."""
    before: Message | None = None
    gap = False
    for message in messages:
        if not message.parts:
            gap = True
        elif before is not None and gap and before.role == message.role:
            before, gap = replace(before, parts=(*before.parts, *message.parts)), False
        else:
            if before is not None:
                yield before
            before, gap = message, False
    if before is not None:
        yield before
