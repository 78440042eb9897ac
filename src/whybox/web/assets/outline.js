/** The course's front page: chapters with what is done, eight statements, where progress is kept. */

import { Trouble, ask, whenGone } from "./api.js";
import { Words, make } from "./make.js";
import { inline, sign } from "./prose.js";
import { startTheme } from "./theme.js";

const MARKS = { new: "○", begun: "◐", done: "●" };

class Outline {
  constructor({ lang, words }) {
    Object.assign(this, { lang, words: new Words(words) });
    whenGone(this.words.say("error.gone"));
    document.querySelector("#trouble button").addEventListener("click", () => this.load());
  }

  async load() {
    try {
      this.show(await ask(`/api/learn?lang=${this.lang}`));
      document.getElementById("trouble").hidden = true;
    } catch (error) {
      this.trouble(error);
    }
  }

  to(chapter, exercise = "") {
    return `/learn/${chapter}?lang=${this.lang}${exercise && `#${exercise}`}`;
  }

  section(id, note, ...content) {
    const aside = make("div", { class: "aside" }, make("h2", { id: `${id}-title` }, this.words.say(id)), ...(note ? [make("p", {}, note)] : []));
    return make("section", { id, "aria-labelledby": `${id}-title` }, aside, make("div", { class: "body" }, ...content));
  }

  show(course) {
    const { words } = this;
    const list = (items) => make("ul", { class: "plain" }, ...items);
    const needs = list(course.needs.map((each) => make("li", {}, ...inline(each))));
    const uses = list(course.uses.map(({ say, verb }) => make("li", {}, ...inline(say), " ", make("code", {}, `whybox ${verb}`))));
    const outcomes = list(course.outcomes.map(({ say, chapter }) => make("li", {}, ...inline(say), " ", this.link(chapter, course))));
    document.getElementById("text").replaceChildren(
      this.top(course.chapters),
      this.section("chapters", words.say("chapters.note"), make("ol", { class: "chapters" }, ...course.chapters.map((row) => this.chapter(row)))),
      this.section("statements", words.say("statements.note"), make("ul", { class: "statements" }, ...course.statements.map((row) => this.statement(row, course)))),
      this.section("needs", "", needs), this.section("uses", "", uses), this.section("outcomes", "", outcomes),
      this.section("kept", words.say("kept.note"), make("p", {}, make("code", {}, course.kept))));
  }

  top(chapters) {
    const { words } = this;
    const next = chapters.find((row) => row.done !== "done");
    const does = next && chapters.every((row) => row.done === "new") ? "outline.start" : "outline.on";
    const go = next ? make("a", { class: "go", href: this.to(next.id) }, words.say(does, next), ` · ${next.title}`) : make("b", {}, words.say("outline.again"));
    return make("header", { class: "top" }, make("h1", {}, words.say("course")), make("p", {}, words.say("outline.lead")), make("p", {}, go));
  }

  chapter(row) {
    const { words } = this;
    const state = sign(MARKS[row.done], words.say(`done.${row.done}`), row.done);
    const done = [["predicted", row.predicted, row.predictions], ["passed", row.passed, row.exercises], ["recited", row.recited, row.stations]];
    const counts = done.map(([name, n, of]) => make("span", {}, words.say(`row.${name}`, { n, of })));
    const angles = row.angles.map((angle) => words.say(`angle.${angle}`)).join(" · ");
    return make("li", {}, state, make("div", {}, make("a", { href: this.to(row.id) }, make("span", { class: "id" }, row.id), ...inline(row.title)), make("small", {}, angles)), make("small", { class: "counts" }, ...counts));
  }

  statement({ say, exercises, passed, ticked }, course) {
    const { words } = this;
    const state = ticked ? sign("☑", words.say("statements.ticked"), "holds") : sign("☐", words.say("statements.open"));
    const told = exercises.length ? [words.say("statements.of", { n: passed, of: exercises.length }), ...exercises.flatMap((each) => [" · ", this.link(each, course)])] : [words.say("statements.none")];
    return make("li", {}, state, make("div", {}, make("span", {}, ...inline(say)), make("small", {}, ...told)));
  }

  /** A chapter or one of its exercises, where it is there. */
  link(name, course) {
    const [chapter, exercise] = name.split(".");
    return course.chapters.some((row) => row.id === chapter) ? make("a", { href: this.to(chapter, exercise) }, name) : make("span", {}, name);
  }

  trouble(error) {
    if (!(error instanceof Trouble)) throw error;
    const box = document.getElementById("trouble");
    box.hidden = false;
    box.querySelector("p").textContent = error.line;
    document.getElementById("loading")?.replaceChildren();
  }
}

startTheme();
new Outline(JSON.parse(document.getElementById("data").textContent)).load();
