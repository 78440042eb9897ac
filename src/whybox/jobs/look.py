"""`look`: what every head does on one prompt."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from whybox.errors import CaseError, PromptError, SiteError
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.items.question import question_of
from whybox.jobs.look_diagnoses import not_said, said
from whybox.jobs.look_document import Found, Told, document
from whybox.jobs.look_payload import HeadAt, opened, payload
from whybox.jobs.shown import Shown
from whybox.measure import dilution
from whybox.measure.diagnosis import diagnose
from whybox.measure.heads import heads_of
from whybox.measure.looking import Looked, look_at
from whybox.measure.probe import probe
from whybox.measure.subject import of_run
from whybox.model import Model
from whybox.report.document import Dilution, DilutionPoint, Lang, LookDocument, LookPayload
from whybox.report.draw import HeadAt as DrawnHead
from whybox.report.draw import look_picture
from whybox.report.html import look_page
from whybox.report.html.page import framed
from whybox.text.prompt import Prompt

ANSWER_TOKENS = 32  # of an answer, where the case states none


@dataclass(frozen=True)
class LookOptions:
    """open: heads whose exact rows the page can show, as (layer, head); none: the clearest of each class.

    dilution: a segment whose share is followed as the context grows. seed: of the probe and the filler.
    title, command: what the report repeats.
    """

    open: tuple[HeadAt, ...] = ()
    dilution: str | None = None
    seed: int = 0
    lang: Lang = "en"
    title: str = ""
    command: str = ""


@dataclass(frozen=True, eq=False)
class LookResult:
    """The document, and what a page needs besides: `payload` runs a few layers of the prompt once more."""

    document: LookDocument
    looked: Looked

    def payload(self) -> LookPayload:
        """Queries and keys of the opened heads."""
        return payload(self.looked, self.document.opened)

    def head(self, layer: int, head: int) -> Shown:
        """One head's map alone: row by row where the page opens it, else pooled. UsageError where there is none."""
        opened = any((each.layer, each.head) == (layer, head) for each in self.document.opened)
        exact = self.payload() if opened else LookPayload()
        return Shown(look_picture(self.document, exact, DrawnHead(layer, head), self.document.lang))

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        return framed(look_page(self.document, self.payload(), self.document.lang))


def _nobody(_done: int, _all: int) -> None:
    pass


def look(
    model: Model,
    what: Prompt | Case,
    options: LookOptions = LookOptions(),
    tell: Callable[[int, int], None] = _nobody,
) -> LookResult:
    """Look at a prompt, or at a case with its evidence. tell: tokens done, of all.

    Raises PromptError for a single token, for too many, for a segment that does not exist and for evidence beyond the
    context; SiteError for a head that does not exist.
    """
    began = time.monotonic()
    case = what.filled() if isinstance(what, Case) else None
    prompt = model.prompt(what)
    evidence = _evidence(model, prompt, case)
    _require_heads(model, options.open)
    if options.dilution is not None:
        dilution.subject(prompt, options.dilution)
    looked = look_at(model, prompt, tell)
    probed = probe(model, seed=options.seed)
    heads = heads_of(looked, probed)
    wrong = None if case is None else _wrong(model, prompt, case)
    subject = of_run(looked, heads, evidence, wrong, None if case is None else question_of(case))
    found = Found(
        looked=looked,
        probed=probed,
        heads=heads,
        diagnoses=tuple(said(model.file.digest(), each, options.lang) for each in diagnose(subject)),
        not_said=tuple(not_said(subject, options.lang)),
        dilution=_dilution(model, prompt, options, tell),
        opened=opened(looked, heads, options.open),
    )
    told = Told(
        title=options.title or (case.id if case else ""),
        evidence=evidence,
        seed=options.seed,
        lang=options.lang,
        command=options.command,
        took_s=time.monotonic() - began,
    )
    return LookResult(document(found, told), looked)


def _dilution(model: Model, prompt: Prompt, options: LookOptions, tell: Callable[[int, int], None]) -> Dilution | str:
    if options.dilution is None:
        return "not asked for"
    points = tuple(
        DilutionPoint(
            tokens=each.tokens,
            share=each.share,
            lift=each.lift,
            lift_reason=None if each.lift is not None else "every head gives the sink more than .3 at the decision",
            brightest_layer=each.brightest[0],
            brightest_head=each.brightest[1],
            brightest_share=each.brightest_share,
            beyond_training=each.tokens > model.spec.context,
        )
        for each in dilution.dilute(model, prompt, options.dilution, tell, options.seed)
    )
    return Dilution(segment=options.dilution, points=points, trained=model.spec.context)


def _wrong(model: Model, prompt: Prompt, case: CaseInstance) -> bool:
    """Whether what the model writes is scored as anything but right."""
    written = model.generate(prompt, case.decoding.max_tokens or ANSWER_TOKENS)
    return not case.scorer().score(written.text).right


def _evidence(model: Model, prompt: Prompt, case: CaseInstance | None) -> tuple[str, ...]:
    """The case's evidence: parts that own tokens, within the trained context unless more is allowed."""
    names = case.evidence if case else ()
    for name in names:
        segment = prompt.segment(name)
        if segment.start == segment.end:
            raise CaseError(f"evidence {name!r} owns no token of this prompt", "give it a text of its own")
        if segment.end > model.spec.context and not model.allow_long:
            raise PromptError(
                f"evidence {name!r} lies at tokens {segment.start} … {segment.end - 1}, outside the trained context of "
                f"{model.spec.context}",
                "move it forward or shorten the prompt, or pass --allow-long (allow_long=True)",
            )
    return tuple(names)


def _require_heads(model: Model, heads: tuple[HeadAt, ...]) -> None:
    for layer, head in heads:
        if not 0 <= layer < len(model.spec.layers):
            raise SiteError(f"no layer {layer}: this model has layers 0 … {len(model.spec.layers) - 1}")
        count = model.spec.layers[layer].attention.heads
        if not 0 <= head < count:
            raise SiteError(f"layer {layer} has no head {head}", f"its heads: 0 … {count - 1}")
