"""One tokenizer for every model: ids and bytes are the truth, control tokens come from trusted text only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from whybox.errors import PromptError, UnsupportedError
from whybox.text import folder_tokenizer, gguf_tokenizer
from whybox.text.blueprint import Blueprint
from whybox.text.codec import Piece
from whybox.text.view import readable, view
from whybox.text.vocabulary import Finder, Match

Range = tuple[int, int]


class Tokenizer:
    """Text → ids and id → bytes. Build it with `from_gguf` or `from_folder`."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.bos, self.eos = blueprint.specials.bos, blueprint.specials.eos
        self.pad, self.unknown = blueprint.specials.pad, blueprint.specials.unknown
        self.add_bos = blueprint.specials.add_bos
        self.stop_ids = blueprint.specials.stop
        self.chat_template = blueprint.chat_template
        self.notes = blueprint.notes

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, object]) -> "Tokenizer":
        """From the key-values of a GGUF file. UnsupportedError for a tokenizer or pre-tokenizer that is not known."""
        return cls(gguf_tokenizer.read(metadata))

    @classmethod
    def from_folder(cls, path: str | Path) -> "Tokenizer":
        """From `tokenizer.json` and its companions in a Hugging Face folder."""
        return cls(folder_tokenizer.read(Path(path)))

    def covering(self, rows: int) -> "Tokenizer":
        """The tokenizer of a table with `rows` rows: those beyond its own vocabulary are ids that spell nothing."""
        vocabulary = self.blueprint.vocabulary
        padding = [""] * (rows - len(vocabulary.tokens))
        return Tokenizer(replace(self.blueprint, vocabulary=replace(vocabulary, tokens=[*vocabulary.tokens, *padding])))

    @cached_property
    def digest(self) -> str:
        """Hex name of all that was read and can change a prompt or where an answer ends.

        Vocabulary, control tokens, the way from text to ids, special and stop ids, template and what it may write; told
        by content, so that files that say the same otherwise have one name.
        """
        made, state = self.blueprint, blake2b(digest_size=16)
        specials = (self.bos, self.eos, self.pad, self.unknown, self.add_bos, sorted(self.stop_ids))
        vocabulary = (list(made.vocabulary.tokens), made.vocabulary.spelling, sorted(made.vocabulary.literal))
        template = (self.chat_template, sorted(made.names.items()))
        for part in (made.codec.content(), repr((vocabulary, made.vocabulary.controls, specials, template))):
            state.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
        return state.hexdigest()

    @property
    def vocab_size(self) -> int:
        """Number of ids the tokenizer knows; a model's table may have more rows."""
        return len(self.blueprint.vocabulary.tokens)

    def token_bytes(self, token: int) -> bytes:
        """The bytes of one id. They need not be whole characters."""
        if not 0 <= token < self.vocab_size:
            raise PromptError(f"id {token} is outside the vocabulary of {self.vocab_size} ids")
        return self.blueprint.vocabulary.token_bytes(token)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of several ids, end to end."""
        return b"".join(map(self.token_bytes, ids))

    def text(self, ids: Iterable[int]) -> str:
        """Ids as text for a reader: a byte that belongs to no character is written `\\xF0`. Never encode it again."""
        return view(self.decode_bytes(ids)).text

    def label(self, token: int) -> str:
        """One id outside any prompt: `⏎` a line break, `\\xE5\\xA4` part of a character, `#7` an id without bytes."""
        return readable(self.text([token])) or f"#{token}"

    def is_control(self, token: int) -> bool:
        """Whether the id steers the model instead of spelling text."""
        return token in self.blueprint.vocabulary.control_ids

    def single(self, text: str) -> int:
        """The one id of a text. UnsupportedError where it has several, or none."""
        ids = self.encode(text)
        if len(ids) != 1:
            raise UnsupportedError(f"banned text {text!r} is {len(ids)} ids; only single ids can be banned")
        return ids[0]

    def encode(self, text: str, *, control: bool = False) -> list[int]:
        """Ids of a text, without BOS. `control`: whether it may make control tokens (a template may, a user not)."""
        trusted = [(0, len(text))] if control else []
        return [piece.id for piece in self.pieces(text, trusted)]

    def pieces(self, text: str, trusted: Sequence[Range] = ()) -> list[Piece]:
        """Ids with the bytes of the text that each covers; control tokens only where wholly inside a trusted range.

        Between two control tokens trusted and untrusted text are one run, so harmless content gets the ids that it
        would get without the distinction. Raises PromptError for a lone surrogate, which has no bytes.
        """
        whole_characters(text)
        found: list[Piece] = []
        done = place = 0
        for match in self._controls_in(text, trusted):
            found += self._plain(text[done : match.start], done == 0, place)
            place += len(text[done : match.start].encode())
            end = place + len(text[match.start : match.end].encode())
            found.append(Piece(match.id, place, end))
            done, place = match.end, end
        return found + self._plain(text[done:], done == 0, place)

    def control_text(self, text: str) -> list[Match]:
        """Where a text spells control tokens, as characters start … end."""
        return list(self._finder.find(text))

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.blueprint.vocabulary.controls)

    def _controls_in(self, text: str, trusted: Sequence[Range]) -> list[Match]:
        return [
            Match(start + match.start, start + match.end, match.id)
            for start, end in trusted
            for match in self._finder.find(text[start:end])
        ]

    def _plain(self, text: str, opening: bool, place: int) -> list[Piece]:
        if not text:
            return []
        run = self.blueprint.codec.pieces(text, opening)
        for piece in run:
            if self.is_control(piece.id) and piece.id != self.unknown:
                raise UnsupportedError(
                    f"this tokenizer makes the control token {piece.id} from plain text {text[:40]!r}"
                )
        return [Piece(piece.id, piece.start + place, piece.end + place) for piece in run]


def whole_characters(text: str) -> bytes:
    """The UTF-8 of a text. Raises PromptError where half a character (a lone surrogate) stands."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PromptError(
            f"character {error.start} is half a surrogate pair (U+{ord(text[error.start]):04X}) and has no bytes",
            "read the text as UTF-8, or remove the character",
        ) from None
