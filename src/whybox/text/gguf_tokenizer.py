"""A tokenizer from the metadata of a GGUF file (`tokenizer.ggml.*`)."""

from collections.abc import Iterable, Sequence

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from whybox.errors import FormatError, UnsupportedError
from whybox.text import pretokenizers
from whybox.text.blueprint import Blueprint, Specials, stop_ids
from whybox.text.codec import Codec, LibraryCodec
from whybox.text.gguf_metadata import Kind, Metadata, flag, items, token_id, token_kinds, token_scores, value
from whybox.text.sentencepiece import SentencePieceCodec
from whybox.text.vocabulary import SPACE_MARK, Control, Finder, Spelling, Vocabulary, looks_like_control


def read(metadata: Metadata) -> Blueprint:
    """The blueprint that `tokenizer.ggml.model` asks for: gpt2, llama, t5 or bert."""
    match value(metadata, "model", str):
        case "gpt2":
            return _byte_level(metadata)
        case "llama":
            return _sentencepiece(metadata)
        case "t5":
            return _unigram(metadata)
        case "bert":
            return _word_piece(metadata)
        case None:
            raise FormatError("GGUF", "tokenizer.ggml.model", "a tokenizer", "none", "open a file that holds one")
        case other:
            raise UnsupportedError(f"tokenizer.ggml.model is {other!r}; known: bert, gpt2, llama, t5")


def _byte_level(metadata: Metadata) -> Blueprint:
    label = value(metadata, "pre", str)
    rule = pretokenizers.by_label(label or "default")
    vocabulary, kinds = _vocabulary(metadata, Spelling.BYTE_LEVEL), token_kinds(metadata)
    merges = [_pair(merge) for merge in items(metadata, "merges", str)]
    try:
        model = models.BPE(_plain_ids(vocabulary), merges, ignore_merges=rule.whole_first)
    except Exception as error:  # the library raises bare Exception
        raise FormatError(
            "GGUF", "tokenizer.ggml.merges", "pairs of tokens whose union is a token", str(error)
        ) from error
    library = tokenizers.Tokenizer(model)
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in rule.patterns),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    _add_user_defined(library, vocabulary, kinds)
    notes = () if label else ("the file states no tokenizer.ggml.pre: the rule `default` was used, ids may be wrong",)
    codec = LibraryCodec(library, library, vocabulary.token_bytes, exact=True)
    return _blueprint(metadata, vocabulary, codec, rule.add_bos, notes)


def _sentencepiece(metadata: Metadata) -> Blueprint:
    vocabulary, kinds = _vocabulary(metadata, Spelling.SPACE_MARK), token_kinds(metadata)
    scores = token_scores(metadata)
    bytes_by_id = [token for token, kind in enumerate(kinds) if kind == Kind.BYTE]
    ids = _plain_ids(vocabulary, without=bytes_by_id)
    whole = [
        Control(vocabulary.tokens[token].replace(SPACE_MARK, " "), token) for token in _user_defined(vocabulary, kinds)
    ]
    codec = SentencePieceCodec(
        ids=ids,
        cost={piece: -scores[token] for piece, token in ids.items()},
        byte_ids={vocabulary.token_bytes(token)[0]: token for token in bytes_by_id},
        unknown=value(metadata, "unknown_token_id", int),
        whole=Finder(whole),
        space_prefix=flag(metadata, "add_space_prefix", True),
    )
    return _blueprint(metadata, vocabulary, codec, add_bos=True)


def _unigram(metadata: Metadata) -> Blueprint:
    vocabulary, kinds = _vocabulary(metadata, Spelling.SPACE_MARK), token_kinds(metadata)
    # A control token must not be found in plain text, so its place in the list holds what no text holds.
    hidden = {token: f"\U0010ffff{token}" for token in vocabulary.control_ids}
    scored = zip(vocabulary.tokens, token_scores(metadata), strict=True)
    pieces = [(hidden.get(token, piece), score) for token, (piece, score) in enumerate(scored)]
    library = tokenizers.Tokenizer(
        models.Unigram(pieces, value(metadata, "unknown_token_id", int), byte_fallback=Kind.BYTE in kinds)
    )
    steps: list[normalizers.Normalizer] = []
    if charsmap := items(metadata, "precompiled_charsmap", int):
        steps.append(normalizers.Precompiled(bytes(byte & 255 for byte in charsmap)))
    if flag(metadata, "remove_extra_whitespaces", False):
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    library.normalizer = normalizers.Sequence(steps)
    scheme = "always" if flag(metadata, "add_space_prefix", True) else "never"
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    _add_user_defined(library, vocabulary, kinds)
    codec = LibraryCodec(library, library, vocabulary.token_bytes, exact=False)
    return _blueprint(metadata, vocabulary, codec, add_bos=False)


