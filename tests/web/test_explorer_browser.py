"""The explorer in a real browser: typed into, clicked, used by keyboard, fed with hostile text, shared."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.real import real
from tests.web.serving import Running, running
from whybox.web.seat import Beside

pytestmark = [pytest.mark.browser, pytest.mark.model]

LOOKS = [(375, "light", "zh"), (375, "dark", "en"), (1024, "dark", "zh"), (1920, "light", "en")]
HOSTILE = "</script><img src=x onerror=alert(1)> {{7*7}} \u202e\u0000 <|im_end|> 退款😀"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(lambda: real("smollm2", "torch"), Beside("smollm2@int8", lambda m: m.variant("int8"))) as found:
        yield found


@pytest.fixture
def visit(browser: Any, server: Running) -> Iterator[Callable]:
    contexts = []

    def open_page(width: int = 1024, theme: str = "light", lang: str = "en", at: str = "") -> Any:
        locale = {"en": "en-GB", "zh": "zh-CN"}[lang]
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, locale=locale)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(f"error: {error}"))
        page.on("console", lambda said: page.faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: (page.faults.append("dialog"), dialog.dismiss()))
        page.on(
            "request", lambda r: None if r.url.startswith((server.url, "data:", "blob:")) else page.faults.append(r.url)
        )
        page.goto(server.page)
        if at:
            page.goto(f"{server.url}/{at}")
        page.locator(".choices button").first.wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()


def kept(page: Any) -> Any:
    """A prompt beside what is made of it: one word is another."""
    page.locator("[data-pair=prompt]").click()
    page.locator("#editor textarea").last.fill("The capital of Spain is")
    page.locator("#pair-finding").get_by_text("KL(A‖B)").wait_for()
    return page


def started(page: Any, number: int = 0) -> Any:
    """An example, with its numbers."""
    page.locator(".choices button").nth(number).click()
    page.locator("#next tbody tr").first.wait_for()
    return page


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits_the_screen_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: str) -> None:
    page = started(visit(width, theme, lang), 1)
    kept(page).locator("#pair .exact summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = page.evaluate(
        "(width) => [...document.querySelectorAll('h2,h3,p,li,button,textarea,input,td,th')]"
        ".filter(e => e.getBoundingClientRect().right > width + 0.5 && !e.closest('.scroll-x, .said'))"
        ".map(e => e.outerHTML)",
        width,
    )
    assert wide == []
    assert page.locator("html").get_attribute("lang") == ("zh-Hans" if lang == "zh" else "en")
    assert page.faults == []


def test_a_part_is_looked_at_and_the_answer_changes(visit: Callable) -> None:
    """The refund: the deciding row is made to look at doc2, and the answer says 7 days."""
    page = started(visit())
    page.locator("#writing [data-write]").click()
    page.locator("#writing [data-text=base]").get_by_text("30 days").wait_for()
    page.locator(".change input").check()
    page.locator("#finding").get_by_text("KL").wait_for()
    page.locator("#writing [data-write]").click()
    page.locator("#writing [data-told]").get_by_text("differ").wait_for()
    assert (
        page.locator("#writing [data-text=base]").text_content()
        != page.locator("#writing [data-text=then]").text_content()
    )
    assert page.faults == []


def test_a_head_is_switched_off_undone_and_done_again(visit: Callable) -> None:
    page = started(visit(), 1)
    page.fill("#switches [name=layer]", "1")
    page.locator("#switches [value=head]").click()
    page.locator(".change .effect").get_by_text("KL").wait_for()
    assert "head 1.0" in page.locator(".change").text_content()
    page.locator("[data-undo]").click()
    assert page.locator(".change").count() == 0
    page.locator("[data-redo]").click()
    page.locator(".change .effect").get_by_text("KL").wait_for()
    assert page.faults == []


def test_the_floor_is_shown_once_it_is_measured(visit: Callable) -> None:
    page = started(visit(), 1)
    page.locator("#floor").get_by_text("when nothing is changed").wait_for(timeout=30_000)
    assert "nats" in page.locator("#floor").text_content()


def test_tokens_are_walked_by_keyboard_and_hidden(visit: Callable) -> None:
    page = started(visit(), 1)
    page.locator(".chip").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    told = page.locator("#token-told").text_content()
    assert "#2" in told
    assert "id 282" in told
    page.locator("#token-told button").click()
    page.locator(".change .effect").get_by_text("KL").wait_for()
    assert "key 2" in page.locator(".change").text_content()


def test_every_head_is_looked_at_and_the_chosen_one_switched_off(visit: Callable) -> None:
    page = started(visit(), 1)
    page.locator("[data-look]").click()
    page.locator("iframe").wait_for(timeout=60_000)
    page.locator("#head-tools button").first.wait_for()
    frame = page.frame_locator("iframe")
    frame.locator("#grid canvas").focus()
    frame.locator("#grid canvas").press("Enter")
    page.locator("#head-tools button").first.click()
    page.locator(".change .effect:not(:empty)").wait_for()
    assert page.locator("iframe").bounding_box()["height"] > 700
    assert page.faults == []


def test_the_lens_and_the_question_are_there(visit: Callable) -> None:
    page = started(visit())
    page.locator("#lens summary").first.click()
    page.locator("#lens svg").wait_for()
    assert page.locator("#lens tbody tr").count() == 30
    page.locator("#why summary").click()
    assert page.locator("#question fieldset label").all_text_contents() == ["policy", "doc1", "doc2", "question"]
    page.fill("#question [name=right]", "7 days")
    page.fill("#question [name=wrong]", "30 days")
    page.locator("#question [value=doc2]").check()
    with page.expect_download() as saving:
        page.locator("#question [value=case]").click()
    assert "evidence:\n- doc2" in Path(saving.value.path()).read_text(encoding="utf-8")
    assert page.faults == []


def test_hostile_text_is_text(visit: Callable) -> None:
    page = visit()
    page.locator("#editor textarea").fill(HOSTILE)
    page.locator("#next tbody tr").first.wait_for()
    assert "onerror" in page.locator("#tokens").text_content()
    assert page.locator("img").count() == 0
    page.locator("#editor .part-name").fill("<b>name</b>")
    page.get_by_text("<b>name</b>").first.wait_for()
    assert page.faults == []


def test_a_state_is_shared_by_link_and_by_file(visit: Callable, tmp_path: Path) -> None:
    page = started(visit(), 1)
    page.fill("#switches [name=layer]", "2")
    page.locator("#switches [value=mlp]").click()
    page.locator(".change").wait_for()
    page.locator("[data-share=link]").click()
    page.wait_for_url("**/#state=*")
    with page.expect_download() as saving:
        page.locator("[data-share=save]").click()
    state = json.loads(Path(saving.value.path()).read_text(encoding="utf-8"))
    assert state["changes"] == [{"kind": "mlp", "layer": 2, "on": True}]
    other = visit(at=page.evaluate("location.hash"))
    other.locator(".change").get_by_text("layer 2").wait_for()
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state | {"version": 0}), encoding="utf-8")
    other.locator(".share input[type=file]").set_input_files(file)
    other.locator("#trouble").get_by_text("another version").wait_for()
    file.write_text("no JSON", encoding="utf-8")
    other.locator(".share input[type=file]").set_input_files(file)
    other.locator("#trouble").get_by_text("no state").wait_for()
    assert other.locator(".change").count() == 1


def test_two_prompts_stand_side_by_side(visit: Callable) -> None:
    page = kept(started(visit(), 1))
    assert page.locator("[data-tokens=a] .apart").all_text_contents() == ["·Spain"]
    assert page.locator("[data-tokens=b] .apart").all_text_contents() == ["·France"]
    page.locator("#pair-finding").get_by_text("“ Madrid” in A and “ Paris” in B").wait_for()
    page.locator("#pair [data-write]").focus()
    page.keyboard.press("Enter")
    page.locator("#pair [data-told]").get_by_text("differ from token 1").wait_for()
    page.locator("#pair [data-lens] summary").first.click()
    page.locator("#pair [data-lens] svg").wait_for()
    page.locator("#pair-floor").get_by_text("the larger").wait_for(timeout=30_000)
    page.locator("[data-share=link]").click()
    page.wait_for_url("**/#state=*")
    other = visit(at=page.evaluate("location.hash"))
    other.locator("[data-tokens=a] .apart").get_by_text("Spain").wait_for()
    page.locator("[data-pair=swap]").click()
    page.locator("[data-tokens=a] .apart").get_by_text("France").wait_for()
    page.locator("[data-pair=none]").click()
    page.locator("#pair-found").wait_for(state="hidden")
    page.locator("[data-undo]").click()
    page.locator("#pair-found").wait_for()
    assert page.faults == []


def test_two_models_stand_side_by_side_and_others_are_named(visit: Callable, tmp_path: Path) -> None:
    page = started(visit(), 1)
    page.locator("[data-pair=model]").click()
    page.locator("[data-named=b]").get_by_text("int8").wait_for()
    assert page.locator("[data-tokens] .apart").count() == 0
    state = page.evaluate("window.explorer.store.state")
    assert state["other"] == {"kind": "model", "name": "smollm2@int8"}
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state | {"other": {"kind": "model", "name": "<i>llama</i>"}}), encoding="utf-8")
    page.faults.clear()
    page.locator(".share input[type=file]").set_input_files(file)
    page.locator("#pair-trouble").get_by_text("--beside <i>llama</i>").wait_for()
    assert page.locator("#next tbody tr").count() == 12
    assert [fault for fault in page.faults if "422" not in fault] == []


def test_a_second_prompt_comes_from_a_file_or_a_link(visit: Callable, tmp_path: Path) -> None:
    page = started(visit(), 1)
    file = tmp_path / "state.json"
    other = {"version": 1, "prompt": {"kind": "text", "parts": [{"name": "p", "text": "The capital of Peru is"}]}}
    file.write_text(json.dumps(other), encoding="utf-8")
    page.locator("#pair input[type=file]").set_input_files(file)
    page.locator("[data-tokens=b] .apart").get_by_text("Peru").wait_for()
    page.locator("[data-share=link]").click()
    page.wait_for_url("**/#state=*")
    link = page.url
    page.locator("[data-pair=none]").click()
    page.locator("#editor textarea").fill("The capital of Cuba is")
    page.locator("#pair .exact summary").first.click()
    page.fill("#pair [name=link]", link)
    page.keyboard.press("Enter")
    page.locator("[data-tokens=b] .apart").get_by_text("France").wait_for()
    assert page.faults == []


def test_long_prompts_are_folded_to_what_differs(visit: Callable) -> None:
    page = visit()
    page.locator("#editor textarea").fill("It is a large city. " * 150 + "The capital of France is")
    page.locator("[data-pair=prompt]").click()
    page.locator("#editor textarea").fill("It is a large city. " * 150 + "The capital of Spain is")
    page.locator("[data-tokens=a] .apart").get_by_text("Spain").wait_for()
    assert page.locator("[data-tokens=a] .chip").count() == 10
    page.locator("[data-tokens=a] .fold").focus()
    page.keyboard.press("Enter")
    page.locator("[data-tokens=a]").get_by_text("more tokens are not shown").wait_for()
    assert page.locator("[data-tokens=a] .chip").count() == 410


def test_a_prompt_beyond_the_context_is_told_and_nothing_is_lost(visit: Callable) -> None:
    page = started(visit(), 1)
    page.locator("#editor textarea").fill("word " * 9000)
    page.locator("#trouble").get_by_text("trained context").wait_for()
    assert page.locator("#editor textarea").input_value().startswith("word word")
    page.locator("#editor textarea").fill("The capital of France is")
    page.locator("#trouble").wait_for(state="hidden")


def test_a_chinese_page_tells_errors_in_chinese(visit: Callable, tmp_path: Path) -> None:
    page = started(visit(lang="zh"), 1)
    page.locator("#editor textarea").fill("word " * 9000)
    page.locator("#trouble").get_by_text("训练时的上下文只有 8192 个。请缩短它").wait_for()
    page.locator("#editor textarea").fill("The capital of France is")
    page.locator("#trouble").wait_for(state="hidden")
    page.fill("#switches [name=layer]", "99")
    page.locator("#switches [value=head]").click()
    page.locator(".change .effect").get_by_text("没有第 99 层").wait_for()
    page.locator("#finding").get_by_text("没有第 99 层").wait_for()
    file = tmp_path / "state.json"
    file.write_text(json.dumps(page.evaluate("window.explorer.store.state") | {"version": 0}), encoding="utf-8")
    page.locator(".share input[type=file]").set_input_files(file)
    page.locator("#trouble").get_by_text("另一个版本的 whybox").wait_for()
    assert "another version" not in page.locator("#trouble").inner_text()


def test_a_state_whose_names_are_markup_is_shown_as_text(visit: Callable, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)></script>{0}%s"
    part = {"name": name, "text": HOSTILE.replace("\x00", "")}
    prompt = {"kind": "text", "parts": [part, {"name": "end", "text": "Then"}]}
    changes = [{"kind": kind, "segment": name} for kind in ("cut", "boost", "drop")]
    changes += [{"kind": "reword", "segment": name, "text": name}, {"kind": "cut", "segment": f"no{name}"}]
    other = {"kind": "prompt", "prompt": {"kind": "text", "parts": [part]}}
    state = {"version": 2, "model": name, "prompt": prompt, "changes": changes, "other": other}
    file = tmp_path / f"{name.replace('/', '')}.json"
    file.write_text(json.dumps(state), encoding="utf-8")
    for lang in ("en", "zh"):
        page = visit(lang=lang)
        page.set_default_timeout(10_000)
        page.locator(".share input[type=file]").set_input_files(file)
        page.locator(".change .effect:not(:empty)").last.wait_for()
        page.locator("#pair-finding:not(:empty)").wait_for()
        assert page.locator(".change").last.text_content().count(name) >= 2
        assert page.locator("img, main script").count() == 0
        assert page.faults == []


def test_a_change_answers_in_time_and_long_prompts_scroll(visit: Callable) -> None:
    """A what-if on 100 tokens, measured in the page; generous here, where other work runs beside (300 ms: bench)."""
    page = visit()
    page.locator("#editor textarea").fill("The capital of France is a large city. " * 11)
    page.locator("#next tbody tr").first.wait_for()
    took = page.evaluate(
        """async () => {
          const { store } = window.explorer, times = [];
          for (let layer = 0; layer < 5; layer += 1) {
            const began = performance.now();
            store.set({ changes: [{ kind: "head", layer, head: 1, on: true }] });
            while (!document.querySelector(".effect")?.textContent) await new Promise(requestAnimationFrame);
            times.push(performance.now() - began);
          }
          return times.sort((a, b) => a - b)[2];
        }"""
    )
    assert 0 < took < 3_000
