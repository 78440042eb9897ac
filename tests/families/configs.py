"""Changes to a saved model's config.json."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def edit_config(folder: Path, changes: Mapping[str, object] | None = None, remove: Sequence[str] = ()) -> None:
    """Sets and removes keys, as other tools would have written the file."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | dict(changes or {})
    path.write_text(json.dumps({key: value for key, value in config.items() if key not in remove}))
