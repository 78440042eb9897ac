"""The models that a server has open, each at the one thread that runs it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from whybox.engine.between import pausing
from whybox.errors import CapacityError, UsageError, WhyboxError
from whybox.jobs.explore import Desk
from whybox.jobs.explore.desk import MOST_TOKENS
from whybox.model import Model
from whybox.report.document.explore import OtherModel, OtherPrompt, State
from whybox.web.worker import Worker


@dataclass
class Seat:
    """A model and its thread. opening: gives the model; most_tokens: of the runs that are kept."""

    opening: Callable[[], Model]
    most_tokens: int = MOST_TOKENS
    worker: Worker = field(default_factory=Worker)
    opened: Desk | None = None
    failed: WhyboxError | None = None
    tried: threading.Event = field(default_factory=threading.Event)

    @property
    def desk(self) -> Desk:
        """CapacityError while the model is still being opened, its error where it could not be."""
        if self.failed is not None:
            raise self.failed
        if self.opened is None:
            raise CapacityError("the model is still being opened", "this page asks again by itself")
        return self.opened

    @property
    def model(self) -> Model | None:
        """For who can do without: None where it could not be opened, CapacityError while it is being opened."""
        return None if self.failed is not None else self.desk.model

    def open(self) -> None:
        """Opens the model, once; an error is kept for whoever asks."""
        try:
            self.opened = Desk(sharing(self.opening(), self.worker), self.most_tokens)
        except WhyboxError as error:
            self.failed = error
        finally:
            self.tried.set()

    def awaited(self) -> Model:
        """The model, however long its opening takes; its error where it could not be opened."""
        self.tried.wait()
        return self.desk.model

    @property
    def status(self) -> Literal["opening", "ready", "failed"]:
        if self.failed is not None:
            return "failed"
        return "opening" if self.opened is None else "ready"


def sharing(model: Model, worker: Worker) -> Model:
    """The model on a thread: between two layers others may use it."""
    return replace(model, engine=pausing(model.engine, worker.pause))


@dataclass(frozen=True)
class Beside:
    """A second model. name: what states call it. opening: gives it, of the first."""

    name: str
    opening: Callable[[Model], Model]


@dataclass(frozen=True)
class Table:
    """The first model, and the one beside it if there is one. Two models share the tokens that may be kept."""

    first: Seat
    second: Seat | None = None
    name: str = ""

    @classmethod
    def laid(cls, opening: Callable[[], Model], beside: Beside | None) -> "Table":
        """Nothing is opened yet."""
        if beside is None:
            return cls(Seat(opening))
        first = Seat(opening, MOST_TOKENS // 2)
        return cls(first, Seat(lambda: beside.opening(first.awaited()), MOST_TOKENS // 2), beside.name)

    @property
    def seats(self) -> tuple[Seat, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)

    def other(self, state: State) -> tuple[Seat, State]:
        """What stands beside a state, as a state of its own, and the model that runs it.

        UsageError where nothing does, or a model that this server has not.
        """
        match state.other:
            case None:
                raise UsageError("nothing stands beside this prompt", "choose another prompt or another model")
            case OtherPrompt(prompt=prompt):
                return self.first, State(prompt=prompt)
            case OtherModel(name=name) if self.second is not None and name == self.name:
                return self.second, State(prompt=state.prompt)
            case OtherModel(name=name):
                has = f"it has {self.name}" if self.second is not None else "it was started without one"
                raise UsageError(
                    f"this state compares with the model {name}, which this server does not have: {has}",
                    f"whybox serve --beside {name}",
                )
