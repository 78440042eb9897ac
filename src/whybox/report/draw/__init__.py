"""Pictures that leave the page, as PNG and SVG, without a browser: described once as a scene, then written."""

from whybox.report.draw.diff import diff_picture
from whybox.report.draw.lens import lens_picture
from whybox.report.draw.look import Budget, HeadAt, ModelView, Picture, look_picture
from whybox.report.draw.png import png_bytes
from whybox.report.draw.scene import Scene
from whybox.report.draw.size import size_picture
from whybox.report.draw.svg import svg_text

__all__ = [
    "Budget", "HeadAt", "ModelView", "Picture", "Scene", "diff_picture", "lens_picture", "look_picture", "png_bytes",
    "size_picture", "svg_text",
]  # fmt: skip
