"""What only a model of this machine shows: where NaN first appears, how far its own ways of computing lie apart."""

import numpy as np

from whybox.engine.trace import Answer
from whybox.errors import NonFiniteError, WhyboxError
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.jobs.doctor.examiner import check
from whybox.model import Model
from whybox.report.document import DoctorCheck
from whybox.targets.local import LocalTarget
from whybox.targets.target import chat
from whybox.text.prompt import Code, Prompt

SENTENCES = 12
NEIGHBOURS = 4
MOST = 128  # tokens


def checks(target: LocalTarget, seed: int) -> list[DoctorCheck]:
    """Finite values, repeats, batches, cache, the other engine; template, BOS and context as the file says them."""
    model = target.model
    prompt = _prompt(model, seed)
    found, base = _repeated(model, prompt)
    if base is not None:
        found.append(check("batch", "note", "moved", {"moved": _batch_gap(model, prompt), "neighbours": NEIGHBOURS}))
        found.append(check("cache", "note", "moved", {"moved": _cache_gap(model, prompt, base)}))
        found += _other_engine(model, prompt, base)
    return [*found, *_read(target)]


def short_checks(target: LocalTarget, seed: int) -> list[DoctorCheck]:
    """Finite values, a repeat, and what stands in the file: two runs in all."""
    return [*_repeated(target.model, _prompt(target.model, seed))[0], *_read(target)]


def _repeated(model: Model, prompt: Prompt) -> tuple[list[DoctorCheck], np.ndarray | None]:
    """Whether all values are finite, and come again; the last row of logits, None where they are not."""
    try:
        base = model.run(prompt, tail=1).logits[-1]
    except NonFiniteError as error:
        where: dict[str, int | float | str] = {"site": error.site, "position": error.position}
        if error.layer is not None:
            where["layer"] = error.layer
        return [check("finite", "fault", "first", where, error.before)], None
    found = [check("finite", "yes", "all", {"tokens": len(prompt.ids), "largest": float(np.abs(base).max())})]
    again = model.run(prompt, tail=1).logits[-1]
    same = bool(np.array_equal(base, again))
    found.append(
        check("repeat", "yes" if same else "no", "bit_equal" if same else "differs", {"moved": _gap(base, again)})
    )
    return found, base


def _prompt(model: Model, seed: int) -> Prompt:
    drawn = draw_fillers(np.random.default_rng(seed), "en")
    whole = model.prompt(joiner("en").join(sentence for sentence, _ in zip(drawn, range(SENTENCES), strict=False)))
    return model.prompt(whole.ids[: min(MOST, model.spec.context // 2)])


def _gap(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def _batch_gap(model: Model, prompt: Prompt) -> float:
    """Largest |Δ logit| of the last row alone and among neighbours that share nothing with it."""
    ids = prompt.ids
    texts = [ids, *(ids[k:] for k in range(1, 1 + NEIGHBOURS))]
    rows = dict(model.engine.answer_rows([Answer(text, len(text) - 1) for text in texts]))
    alone = dict(model.engine.answer_rows([Answer(ids, len(ids) - 1)]))
    return _gap(rows[0][-1], alone[0][-1])


def _cache_gap(model: Model, prompt: Prompt, base: np.ndarray) -> float:
    """Largest |Δ logit| of the last row computed at once and behind a cache of all before it."""
    ids = prompt.ids
    before = model.engine.run(ids[:-1], (), (), model.engine.fresh_cache(len(ids)), tail=1)
    return _gap(base, model.engine.run(ids[-1:], (), (), before.cache, tail=1).logits[-1])


def _other_engine(model: Model, prompt: Prompt, base: np.ndarray) -> list[DoctorCheck]:
    """The fast engine against the reference in fp32."""
    if model.engine.name == "numpy":
        return []
    try:
        reference = model.variant(engine="numpy", precision="fp32", kernel="auto").run(prompt, tail=1).logits[-1]
    except WhyboxError as error:
        return [check("engine", "skipped", "no_reference", quote=error.cause)]
    return [check("engine", "note", "moved", {"moved": _gap(base, reference), "precision": model.engine.precision})]


def _read(target: LocalTarget) -> list[DoctorCheck]:
    """What stands in the file: context, template, what it says that nobody typed, BOS."""
    model = target.model
    found = [check("context", "yes", "trained", {"tokens": model.spec.context})]
    if model.tokenizer.chat_template is None:
        return [*found, check("template", "no", "none")]
    prompt = target.prompt(chat("Hello"))
    typed = [notice for notice in prompt.warnings if notice.code is Code.NOT_TYPED]
    found.append(
        check("added", "note", "system_text", {"prompt": len(prompt.ids)}, typed[0].message)
        if typed
        else check("added", "yes", "nothing", {"prompt": len(prompt.ids)})
    )
    twice = prompt.ids[:2] == (model.tokenizer.bos,) * 2
    found.append(check("bos", "fault" if twice else "yes", "twice" if twice else "once", {"id": prompt.ids[0]}))
    return found
