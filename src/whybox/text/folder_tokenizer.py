"""A tokenizer from a Hugging Face folder: `tokenizer.json` and the small files beside it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tokenizers

from whybox.errors import FormatError, UnsupportedError
from whybox.text.blueprint import Blueprint, Specials, stop_ids
from whybox.text.codec import LibraryCodec
from whybox.text.vocabulary import Control, Spelling, Vocabulary, looks_like_control

Json = dict[str, Any]
_ROLES = ("bos_token", "eos_token", "pad_token", "unk_token")


def read(folder: Path) -> Blueprint:
    """The blueprint of a folder. UnsupportedError without tokenizer.json; FormatError for a file that is no JSON."""
    if not (folder / "tokenizer.json").is_file():
        raise UnsupportedError(
            f"{folder} has no tokenizer.json",
            "make one: transformers.AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)",
        )
    document, config = _json(folder / "tokenizer.json"), _json(folder / "tokenizer_config.json")
    names = _special_names(folder, config)
    vocabulary = _vocabulary(document, folder)
    ids = {role: _id_of(names.get(role), vocabulary) for role in _ROLES}
    specials = Specials(
        bos=ids["bos_token"],
        eos=ids["eos_token"],
        pad=ids["pad_token"],
        unknown=ids["unk_token"],
        add_bos=ids["bos_token"] is not None and _adds_bos(document, config, ids["bos_token"]),
        stop=stop_ids(vocabulary, ids["eos_token"], *_generation_ends(folder)),
    )
    return Blueprint(vocabulary, _codec(document, vocabulary), specials, _template(folder, config), names)


def _codec(document: Json, vocabulary: Vocabulary) -> LibraryCodec:
    """The document's own tokenizer without control tokens and without the post-processor that adds specials."""
    plain = document | {"post_processor": None, "truncation": None, "padding": None}
    plain["added_tokens"] = [t for t in document.get("added_tokens", []) if t["id"] not in vocabulary.control_ids]
    plain["model"] = _hide_controls(document["model"], vocabulary)
    opening = tokenizers.Tokenizer.from_str(json.dumps(plain))
    inside = _never_opening(plain)
    exact = vocabulary.spelling is Spelling.BYTE_LEVEL and document.get("normalizer") is None
    later = opening if inside == plain else tokenizers.Tokenizer.from_str(json.dumps(inside))
    return LibraryCodec(opening, later, vocabulary.token_bytes, exact)


def _hide_controls(model: Json, vocabulary: Vocabulary) -> Json:
    """The model's table with control tokens respelled as what no text holds; the unknown token keeps its name."""
    hidden = {vocabulary.tokens[token]: f"\U0010ffff{token}" for token in vocabulary.control_ids}
    hidden.pop(str(model.get("unk_token")), None)
    for merge in model.get("merges") or []:
        hidden.pop("".join(merge if isinstance(merge, list) else merge.split(" ")), None)
    table = model["vocab"]
    if isinstance(table, list):
        return model | {"vocab": [[hidden.get(piece, piece), score] for piece, score in table]}
    return model | {"vocab": {hidden.get(piece, piece): token for piece, token in table.items()}}


def _never_opening(document: Json) -> Json:
    """The same document for runs that do not open the prompt: a space that only the first run gets is left out."""
    return json.loads(  # type: ignore[no-any-return]
        json.dumps(document), object_hook=lambda d: d | {"prepend_scheme": "never"} if _opens(d) else d
    )


def _opens(part: Json) -> bool:
    return part.get("type") == "Metaspace" and part.get("prepend_scheme") == "first"


def _vocabulary(document: Json, folder: Path) -> Vocabulary:
    model, added = document["model"], document.get("added_tokens", [])
    table = model["vocab"]
    ids = table if isinstance(table, dict) else {piece: token for token, (piece, _) in enumerate(table)}
    ids = ids | {token["content"]: token["id"] for token in added}
    tokens = [""] * (1 + max(ids.values(), default=-1))
    for text, token in ids.items():
        if not 0 <= token < 2 * len(ids) + 1024:
            raise FormatError(folder / "tokenizer.json", "id", f"an id near {len(ids)}", str(token))
        tokens[token] = text
    controls = tuple(
        Control(token["content"], token["id"], token.get("lstrip", False), token.get("rstrip", False))
        for token in added
        if token.get("special") or looks_like_control(token["content"])
    )
    return Vocabulary(tokens, _spelling(document), controls, frozenset(token["id"] for token in added))


def _spelling(document: Json) -> Spelling:
    kinds = set(_types({key: document.get(key) for key in ("pre_tokenizer", "decoder")}))
    if document["model"].get("type") == "WordPiece":
        return Spelling.WORD_PIECE
    return Spelling.BYTE_LEVEL if "ByteLevel" in kinds else Spelling.SPACE_MARK


def _types(part: object) -> Iterator[str]:
    match part:
        case dict():
            if isinstance(part.get("type"), str):
                yield part["type"]
            for value in part.values():
                yield from _types(value)
        case list():
            for value in part:
                yield from _types(value)


def _adds_bos(document: Json, config: Json, bos: int) -> bool:
    """An explicit `add_bos_token` wins; otherwise what the document's own post-processor does."""
    stated = config.get("add_bos_token")
    if isinstance(stated, bool):
        return stated
    return tokenizers.Tokenizer.from_str(json.dumps(document)).encode("a").ids[:1] == [bos]


def _special_names(folder: Path, config: Json) -> dict[str, str]:
    written = _json(folder / "special_tokens_map.json") | config
    names = {role: _text_of(written.get(role)) for role in _ROLES}
    return {role: text for role, text in names.items() if text is not None}


def _text_of(entry: object) -> str | None:
    text = entry.get("content") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else None


def _id_of(name: str | None, vocabulary: Vocabulary) -> int | None:
    return vocabulary.tokens.index(name) if name is not None and name in vocabulary.tokens else None


def _generation_ends(folder: Path) -> list[int]:
    ends = _json(folder / "generation_config.json").get("eos_token_id")
    return [end for end in (ends if isinstance(ends, list) else [ends]) if isinstance(end, int)]


def _template(folder: Path, config: Json) -> str | None:
    """The file `chat_template.jinja` wins over the config; among several named templates `default` is meant."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    stated = config.get("chat_template")
    if isinstance(stated, list):
        stated = {entry.get("name"): entry.get("template") for entry in stated if isinstance(entry, Mapping)}
    if isinstance(stated, dict):
        stated = stated.get("default")
    return stated if isinstance(stated, str) else None


def _json(path: Path) -> Json:
    """A JSON object, empty where the file does not exist."""
    if not path.is_file():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(path, "text", "JSON", str(error)) from None
    if not isinstance(document, dict):
        raise FormatError(path, "text", "a JSON object", type(document).__name__)
    return document
