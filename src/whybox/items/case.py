"""The case file: one prompt, its right and its wrong answer, and the variants that it stands for."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whybox.errors import CaseError
from whybox.items import meaning
from whybox.items.instance import CaseInstance, Decoding, Kind, Message
from whybox.items.lenient import is_number
from whybox.items.schema import CaseText, MatchText
from whybox.items.scoring import Match, Overlap, Pattern, Schema
from whybox.items.scoring.json_schema import compiled, schema_of
from whybox.items.slots import escape, fill
from whybox.items.variants import choose_variants
from whybox.items.yaml_tree import Document, FieldPath, parse_yaml, read_text, read_yaml
from whybox.text.prompt import Part

_REMEDY = "The case file is described in docs/case.md; examples/ holds working ones."


@dataclass(frozen=True)
class Case:
    """A validated case. Its slots are still open; `instances` and `filled` close them."""

    text: CaseText

    @classmethod
    def load(cls, path: str | Path) -> "Case":
        """Read a YAML case file. CaseError names file, line, field, what was expected and what was found."""
        try:
            document = read_yaml(path)
        except CaseError as error:
            raise CaseError(_no_case(Path(path), error.cause), error.remedy or _REMEDY) from error
        return cls._from_document(document)

    @classmethod
    def parse(cls, yaml_text: str, source: str = "case") -> "Case":
        """Read a case from YAML text."""
        return cls._from_document(parse_yaml(yaml_text, source))

    @classmethod
    def from_data(cls, data: Mapping[str, Any], source: str = "case") -> "Case":
        """Build a case from Python or JSON data of the same shape."""
        return cls._validated(dict(data), Document(source, None, {}))

    @classmethod
    def from_messages(
        cls, messages: Sequence[object], right: str, wrong: str | None = None, case_id: str = "messages"
    ) -> "Case":
        """A case from a chat history as APIs write it: `[{"role": …, "content": …}]`. Braces in it are plain text.

        The kind is `number` when the answers are numbers, `text` otherwise.
        """
        turns = [_turn(message, i) for i, message in enumerate(messages)]
        if not turns:
            raise CaseError("messages: expected at least one message, found none")
        answer = {"right": escape(right), "kind": kind_of(right, wrong)}
        if wrong is not None:
            answer["wrong"] = escape(wrong)
        return cls.from_data({"id": case_id, "prompt": turns, "answer": answer}, source="messages")

    @classmethod
    def load_messages(cls, path: str | Path, right: str, wrong: str | None = None) -> "Case":
        """`from_messages` on a JSON file: a list of messages, or an object with `messages`."""
        text = read_text(Path(path), "a JSON list of messages")
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise CaseError(
                f"{path}: expected a JSON list of messages, found none ({error.msg.lower()}, {place})",
                'such as [{"role": "user", "content": "…"}]',
            ) from error
        except RecursionError as error:
            raise CaseError(
                f"{path}: expected a JSON list of messages, found lists within lists without end"
            ) from error
        messages = data.get("messages") if isinstance(data, dict) else data
        if not isinstance(messages, list):
            raise CaseError(f"{path}: expected a JSON list of messages, found {type(data).__name__}")
        return cls.from_messages(messages, right, wrong)

    @classmethod
    def from_instance(cls, instance: CaseInstance, got: str | None = None, decoding: Mapping[str, Any] = {}) -> "Case":
        """A concrete prompt as a case of its own, without slots: braces in its texts are plain text.

        got: the answer that was observed. decoding: as a case file states it.
        """
        answer: dict[str, Any] = {"right": escape(instance.right), "kind": instance.kind}
        if instance.wrong is not None:
            answer["wrong"] = escape(instance.wrong)
        if instance.options:
            answer["options"] = {label: escape(text) for label, text in instance.options}
        if instance.by != "text":
            answer["by"] = instance.by
        if instance.match is not None:
            answer["match"] = dict(vars(instance.match))
        if got is not None:
            answer["got"] = got
        data: dict[str, Any] = {"id": re.sub(r"[^\w.-]", "-", instance.id).lstrip(".-")[:128] or "case"}
        if instance.is_raw:
            data["text"] = plain_parts(instance.raw_parts)
        else:
            data["prompt"] = [{"role": each.role, "parts": plain_parts(each.parts)} for each in instance.messages]
        data |= {"join": instance.join, "answer": answer, "evidence": list(instance.evidence)}
        if decoding:
            data["decoding"] = dict(decoding)
        if instance.contract_prefix is not None:
            data["contract"] = {"prefix": instance.contract_prefix}
        return cls.from_data(data, source=instance.id)

    @property
    def line(self) -> str:
        """The case as one line of JSON, as a file of cases holds it."""
        return json.dumps(self.text.model_dump(mode="json", exclude_unset=True, exclude_none=True), ensure_ascii=False)

    @classmethod
    def _from_document(cls, document: Document) -> "Case":
        if not isinstance(document.tree, dict):
            kind = {type(None): "nothing", str: "text", list: "a list"}[type(document.tree)]
            raise CaseError(f"{document.source}: expected a mapping with id, prompt and answer, found {kind}", _REMEDY)
        return cls._validated({k: v for k, v in document.tree.items() if v is not None}, document)

    @classmethod
    def _validated(cls, data: Mapping[str, Any], document: Document) -> "Case":
        try:
            case = cls(CaseText.model_validate(data))
            meaning.check(case.text)
            meaning.check_answers(case.filled())
            for slot in meaning.slots_of_answers(case.text):
                for i, value in enumerate(case.text.vary[slot]):
                    meaning.check_scorable(case.filled({slot: value}), slot, i)
        except ValidationError as error:
            raise _shape_error(error, data, document) from error
        except meaning.FieldFault as fault:
            raise _located(document, fault.path, fault.expected, fault.found) from fault
        return case

    @property
    def id(self) -> str:
        return self.text.id

    @property
    def got(self) -> str | None:
        """The output that was observed elsewhere, if the file holds one."""
        return self.text.answer.got

    def filled(self, values: Mapping[str, str] | None = None, name: str | None = None) -> CaseInstance:
        """The case with its slots filled: its own (first) values where `values` names none."""
        slots = {slot: options[0] for slot, options in self.text.vary.items()} | dict(values or {})
        unknown = sorted(set(slots) - set(self.text.vary))
        if unknown:
            raise CaseError(f"{self.id}: expected slots among {', '.join(self.text.vary)}, found {unknown[0]!r}")
        own = all(slots[slot] == options[0] for slot, options in self.text.vary.items())
        return _instance(self.text, slots, name or self.id, own)

    def variants(self, limit: int = 40, seed: int = 0) -> tuple[dict[str, str], ...]:
        """Slot values: the case itself first, then other combinations in seeded order, at most `limit` in all.

        Within one combination the values differ and none is a substring of another.
        """
        return choose_variants(self.id, self.text.vary, limit, seed)

    def instances(self, limit: int = 40, seed: int = 0) -> tuple[CaseInstance, ...]:
        """The case and its variants, filled. Without `vary` this is the case alone."""
        return tuple(
            self.filled(values, f"{self.id}/{i}" if i else self.id)
            for i, values in enumerate(self.variants(limit, seed))
        )


def _no_case(path: Path, cause: str) -> str:
    """What is wrong with a case file; of a file that was hardly meant as YAML no more than that it is none."""
    if path.suffix.lower() in (".yaml", ".yml", ".json") or not path.is_file():
        return cause
    return f"{path}: expected a case file in YAML, found {path.suffix or 'a file without a suffix'} that is none"


def _instance(text: CaseText, slots: Mapping[str, str], name: str, own: bool) -> CaseInstance:
    answer = text.answer
    return CaseInstance(
        id=name,
        case_id=text.id,
        values=tuple(slots.items()),
        messages=tuple(Message(m.role, _filled(meaning.message_parts(text, m), slots)) for m in text.prompt or ()),
        raw_parts=_filled(meaning.raw_parts(text), slots),
        join=text.join,
        right=fill(answer.right, slots),
        wrong=None if answer.wrong is None else fill(answer.wrong, slots),
        kind=answer.kind,
        options=tuple((label, fill(option, slots)) for label, option in (answer.options or {}).items()),
        evidence=tuple(text.evidence),
        got=answer.got if own else None,
        decoding=_decoding(text),
        contract_prefix=text.contract.prefix if text.contract else None,
        match=None if answer.match is None else _match(answer.match),
        by=answer.by,
    )


def _match(text: MatchText) -> Match:
    """CaseError for a pattern or a schema that is none."""
    if text.pattern is not None:
        compiled(text.pattern, "pattern")
        return Pattern(text.pattern)
    if text.json_schema is not None:
        schema_of(text.json_schema)
        return Schema(text.json_schema)
    return Overlap(text.overlap or 1.0)


def _decoding(text: CaseText) -> Decoding:
    stated = text.decoding
    return Decoding(
        stated.temperature,
        stated.top_k,
        stated.top_p,
        stated.repetition_penalty,
        stated.seed,
        stated.max_tokens,
        tuple(stated.banned or ()),
    )


def _filled(parts: Sequence[tuple[str, str]], slots: Mapping[str, str]) -> tuple[Part, ...]:
    return tuple(Part(name, fill(text, slots)) for name, text in parts)


def plain_parts(parts: Sequence[Part]) -> list[dict[str, str]]:
    """Parts as a case file holds them, braces in them plain text."""
    return [{"name": part.name, "text": escape(part.text)} for part in parts]


def kind_of(right: str, wrong: str | None) -> Kind:
    """`number` where the answers are numbers, `text` otherwise."""
    return "number" if is_number(right) and is_number(wrong or right) else "text"


def _turn(message: object, index: int) -> dict[str, str]:
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise CaseError(f"{where}: expected an object with role and content, found {type(message).__name__}")
    unknown = sorted(set(message) - {"role", "content", "name"})
    if unknown:
        raise CaseError(f"{where}: expected role and content, found {unknown[0]!r}")
    return {"role": message.get("role", ""), "text": escape(_content(message.get("content"), where))}


def _content(content: object, where: str) -> str:
    """A string, or the text blocks of the newer form joined as they stand."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_block(block, f"{where}.content[{i}]") for i, block in enumerate(content))
    raise CaseError(f"{where}.content: expected text, found {type(content).__name__}")


