"""A model, opened: text in, traces out. The one door through which everything above runs a model."""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from whybox import families, library
from whybox.engine import choice, machine, reuse
from whybox.engine.choice import NUMPY, Way
from whybox.engine.counterfactual import Swept, fresh_run, sweep
from whybox.engine.edit import Edit, check, edits_of, require_places
from whybox.engine.forgotten import outside_window, require_held
from whybox.engine.gradient import Gradient
from whybox.engine.likeness import require_like
from whybox.engine.one_head import pattern_of
from whybox.engine.read import Reading, require_reading
from whybox.engine.reuse import Asked
from whybox.engine.sampling import GREEDY, Decoding, choose, decodings
from whybox.engine.scoring import Scored, scored, weighed
from whybox.engine.trace import Answer, Change, Draft, Engine, Trace, Wish, changes_of
from whybox.engine.wishes import attention_wish, several, truth, whole
from whybox.engine.writing import Generated, Writing, any_of
from whybox.errors import PromptError, UsageError
from whybox.formats import GgufFile, WeightFile, open_weights
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.library import Progress
from whybox.spec import Spec
from whybox.statistics.rows import AttentionWish
from whybox.text import chat
from whybox.text import join as joining
from whybox.text import prompt as prompts
from whybox.text.prompt import Prompt
from whybox.text.tokenizer import Tokenizer
from whybox.weights import Weights

Array = np.ndarray
Promptable = Prompt | str | Case | CaseInstance | Sequence[int] | Sequence[Mapping[str, object]]


def open_model(
    name: str,
    engine: str = "auto",
    precision: str = "fp32",
    accept_keys: Collection[str] = (),
    allow_long: bool = False,
    progress: Progress | None = None,
    device: str = "auto",
    weights: str = "auto",
) -> "Model":
    """A model by alias, path or `hf:org/name`.

    engine: auto | numpy | torch. precision: fp32 | fp64, with torch also bf16 | int8 | fp16 (GPU only).
    accept_keys: config keys to wave through, which reports then say. device: auto | cpu | cuda | cuda:N.
    weights: held (decoded once, kept) | streamed (decoded from the file as they are used) | auto: held where they take
    at most half of the memory that is left.
    Raises UsageError, ModelNotFound, DownloadError, FormatError, LedgerError, UnsupportedError, CapacityError.
    """
    way = Way(engine, precision, device, weights=weights)
    choice.require_possible(way)
    file = open_weights(library.locate(name, progress=progress))
    spec, rules = families.describe(file, accept_keys)
    built = choice.build(spec, choice.source(file, spec, rules, way), way)
    file.release()
    machine.give_back()
    return Model(name, file, built.weights, _tokenizer(file).covering(spec.vocab), built.engine, way, allow_long)


