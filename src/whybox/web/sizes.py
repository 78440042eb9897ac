"""About how much a question is to compute, before anything is: characters of prompt that go through the layers."""

from whybox.report.document.explore import AnyPrompt, ChatPrompt, RawPrompt, State

READ = 1 / 100  # of what running them costs, to cut characters into tokens
A_TOKEN = 4  # characters of one that is written


def run(prompt: AnyPrompt) -> float:
    """The prompt through all layers."""
    match prompt:
        case RawPrompt():
            parts = prompt.parts
        case ChatPrompt():
            parts = tuple(part for turn in prompt.messages for part in turn.parts)
    return 1 + sum(len(part.text) for part in parts)


def compared(state: State) -> float:
    """The prompt as it is, each change alone, and all that are on together."""
    return run(state.prompt) * (2 + len(state.changes))


def read(state: State) -> float:
    """The prompt as tokens."""
    return run(state.prompt) * READ
