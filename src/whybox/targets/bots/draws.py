"""Draws that need no order: each is named by what it is for, and the same name always gives the same number."""

from dataclasses import dataclass
from hashlib import blake2b
from statistics import NormalDist


def uniform(*name: object) -> float:
    """A number in [0, 1) that depends on all parts of the name and on nothing else."""
    text = "/".join(str(part) for part in name).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") / 2**64


def normal(*name: object) -> float:
    """A draw of N(0, 1) by name."""
    return NormalDist().inv_cdf(min(max(uniform(*name), 1e-12), 1 - 1e-12))


@dataclass(frozen=True)
class Draws:
    """The draws of one call. seed: of the bot. item, prompt: their names. repeat: how often it was asked before."""

    seed: int
    item: str
    prompt: str
    repeat: int

    def per_item(self, what: str) -> float:
        """The same in every prompt that asks this question."""
        return uniform(self.seed, what, "item", self.item)

    def per_prompt(self, what: str) -> float:
        """The same whenever this prompt is sent."""
        return uniform(self.seed, what, "prompt", self.prompt)

    def per_call(self, what: str) -> float:
        """Another one each time; the same one when the same repetition is made again."""
        return uniform(self.seed, what, "call", self.prompt, self.repeat)
