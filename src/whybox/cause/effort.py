"""The stages behind the verdict's own: what quick effort screens and verifies, and what full effort adds.

quick   every head and MLP taken out at the decision, the 20 strongest verified with values of other prompts
full    the context, three ablations side by side, self-repair, pairs, minimal sets, segments in every way, gradients
"""

from whybox.cause import full as f
from whybox.cause import full_stages as act
from whybox.cause.bench import Work
from whybox.cause.context import EXACT, MANY, MASKS, MORE_MASKS, MOST_LEFT_OUT, RANDOM, TOPS, UNSEEN
from whybox.cause.flipping import RUNS as SET_RUNS
from whybox.cause.floor import runs as noise_runs
from whybox.cause.null import DRAWS as NULL
from whybox.cause.null import FEWEST
from whybox.cause.pairs import PARTS, SHOWN
from whybox.cause.screen import DRAWS, TOP, parts_of
from whybox.cause.spans import stretches
from whybox.cause.stages import Stage
from whybox.cause.study import Study
from whybox.engine.ablation import REFERENCES

_ABLATIONS = 1 + 1 + DRAWS  # zero, mean, resample
_CHOICES = 8  # sets C of a part's conditional effect: of the top three, and the rest of its layer


def quick_stages(study: Study) -> list[Stage]:
    """Behind the stages of the verdict."""
    reads = 2 + parts_of(study.bench.model.spec) + DRAWS + DRAWS * TOP
    return [Stage("heads and MLPs", Work(reads), act.screened)]


def full_stages(study: Study) -> list[Stage]:
    """Behind those of quick effort. Runs are upper bounds."""
    spec = study.bench.model.spec
    parts, layers, most = parts_of(spec), len(spec.layers), max(layer.attention.heads for layer in spec.layers)
    heads = parts - layers
    ablated = min(parts, f.TOP * most + layers)
    repaired = min(heads, f.HEADS * most)
    pairs = PARTS * (PARTS - 1) // 2
    return [
        Stage("context", Work(1 + noise_runs(study.bench.model) + _masks(study)), act.context),
        Stage("candidates", Work(parts + layers + 4 * heads), act.ranked),
        Stage("three ablations", Work(REFERENCES + _ABLATIONS * ablated), act.ablations),
        Stage("self-repair", Work((3 + _CHOICES) * repaired + _CHOICES + 3 + NULL), act.repaired),
        Stage("pairs", Work(PARTS + pairs + SHOWN * (1 + NULL)), act.paired),
        Stage("minimal sets", Work(3 * (SET_RUNS + 1) + 2 * heads, 3), act.sets),
        Stage("segments in every way", Work(_knockouts(study)), act.segments),
        Stage("gradients", Work(3 + 8 * layers + 2 * TOP + f.SITES * f.ALONG), act.mapped),
    ]


def _masks(study: Study) -> int:
    """Runs of context attribution: all masks, or those that are drawn, and the sets that are dropped."""
    sources = act.sources(study, study.asked.prompt)
    if len(sources) <= EXACT:
        return int(2 ** len(sources))
    drawn = (MORE_MASKS if len(sources) > MANY else MASKS) + UNSEEN
    left_out = len(sources) if len(sources) <= MOST_LEFT_OUT else 0
    return drawn + left_out + len(TOPS) * (1 + RANDOM)


def _knockouts(study: Study) -> int:
    """Direct, total, between, muted, and by way of each other segment, beside other spans; the text without it."""
    prompt = study.asked.prompt
    segments = len(stretches(prompt.segments, len(prompt))) + 1
    return min(segments, f.SEGMENTS) * ((4 + segments) * (1 + FEWEST) + 1)
