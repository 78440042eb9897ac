"""Finished reports that pages show in frames: the last few, under names that nobody guesses."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

MOST_PAGES = 32


@dataclass
class Shelf:
    """HTML by name; the oldest goes when there are too many."""

    most: int = MOST_PAGES
    _pages: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def put(self, html: str) -> str:
        """Its name."""
        name = secrets.token_urlsafe(18)
        self._pages[name] = html
        while len(self._pages) > self.most:
            self._pages.popitem(last=False)
        return name

    def get(self, name: str) -> str | None:
        return self._pages.get(name)