def _word_piece(metadata: Metadata) -> Blueprint:
    """GGUF writes `▁` before a word's first piece, WordPiece `##` before the others."""
    written = _vocabulary(metadata, Spelling.WORD_PIECE)
    tokens = [
        text if token in written.control_ids else text[1:] if text.startswith(SPACE_MARK) else f"##{text}"
        for token, text in enumerate(written.tokens)
    ]
    vocabulary = Vocabulary(tokens, Spelling.WORD_PIECE, written.controls, written.literal)
    unknown = value(metadata, "unknown_token_id", int)
    # The library asks for the unknown token by its text, so that one stays; the splitter cuts its brackets off in text.
    ids = _plain_ids(vocabulary) | ({} if unknown is None else {tokens[unknown]: unknown})
    name = "[UNK]" if unknown is None else tokens[unknown]
    library = tokenizers.Tokenizer(models.WordPiece(ids, unk_token=name, max_input_chars_per_word=100))
    lowercase = flag(metadata, "normalizer.lowercase", True)
    library.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=lowercase)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    codec = LibraryCodec(library, library, vocabulary.token_bytes, exact=False)
    return _blueprint(metadata, vocabulary, codec, add_bos=True)


def _blueprint(
    metadata: Metadata, vocabulary: Vocabulary, codec: Codec, add_bos: bool, notes: tuple[str, ...] = ()
) -> Blueprint:
    bos, cls, eos, pad, unknown, eot, eom = (
        token_id(metadata, f"{name}_token_id", len(vocabulary.tokens))
        for name in ("bos", "cls", "eos", "padding", "unknown", "eot", "eom")
    )
    bos = cls if bos is None else bos
    specials = Specials(
        bos=bos,
        eos=eos,
        pad=pad,
        unknown=unknown,
        add_bos=flag(metadata, "add_bos_token", add_bos) and bos is not None,
        stop=stop_ids(vocabulary, eos, eot, eom),
    )
    named = {"bos_token": bos, "eos_token": eos, "pad_token": pad, "unk_token": unknown}
    names = {name: vocabulary.tokens[token] for name, token in named.items() if token is not None}
    template = metadata.get("tokenizer.chat_template")
    return Blueprint(vocabulary, codec, specials, template if isinstance(template, str) else None, names, notes)


def _vocabulary(metadata: Metadata, spelling: Spelling) -> Vocabulary:
    tokens, kinds = items(metadata, "tokens", str), token_kinds(metadata)
    # Phi-3's chat tokens swallow the blanks after them. The file does not say so; only its vocabulary has this name.
    swallow = "<|placeholder1|>" in tokens
    plain = {"<unk>", "<s>", "<|endoftext|>"}
    controls = tuple(
        Control(tokens[token], token, strip_right=swallow and tokens[token] not in plain)
        for token, kind in enumerate(kinds)
        if kind != Kind.NORMAL and _steers(tokens[token], kind)
    )
    literal = {control.id for control in controls}
    if spelling is Spelling.BYTE_LEVEL:
        literal |= {token for token, kind in enumerate(kinds) if kind == Kind.USER_DEFINED}
    return Vocabulary(tokens, spelling, controls, frozenset(literal))


def _steers(text: str, kind: int) -> bool:
    return kind in (Kind.CONTROL, Kind.UNKNOWN) or (kind == Kind.USER_DEFINED and looks_like_control(text))


def _plain_ids(vocabulary: Vocabulary, without: Iterable[int] = ()) -> dict[str, int]:
    ids = {text: token for token, text in enumerate(vocabulary.tokens)}
    for token in (*vocabulary.control_ids, *without):
        if ids.get(vocabulary.tokens[token]) == token:
            del ids[vocabulary.tokens[token]]
    return ids


def _user_defined(vocabulary: Vocabulary, kinds: Sequence[int]) -> list[int]:
    return [t for t, kind in enumerate(kinds) if kind == Kind.USER_DEFINED and t not in vocabulary.control_ids]


def _add_user_defined(library: tokenizers.Tokenizer, vocabulary: Vocabulary, kinds: Sequence[int]) -> None:
    texts = [vocabulary.tokens[token] for token in _user_defined(vocabulary, kinds)]
    library.add_tokens([AddedToken(text, normalized=False, special=False) for text in texts if text])


def _pair(merge: str) -> tuple[str, str]:
    left, blank, right = merge.partition(" ")
    if not (left and blank and right):
        raise FormatError("GGUF", "tokenizer.ggml.merges", "two tokens with a space between", repr(merge[:40]))
    return left, right
