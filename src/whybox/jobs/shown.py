"""One picture by itself: shown in a notebook, saved as a file."""

from dataclasses import dataclass
from pathlib import Path

from whybox.errors import UsageError
from whybox.report.draw import Scene, png_bytes, svg_text


@dataclass(frozen=True, eq=False)
class Shown:
    """A picture that was drawn."""

    scene: Scene

    @property
    def svg(self) -> str:
        """The file as text; words from elsewhere are text in it."""
        return svg_text(self.scene)

    def save(self, path: str | Path) -> None:
        """A file by its suffix: .svg or .png. UsageError for another one."""
        path = Path(path)
        match path.suffix:
            case ".svg":
                path.write_text(self.svg, encoding="utf-8")
            case ".png":
                path.write_bytes(png_bytes(self.scene))
            case _:
                raise UsageError(f"cannot write {path.name}", "use .svg or .png")

    def __repr__(self) -> str:
        return f"<picture: {self.scene.title}>"

    def _repr_svg_(self) -> str:
        """In a notebook: the picture."""
        return self.svg