def _block(block: object, where: str) -> str:
    if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    raise CaseError(f"{where}: expected a block of type text, found {block!r:.60}")


def _shape_error(error: ValidationError, data: Mapping[str, Any], document: Document) -> CaseError:
    """The first complaint of pydantic in the words of this project."""
    # Of a union (text or parts) pydantic reports every branch; the branch that got furthest is the one that was meant.
    first = max(error.errors(include_url=False), key=lambda complaint: len(complaint["loc"]))
    path = _path_in(data, first["loc"])
    if first["type"] == "unknown_key":
        return CaseError(f"{_where(document, (*path, first['ctx']['key']))}: expected {first['msg']}", _REMEDY)
    if first["type"] == "missing":
        return CaseError(f"{_where(document, path)}: expected this field, found none", _REMEDY)
    found = f"{first['input']!r:.80}"
    if first["type"] in ("too_long", "string_too_long"):
        found = f"one of {len(first['input']):,}"
    hint = " (quote it: YAML and JSON read a bare true as yes or no)" if isinstance(first["input"], bool) else ""
    return CaseError(f"{_where(document, path)}: expected {_lowered(first['msg'])}, found {found}{hint}", _REMEDY)


def _path_in(data: object, steps: Sequence[str | int]) -> FieldPath:
    """The steps that exist in the data: pydantic also names branches of unions. A missing field is the last step."""
    path: list[str | int] = []
    for step in steps:
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and isinstance(step, int)
        if inside:
            data = data[step]  # type: ignore[index]
        if inside or (step == steps[-1] and isinstance(data, dict)):
            path.append(step)
    return tuple(path)


def _lowered(message: str) -> str:
    plain = message.removeprefix("Input should be ").removeprefix("Value error, ")
    plain = re.sub(r"^\w+ should have (.+?) (?:items?|characters?)\b.*", r"a length of \1", plain)
    return re.sub(r"^\w+ should match pattern", "text of the pattern", plain)


def _located(document: Document, path: FieldPath, expected: str, found: str) -> CaseError:
    return CaseError(f"{_where(document, path)}: expected {expected}, found {found}", _REMEDY)


def _where(document: Document, path: FieldPath) -> str:
    line = document.line(path)
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"{document.source}{f':{line}' if line else ''}: {field or 'case'}"
