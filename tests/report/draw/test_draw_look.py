"""PNG and SVG of `look`: what is drawn, in which colours, with which labels; no browser."""

import xml.etree.ElementTree as ElementTree
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.report import fixtures, look_fixtures
from whybox.errors import UsageError
from whybox.report.document import LookPayload
from whybox.report.draw import Budget, HeadAt, ModelView, look_picture, png_bytes, svg_text
from whybox.report.draw import labels as labels_module
from whybox.report.draw.fonts import characters, face_for, installed
from whybox.report.draw.palette import light, rgb, shares
from whybox.report.draw.png import SHARP
from whybox.report.draw.rows import exact_pattern, pooled
from whybox.report.draw.scene import Cells, Scene, Words
from whybox.report.draw.svg import small_png

PICTURES = [ModelView(), HeadAt(1, 0), HeadAt(3, 2), Budget()]


def cells(scene: Scene) -> list[Cells]:
    return [mark for mark in scene.marks if isinstance(mark, Cells)]


def words(scene: Scene) -> list[str]:
    return [mark.text for mark in scene.marks if isinstance(mark, Words)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("which", PICTURES)
def test_every_picture_is_a_png_and_an_svg(which: object, lang: str) -> None:
    scene = look_picture(*look_fixtures.look(), which, lang)
    image = Image.open(BytesIO(png_bytes(scene)))
    assert image.size == (round(scene.width * SHARP), round(scene.height * SHARP))
    assert image.getpixel((2, 2)) == rgb(light("ground"))
    assert len(image.getcolors(1_000_000) or ()) > 20
    root = ElementTree.fromstring(svg_text(scene))
    assert root.get("width") == f"{scene.width:g}"
    for mark in scene.marks:
        if isinstance(mark, Words):
            assert 0 <= mark.x <= scene.width
            assert 0 <= mark.y <= scene.height


def test_the_model_view_has_a_map_for_every_head_with_its_marks() -> None:
    document, payload = look_fixtures.look()
    scene = look_picture(document, payload, ModelView(), "en")
    assert len(cells(scene)) == len(document.heads) + 1  # and the scale
    assert "S" in words(scene)
    assert any("S sink" in text for text in words(scene))


def test_one_head_is_drawn_in_the_colours_of_its_exact_weights() -> None:
    document, payload = look_fixtures.look()
    pattern = look_fixtures.heads_of(1, 29)[2][0]
    drawn = cells(look_picture(document, payload, HeadAt(1, 0), "en"))[0].colours
    seen = drawn[..., 3] == 255
    places = np.arange(29)
    assert (seen == ((places <= places[:, None]) & (places > places[:, None] - 24))).all()
    expected = shares(np.where(seen, pattern, np.nan), float(pattern.max()))
    assert np.abs(drawn[seen].astype(int) - expected[seen].astype(int)).max() <= 1
    assert tuple(drawn[0, 0][:3]) == rgb(light("stop-4"))


def test_exact_rows_are_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    document, payload = look_fixtures.look()
    for layer in range(4):
        pattern = look_fixtures.heads_of(layer, 29)[2]
        made = exact_pattern(document, payload, layer, 1)
        assert made is not None
        assert np.abs(np.nan_to_num(made) - pattern[1]).max() <= 1e-6
    assert exact_pattern(document, payload, 0, 2) is None


def test_a_head_without_exact_rows_is_drawn_pooled_and_one_that_is_not_there_is_an_error() -> None:
    document, payload = look_fixtures.look()
    assert len(cells(look_picture(document, LookPayload(), HeadAt(2, 2), "en"))[0].colours) == 29
    with pytest.raises(UsageError, match="no layer 9, head 0"):
        look_picture(document, payload, HeadAt(9, 0), "en")


def test_attention_between_two_texts_is_drawn_with_both_labels() -> None:
    scene = look_picture(*look_fixtures.brought(), HeadAt(1, 2), "en")
    assert cells(scene)[0].colours.shape == (12, 7, 4)
    assert words(scene).count("·text") == 2
    assert words(scene).count("<|im_end|>") == 1
    assert "query ↓ · key →" in words(scene)


def test_pooling_adds_keys_and_averages_queries() -> None:
    pattern = np.array([[1, np.nan, np.nan], [0.25, 0.75, np.nan], [0.5, 0.25, 0.25]])
    made, size = pooled(pattern, 2)
    assert size == 2
    assert made[0, 0] == pytest.approx(1.0)
    assert np.isnan(made[0, 1])
    assert made[1].tolist() == pytest.approx([0.75, 0.25])


def test_labels_that_no_font_covers_are_ids_and_the_picture_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "writable", lambda text: text.isascii())
    scene = look_picture(*look_fixtures.look(), HeadAt(1, 0), "zh")
    assert "#29157" in words(scene)
    assert "#119 2/2" in words(scene)
    assert any(text.endswith("labels are ids: no font on this machine covers their text.") for text in words(scene))


def test_cut_characters_are_dimmed_with_their_part() -> None:
    scene = look_picture(*look_fixtures.look(), HeadAt(1, 0), "en")
    marks = {mark.text: mark.fill for mark in scene.marks if isinstance(mark, Words)}
    cut = next(text for text in marks if text.endswith("1/3"))
    assert marks[cut] == light("quiet")
    assert marks["system"] == light("ink")


def test_hostile_text_is_text_in_an_svg() -> None:
    for which in (ModelView(), HeadAt(1, 0), Budget()):
        root = ElementTree.fromstring(svg_text(look_picture(*look_fixtures.hostile(), which, "en")))
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "title", "rect", "text", "image", "polygon", "defs", "pattern", "path"}
        assert all(not name.startswith("on") for element in root.iter() for name in element.attrib)
        links = [element.attrib.get("href", "data:") for element in root.iter()]
        assert all(link.startswith("data:") for link in links)
    assert fixtures.HOSTILE[:9] in "".join(root.itertext())


def test_a_small_png_is_read_back_as_it_was() -> None:
    colours = np.random.default_rng(0).integers(0, 256, (5, 7, 4), dtype=np.uint8)
    assert (np.asarray(Image.open(BytesIO(small_png(colours)))) == colours).all()


@pytest.mark.skipif(not installed(), reason="no font is installed")
def test_fonts_are_chosen_by_their_own_tables() -> None:
    face = face_for("Answer 7·⏎")
    assert face is not None
    assert set(map(ord, "Answer")) <= characters(face.path)
    assert face_for("\U0010fffd") is None
