"""Faults of what is fed: BOS, end of text, padding, templates, tokenizers. The weights are sound on both sides."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from bench.mutations.ours import ROWS, against
from bench.mutations.row import Planted, Row
from bench.mutations.subjects import model_of
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.prompts import Text
from whybox.compare.sides import Live
from whybox.model import Model
from whybox.text.tokenizer import Tokenizer

PLAIN = "The capital of France is"
MARKED = "<|im_start|>user\nHow long?<|im_end|>\n"
WIDE = "Room ① costs ５ dollars"
Refed = Callable[[Model, tuple[int, ...]], tuple[int, ...]]
FED = "ids and text"
TEMPLATES = "both tokenizers"
UNDONE = "Undoing it gives the other side's ids, one by one."


def _bos(model: Model) -> int:
    assert model.tokenizer.bos is not None
    return model.tokenizer.bos


def _eos(model: Model) -> int:
    assert model.tokenizer.eos is not None
    return model.tokenizer.eos


def _believed(model: Model, ids: tuple[int, ...]) -> tuple[int, ...]:
    """A user's text that makes control tokens."""
    return tuple(model.tokenizer.encode(model.tokenizer.text(ids), control=True))


def _encoded(change: Callable[[str], str]) -> Refed:
    return lambda model, ids: tuple(model.prompt(change(model.tokenizer.text(ids))).ids)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _by_characters(model: Model, ids: tuple[int, ...]) -> tuple[int, ...]:
    """A tokenizer that forgot its merges, from the second word on."""
    rest = model.tokenizer.text(ids[1:])
    return (ids[0], *(token for letter in rest for token in model.tokenizer.encode(letter)))


REFED: tuple[tuple[str, str, str, Refed, str], ...] = (
    ("gemma3-270m", "no BOS", PLAIN, lambda model, ids: ids[1:], "BOS on the first side alone"),
    ("gemma3-270m", "two BOS", PLAIN, lambda model, ids: (_bos(model), *ids), "BOS twice on the second side"),
    ("smollm2", "BOS where none belongs", PLAIN, lambda m, ids: (_bos(m), *ids), "BOS on the second side alone"),
    ("smollm2", "end of text behind the prompt", PLAIN, lambda m, ids: (*ids, _eos(m)), "an end of text behind"),
    ("smollm2", "seven pads before the text", PLAIN, lambda m, ids: (_eos(m),) * 7 + ids, "7 × "),
    ("smollm2", "first tokens cut off", PLAIN, lambda model, ids: ids[2:], "the first 2 tokens are cut off"),
    ("smollm2", "control tokens made of a user's text", MARKED, _believed, "control tokens spelled as ordinary"),
    ("smollm2", "a blank before the text", PLAIN, _encoded(lambda text: f" {text}"), "a blank before the text"),
    ("smollm2", "text normalised", WIDE, _encoded(_nfkc), "the text normalised to NFKC"),
    ("smollm2", "no merges", PLAIN, _by_characters, "the same text cut into other tokens"),
    ("smollm2", "rows of the vocabulary shifted", PLAIN, lambda m, ids: tuple(i + 1 for i in ids), "every id +1"),
)  # fmt: skip
TEMPLATE: tuple[tuple[str, Callable[[str], str], str], ...] = (
    (
        "answer not opened",
        lambda text: text.replace("add_generation_prompt", "false"),
        "the answer is not opened on the second side",
    ),
    (
        "no default system message",
        lambda text: text.replace("loop.first and messages[0]['role'] != 'system'", "false"),
        "a system message",
    ),
    ("one line break more", lambda text: text.replace("'<|im_end|>' + ", "'<|im_end|>' + '\\n' + "), "blanks differ"),
)


def rows() -> Iterator[Row]:
    """All of them."""
    for name, what, text, change, said in REFED:
        planted = Planted(what, (said,), UNDONE, by="feeding", silent=what == "two BOS")
        yield Row(name, "single", planted, FED, partial(_refed, name, text, change))
    for what, rewritten, said in TEMPLATE:
        planted = Planted(f"template: {what}", (said,), "Ours rendered so gives the other side's text.", by="feeding")
        yield Row("smollm2", "single", planted, TEMPLATES, partial(_with_template, "smollm2", rewritten))


def _refed(name: str, text: str, change: Refed) -> Comparison:
    model = model_of(name)
    shown = Live("theirs", model).observe(change(model, tuple(model.prompt(text).ids)), ROWS)
    return against(name, shown, text)


def _with_template(name: str, rewritten: Callable[[str], str]) -> Comparison:
    model = model_of(name)
    blueprint = model.tokenizer.blueprint
    assert blueprint.chat_template is not None
    template = rewritten(blueprint.chat_template)
    assert template != blueprint.chat_template
    other = replace(model, tokenizer=Tokenizer(replace(blueprint, chat_template=template)))
    asked = Asked((Text("capital", tuple(model.prompt(PLAIN).ids), PLAIN),), 0)
    return compare(Live(name, model), Live("theirs", other), asked)
