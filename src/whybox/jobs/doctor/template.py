"""Between the request and the model: is the system text read, is text added, BOS doubled, the answer wrapped?"""

import numpy as np

from whybox.items.generate import generate
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.scoring import code_scorer
from whybox.jobs.doctor.examiner import Examiner, check
from whybox.report.document import DoctorCheck
from whybox.targets.target import Reply, Request, Sampling, chat

SENTENCES = (4, 16)  # of two system texts whose counts are compared
SHORTEST_SYSTEM = "."
FEW = 3  # tokens that a system turn takes beyond its text, at least


async def system(examiner: Examiner) -> DoctorCheck:
    """A code that only the system message holds, asked back; and whether a longer system message counts for more."""
    item = generate("keyvalue", examiner.language, 1, examiner.seed, len, size=1)[0]
    code, question = item.facts[0], item.instance.parts[-1].text
    reply = await examiner.ask(Request(chat(question, code.sentence), Sampling(max_tokens=24)))
    if reply is not None and code_scorer(code.value).score(reply.text).right:
        return check("system", "yes", "read")
    short, long = [await _counted(examiner, _filler(examiner, n)) for n in SENTENCES]
    if short is None or long is None:
        return check("system", "unknown", "not_told", quote=None if reply is None else reply.text)
    numbers = {"short": short, "long": long}
    return check("system", "fault", "dropped", numbers) if long <= short else check("system", "yes", "counted", numbers)


def _filler(examiner: Examiner, sentences: int) -> str:
    drawn = draw_fillers(np.random.default_rng(examiner.seed), examiner.language)
    return joiner(examiner.language).join(sentence for sentence, _ in zip(drawn, range(sentences), strict=False))


async def _counted(examiner: Examiner, system: str | None) -> int | None:
    """Tokens of a prompt with this system text, as the target counts them; its ids where it shows them."""
    prompt = chat("Hello", system)
    ids = await examiner.target.ids(prompt)
    if ids is not None:
        return len(ids)
    reply = await examiner.ask(Request(prompt, Sampling(max_tokens=1)))
    return None if reply is None or reply.usage is None else reply.usage.prompt


async def added(examiner: Examiner) -> DoctorCheck:
    """A prompt without a system message must be shorter than the same with the shortest one."""
    without, shortest = await _counted(examiner, None), await _counted(examiner, SHORTEST_SYSTEM)
    if without is None or shortest is None:
        return check("added", "unknown", "not_told")
    if without >= shortest:
        return check("added", "note", "system_text", {"tokens": without - shortest + 1, "prompt": without})
    return check("added", "yes", "nothing", {"prompt": without})


async def bos(examiner: Examiner) -> DoctorCheck:
    """Two equal ids at the start of a chat, and not at the start of its content, are a doubled BOS."""
    ids = await examiner.target.ids(chat("Hello"))
    if ids is None:
        return check("bos", "unknown", "hidden")
    if len(ids) > 1 and ids[0] == ids[1]:
        return check("bos", "fault", "twice", {"id": ids[0]})
    return check("bos", "yes", "once", {"id": ids[0]} if ids else {})


def fenced(replies: list[Reply]) -> DoctorCheck:
    """Short answers that all come in a fence are wrapped by somebody who was not asked to."""
    wrapped = sum(reply.text.lstrip().startswith("```") for reply in replies)
    if replies and wrapped == len(replies):
        return check("fence", "fault", "always", {"calls": len(replies)}, replies[0].text)
    return check("fence", "yes", "none", {"wrapped": wrapped, "calls": len(replies)})