def _tokenizer(file: WeightFile) -> Tokenizer:
    if isinstance(file, GgufFile):
        return Tokenizer.from_gguf(file.metadata)
    return Tokenizer.from_folder(Path(file.path))


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Weights, tokenizer and engine of one file."""

    name: str
    file: WeightFile
    weights: Weights
    tokenizer: Tokenizer
    engine: Engine
    way: Way = NUMPY
    allow_long: bool = False
    cached: bool = True

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.spec.family}, {len(self.spec.layers)} layers, {self.engine.precision}>"

    def variant(
        self,
        precision: str | None = None,
        cache: bool | None = None,
        chunk: int | None = None,
        batch: int | None = None,
        kernel: str | None = None,
        engine: str | None = None,
        padding: int | None = None,
    ) -> "Model":
        """The same weights run another way; what is left out stays as it is.

        precision, engine: as in `open_model`. cache: whether writing keeps keys and values. chunk: most tokens at once.
        batch: rows of the batch that a prompt is one of. kernel: auto | plain | tiled | sdpa. padding: rows by which a
        prompt is padded, beside one that is longer. Raises UsageError.
        """
        own, cached = self.way, self.cached if cache is None else truth("cache", cache)
        way = replace(
            own,
            engine=engine or own.engine,
            precision=precision or own.precision,
            kernel=kernel or own.kernel,
            chunk=own.chunk if chunk is None else chunk,
            batch=own.batch if batch is None else batch,
            padding=own.padding if padding is None else padding,
        )
        built = self.engine if way == self.way else choice.build(self.spec, self.weights, way).engine
        return replace(self, engine=built, way=way, cached=cached)

    def on_reference(self) -> "Model":
        """The same weights on the NumPy engine in float32, one prompt in one piece, whatever this one is."""
        return replace(self, engine=choice.build(self.spec, self.weights, NUMPY).engine, way=NUMPY)

    @property
    def spec(self) -> Spec:
        return self.engine.spec

    def prompt(self, what: Promptable) -> Prompt:
        """Ids, bytes, segments and spans of a text, a list of messages, a case (as itself, not a variant) or ids."""
        if isinstance(what, Prompt):
            return what
        if isinstance(what, str):
            return prompts.from_text(self.tokenizer, what)
        if isinstance(what, Case | CaseInstance):
            return self._of_case(what if isinstance(what, CaseInstance) else what.filled())
        given = list(what) if isinstance(what, Iterable) and not isinstance(what, bytes) else []
        messages = [message for message in given if isinstance(message, Mapping)]
        ids = [int(token) for token in given if isinstance(token, int | np.integer)]
        if ids and len(ids) == len(given):
            return prompts.from_ids(self.tokenizer, ids)
        if messages and len(messages) == len(given):
            return chat.from_messages(self.tokenizer, messages)
        raise PromptError("expected a text, a list of messages or a list of ids, found neither")

    def _of_case(self, case: CaseInstance) -> Prompt:
        if case.is_raw:
            return prompts.from_parts(self.tokenizer, case.raw_parts, case.join)
        turns = [{"role": message.role, "parts": message.parts} for message in case.messages]
        return chat.from_messages(self.tokenizer, turns, join=case.join)

    def run(
        self,
        what: Promptable,
        see: Iterable[Wish] = (),
        edits: Iterable[Edit] = (),
        tail: int | None = None,
        statistics: bool | AttentionWish = False,
        after: Trace | None = None,
    ) -> Trace:
        """One pass over a prompt. see: sites to keep. tail: compute `final` and `logits` for the last rows only.

        statistics: True for those of every layer's attention with a share for each segment of the prompt, or a wish.
        after: an earlier run of this model; what both texts begin with is taken over, and the trace begins behind it.
        Raises PromptError for an empty prompt or one beyond the trained context (unless allow_long), SiteError for a
        site, layer or index that does not exist, NonFiniteError where NaN or Inf first appears.
        """
        prompt, edits = self.prompt(what), edits_of(edits)
        self.require_fits(len(prompt.ids))
        require_places(edits, len(prompt.ids))
        rows = None if tail is None else whole("tail", tail, 1)
        asked = Asked(prompt.ids, see, edits, rows, len(prompt.ids), attention_wish(statistics, prompt))
        return replace(self._run(asked, after), prompt=prompt, label=self.tokenizer.label)

    def _run(self, asked: Asked, after: Trace | None) -> Trace:
        return reuse.run(self.engine, asked, after if self.cached else None)

    def pattern(self, trace: Trace, layer: int, head: int) -> Array:
        """One head's whole pattern [q k] of a run that kept none: made again, without a store for all heads.

        Costs one run of the prompt (nothing where the trace kept `query_pos` and `key_pos`). SiteError for a layer or
        head that does not exist, and for a run that began behind a cache.
        """
        require_like(trace, self.engine)
        return pattern_of(self.engine, self.weights, trace, layer, head)

    def require_fits(self, length: int) -> None:
        """PromptError for no token at all, and for more than the trained context (unless allow_long)."""
        if length == 0:
            raise PromptError("the prompt is empty", "give at least one token")
        if length > self.spec.context and not self.allow_long:
            raise PromptError(
                f"the prompt has {length} tokens, the trained context has {self.spec.context}",
                "shorten it, or pass --allow-long (allow_long=True) and read the result as beyond training",
            )

    def steps(
        self,
        what: Promptable,
        count: int,
        decoding: Decoding = GREEDY,
        edits: Iterable[Edit] = (),
        after: Trace | None = None,
    ) -> Iterator[tuple[int, Trace]]:
        """Generated ids one by one, each with the trace whose last row chose it. Edits hold at every step.

        after: an earlier run of this model; what both texts begin with is not computed again.
        Raises what `run` raises; SiteError too for an edit at a position beyond the last token that is read.
        """
        prompt, edits, (decoding,) = self.prompt(what), edits_of(edits), decodings(decoding, 1)
        generator = np.random.default_rng(decoding.seed)
        count = self._writable(prompt, count, edits)
        length, written = len(prompt.ids) + count, list(prompt.ids)
        trace = self._run(Asked(tuple(written), (), edits, 1, length), after)
        for done in range(count):
            chosen = choose(trace.logits[-1], decoding, generator, written)
            yield chosen, trace
            if chosen in self.tokenizer.stop_ids or done == count - 1:
                return
            written.append(chosen)
            fed, cache = ([chosen], trace.cache) if self.cached else (written, self.engine.fresh_cache(length))
            trace = self.engine.run(fed, (), edits, cache, tail=1)

    def _writable(self, prompt: Prompt, count: int, edits: tuple[Edit, ...]) -> int:
        """How many tokens will be written at most. SiteError for edits at positions never read, or at keys let go."""
        length = len(prompt.ids)
        self.require_fits(length)
        count = min(whole("count", count, 0), self.room(length))
        end = length + max(count - 1, 0)
        require_places(edits, end)
        if self.cached:
            require_held(outside_window(edits, range(length, end), self.spec))
        return count

    def room(self, length: int) -> int:
        """How many tokens can be written behind `length` others; the last one is chosen, and never read."""
        return sys.maxsize if self.allow_long else self.spec.context + 1 - length

    def generate(
        self,
        what: Promptable,
        count: int = 32,
        decoding: Decoding = GREEDY,
        edits: Iterable[Edit] = (),
        after: Trace | None = None,
    ) -> Generated:
        """Up to `count` tokens; greedy unless told, seeded otherwise. The stop token is not part of the text.

        after: an earlier run of this model; what both texts begin with is not computed again.
        """
        prompt, edits = self.prompt(what), edits_of(edits)
        steps = [(chosen, trace.changed) for chosen, trace in self.steps(prompt, count, decoding, edits, after)]
        changed = any_of([flags for _, flags in steps], edits)
        return self.generated(prompt, [chosen for chosen, _ in steps], changed)

    def generate_many(
        self,
        prompts: Iterable[Promptable],
        count: int = 32,
        decoding: Decoding | Sequence[Decoding] = GREEDY,
        edits: Iterable[Edit] = (),
    ) -> list[Generated]:
        """A text for each, in the same order, the engine's fastest way: prefixes that several share are computed once,
        the rest in batches. decoding: one for all (the seed too), or one for each.

        Logits are those of `generate` to the noise of other product shapes: in fp32 some 1e-5, so that texts are equal
        but for ties; in bf16, fp16, int8 and int4 a product rounds a row otherwise among other rows, so that a choice
        nearer than that may fall the other way, and the text go on otherwise from there. Equal prompts with the same
        decoding run once. Raises what `generate` raises, before anything runs.
        """
        read, edits = [self.prompt(each) for each in several("prompts", prompts)], edits_of(edits)
        each = decodings(decoding, len(read))
        for prompt in read:
            self._writable(prompt, count, edits)
        if not self.cached:
            return [self.generate(prompt, count, own, edits) for prompt, own in zip(read, each, strict=True)]
        written = self._written(tuple(zip([prompt.ids for prompt in read], each, strict=True)), count, edits)
        return [self.generated(prompt, *found) for prompt, found in zip(read, written, strict=True)]

    def _written(
        self, asked: Sequence[tuple[tuple[int, ...], Decoding]], count: int, edits: tuple[Edit, ...]
    ) -> list[tuple[list[int], tuple[bool, ...]]]:
        """The ids behind each, and what edits changed; what is asked twice runs once, what may write nothing never."""
        nothing: tuple[list[int], tuple[bool, ...]] = ([], any_of([], edits))
        known = dict.fromkeys(asked, nothing)
        keys = [key for key in known if min(count, self.room(len(key[0]))) > 0]
        drafts = [Draft(ids, min(count, self.room(len(ids))), edits) for ids, _ in keys]
        writing = Writing(drafts, [decoding for _, decoding in keys], self.tokenizer.stop_ids)
        changed = self.engine.write(drafts, writing)
        known.update(zip(keys, zip(writing.written, changed, strict=True), strict=True))
        return [known[key] for key in asked]

    def generated(self, prompt: Prompt, ids: Sequence[int], changed: tuple[bool, ...] = ()) -> Generated:
        """What was written behind a prompt, of the ids that were chosen."""
        stopped = bool(ids) and ids[-1] in self.tokenizer.stop_ids
        written = ids[:-1] if stopped else ids
        whole = prompts.extend(self.tokenizer, prompt, written) if written else prompt
        return Generated(tuple(written), self.tokenizer.text(written), whole, stopped, changed)

    def score(self, what: Promptable, answer: str, edits: Iterable[Edit] = ()) -> Scored:
        """log P(answer | prompt) in nats, joined on bytes: prompt and answer are encoded as one text.

        Where the joint encoding changes the prompt's last ids, scoring starts at the last id both agree on.
        """
        edits = edits_of(edits)
        return self._scored_alone(self._answer(what, answer, edits), edits)

    def score_many(
        self, prompts: Iterable[Promptable], answers: Iterable[str], edits: Iterable[Edit] = ()
    ) -> list[Scored]:
        """What `score` gives for each prompt with its answer, the engine's fastest way: prefixes that several share
        (one prompt with many answers, one context with many questions) are computed once, the rest in batches.

        Edited texts share nothing, and run one by one. Raises what `score` raises, before anything runs.
        """
        read, written, edits = several("prompts", prompts), several("answers", answers), edits_of(edits)
        if len(read) != len(written):
            raise UsageError(f"expected an answer for each of {len(read)} prompts, found {len(written)}")
        asked = [self._answer(prompt, answer, edits) for prompt, answer in zip(read, written, strict=True)]
        if edits:
            return [self._scored_alone(each, edits) for each in asked]
        distinct = list(dict.fromkeys(asked))
        known = {distinct[index]: weighed(rows, distinct[index]) for index, rows in self.engine.answer_rows(distinct)}
        return [known[each] for each in asked]

    def _scored_alone(self, asked: Answer, edits: tuple[Edit, ...]) -> Scored:
        return scored(self.engine.run(asked.ids, (), edits, tail=asked.rows + 1), asked.ids, asked.start)

    def _answer(self, what: Promptable, answer: str, edits: tuple[Edit, ...]) -> Answer:
        ids, start = self.join(self.prompt(what), answer)
        if start == len(ids):
            raise PromptError("the answer is empty: it has no token to score", "give the text of an answer")
        if start == 0:
            raise PromptError("the answer's first token has no token before it", "give a prompt of at least one token")
        self.require_fits(len(ids))
        require_places(edits, len(ids))
        return Answer(ids, start)

    def join(self, prompt: Prompt, answer: str) -> tuple[tuple[int, ...], int]:
        """Ids of prompt + answer as one text, and the first index that is not the prompt's own."""
        return joining.join(self.tokenizer, prompt, answer)

    def sweep(
        self,
        trace: Trace,
        changes: Iterable[Change],
        read: Callable[[Trace], float | Array],
        see: Iterable[Wish] = (),
    ) -> Swept:
        """`read` of each counterfactual: the base run's ids and edits, changed. The engine makes them its fastest way.

        see: sites that the read wants. `Swept.floor` measures how far the reads are from those of fresh runs.
        """
        require_like(trace, self.engine)
        require_reading(read)
        chosen = changes_of(changes)
        for change in chosen:
            self.require_possible(trace.ids, change)
        return sweep(self.engine, trace, chosen, lambda run: read(replace(run, label=trace.label)), see)

    def gradient(self, trace: Trace, read: Reading, sites: Iterable[Wish]) -> Gradient:
        """∂read/∂site at some sites of a run, its edits held; read: one number of the run (`whybox.engine.read`).

        For the answer of several tokens, run prompt and answer together. Engine: torch. Raises UsageError for a read
        that is no single number, SiteError for a site that does not exist, NonFiniteError for NaN or Inf.
        """
        require_like(trace, self.engine)
        self.require_fits(len(trace.ids))
        return self.engine.gradient(trace, read, sites)

    def changed(self, trace: Trace, change: Change, see: Iterable[Wish] = ()) -> Trace:
        """One counterfactual, as a fresh run."""
        require_like(trace, self.engine)
        (change,) = changes_of([change])
        self.require_possible(trace.ids, change)
        return replace(fresh_run(self.engine, trace, change, see), label=trace.label)

    def require_possible(self, base: tuple[int, ...], change: Change) -> None:
        """PromptError or SiteError for a counterfactual of these ids that this model cannot run."""
        length = len(change.text(base))
        self.require_fits(length)
        change.require_known(self.spec.vocab)
        for edit in change.edits:
            check(edit, self.spec)
        require_places(change.edits, length)
