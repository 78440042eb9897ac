"""A tokenizer from a Hugging Face folder: `tokenizer.json` and the small files beside it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tokenizers

from whybox.errors import FormatError, UnsupportedError
from whybox.formats.folder import inside
from whybox.formats.json_text import read_object
from whybox.text.blueprint import Blueprint, Specials, stop_ids
from whybox.text.codec import LibraryCodec
from whybox.text.vocabulary import Control, Spelling, Vocabulary, looks_like_control

Json = dict[str, Any]
_ROLES = ("bos_token", "eos_token", "pad_token", "unk_token")


def read(folder: Path) -> Blueprint:
    """The blueprint of a folder. UnsupportedError without tokenizer.json; FormatError for a file that is no JSON."""
    if _file(folder, "tokenizer.json") is None:
        raise UnsupportedError(
            f"{folder} has no tokenizer.json",
            "make one: transformers.AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)",
        )
    document, config = _checked(folder), _json(folder, "tokenizer_config.json")
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


def _checked(folder: Path) -> Json:
    """tokenizer.json, if it has the parts that are read here."""
    document, path = _json(folder, "tokenizer.json"), folder / "tokenizer.json"
    match document:
        case {"model": {"vocab": dict() | list()}}:
            pass
        case _:
            raise FormatError(path, "model.vocab", "a table of tokens", "none")
    added = document.get("added_tokens") or []
    if not isinstance(added, list):
        raise FormatError(path, "added_tokens", "a list", repr(added)[:60])
    for number, token in enumerate(added):
        match token:
            case {"content": str(), "id": int()}:
                pass
            case _:
                raise FormatError(path, f"added_tokens[{number}]", "content and id", repr(token)[:60])
    return document


def _codec(document: Json, vocabulary: Vocabulary) -> LibraryCodec:
    """The document's own tokenizer without control tokens and without the post-processor that adds specials."""
    plain = document | {"post_processor": None, "truncation": None, "padding": None}
    plain["added_tokens"] = [t for t in document.get("added_tokens") or [] if t["id"] not in vocabulary.control_ids]
    plain["model"] = _hide_controls(document["model"], vocabulary)
    opening = _library(plain)
    later = _never_opening(document.get("pre_tokenizer"))
    inside = opening
    if later != document.get("pre_tokenizer"):
        inside = _library(plain | {"pre_tokenizer": later})
    exact = vocabulary.spelling is Spelling.BYTE_LEVEL and document.get("normalizer") is None
    return LibraryCodec(opening, inside, vocabulary.token_bytes, exact)


def _hide_controls(model: Json, vocabulary: Vocabulary) -> Json:
    """The model's table with control tokens respelled as what no text holds; the unknown token keeps its name."""
    table = model["vocab"]
    pieces = table if isinstance(table, dict) else {piece for piece, _ in table}
    hidden = {
        text: f"\U0010ffff{token}" for token in vocabulary.control_ids if (text := vocabulary.tokens[token]) in pieces
    }
    hidden.pop(str(model.get("unk_token")), None)
    if not hidden:
        return model
    for merge in model.get("merges") or []:
        hidden.pop("".join(merge if isinstance(merge, list) else merge.split(" ")), None)
    if isinstance(table, list):
        return model | {"vocab": [[hidden.get(piece, piece), score] for piece, score in table]}
    return model | {"vocab": {hidden.get(piece, piece): token for piece, token in table.items()}}


def _never_opening(part: Any) -> Any:
    """The pre-tokenizer for runs that do not open the prompt: a space that only the first run gets is left out."""
    match part:
        case dict():
            changed = {"prepend_scheme": "never"} if _opens(part) else {}
            return {key: _never_opening(value) for key, value in part.items()} | changed
        case list():
            return [_never_opening(value) for value in part]
        case _:
            return part


def _opens(part: Json) -> bool:
    return part.get("type") == "Metaspace" and part.get("prepend_scheme") == "first"


def _piece(entry: object, path: Path) -> str:
    match entry:
        case [str(piece), int() | float()]:
            return piece
        case _:
            raise FormatError(path, "model.vocab", "pairs of a token and its score", repr(entry)[:60])


def _vocabulary(document: Json, folder: Path) -> Vocabulary:
    model, added = document["model"], document.get("added_tokens") or []
    table = model["vocab"]
    path = folder / "tokenizer.json"
    ids = table if isinstance(table, dict) else {_piece(entry, path): token for token, entry in enumerate(table)}
    ids = ids | {token["content"]: token["id"] for token in added}
    for token in ids.values():
        if not isinstance(token, int) or not 0 <= token < 2 * len(ids) + 1024:
            raise FormatError(path, "id", f"an id near {len(ids)}", repr(token)[:60])
    tokens = [""] * (1 + max(ids.values(), default=-1))
    for text, token in ids.items():
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
    """An explicit `add_bos_token` wins; otherwise what the document's own post-processor does around one word."""
    stated = config.get("add_bos_token")
    if isinstance(stated, bool):
        return stated
    word = {"type": "WordLevel", "vocab": {"a": 2**31}, "unk_token": "a"}
    frame: Json = {"version": "1.0", "model": word, "added_tokens": []}
    library = _library(frame | {"post_processor": document.get("post_processor")})
    return library.encode("a").ids[:1] == [bos]


def _library(document: Json) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(document))
    except Exception as error:  # the library raises bare Exception
        raise UnsupportedError(f"tokenizer.json cannot be read by the tokenizers library: {error}") from error


def _special_names(folder: Path, config: Json) -> dict[str, str]:
    written = _json(folder, "special_tokens_map.json") | config
    names = {role: _text_of(written.get(role)) for role in _ROLES}
    return {role: text for role, text in names.items() if text is not None}


def _text_of(entry: object) -> str | None:
    text = entry.get("content") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else None


def _id_of(name: str | None, vocabulary: Vocabulary) -> int | None:
    return vocabulary.tokens.index(name) if name is not None and name in vocabulary.tokens else None


def _generation_ends(folder: Path) -> list[int]:
    ends = _json(folder, "generation_config.json").get("eos_token_id")
    return [end for end in (ends if isinstance(ends, list) else [ends]) if isinstance(end, int)]


def _template(folder: Path, config: Json) -> str | None:
    """The file `chat_template.jinja` wins over the config; among several named templates `default` is meant."""
    file = _file(folder, "chat_template.jinja")
    if file is not None:
        return _text(file)
    stated = config.get("chat_template")
    if isinstance(stated, list):
        stated = {entry.get("name"): entry.get("template") for entry in stated if isinstance(entry, Mapping)}
    if isinstance(stated, dict):
        stated = stated.get("default")
    return stated if isinstance(stated, str) else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(file, "text", "UTF-8", str(error)) from None


def _json(folder: Path, name: str) -> Json:
    """The JSON object in a file of the folder, empty where there is no such file."""
    file = _file(folder, name)
    return {} if file is None else dict(read_object(file, name))


def _file(folder: Path, name: str) -> Path | None:
    """A file of the folder, never one that a link leads to elsewhere."""
    there = (folder / name).exists() or (folder / name).is_symlink()
    return inside(folder, name, name) if there else None
