"""The gradient of a read: what an engine that differentiates gives back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whybox.engine.trace import Array, Key
from whybox.errors import SiteError


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Mapping[Key, Array]):
    """∂read/∂site [axes of the site] at each site that was asked for: `gradient["head_out", 3]`, `gradient["embed"]`.

    A small change of a site, its edits done, moves the read by ⟨change, gradient⟩, through all that comes after the
    site. Unit: that of the read per that of the site. value: the read itself. All arrays are read-only.
    """

    value: float
    sites: Mapping[Key, Array]

    def __repr__(self) -> str:
        return f"<Gradient of a read of {self.value:.6g}: {', '.join(dict.fromkeys(name for name, _ in self.sites))}>"

    def __getitem__(self, key: str | Key) -> Array:
        name, layer = (key, None) if isinstance(key, str) else key
        if (name, layer) not in self.sites:
            there = ", ".join(_shown(*known) for known in self.sites)
            raise SiteError(f"no gradient was asked for at {_shown(name, layer)}", f"there is one at {there}")
        return self.sites[name, layer]

    def __contains__(self, key: object) -> bool:
        return ((key, None) if isinstance(key, str) else key) in self.sites

    def __iter__(self) -> Iterator[Key]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)


def _shown(name: str, layer: int | None) -> str:
    return name if layer is None else f"{name} {layer}"
