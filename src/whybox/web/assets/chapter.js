/** A chapter: its words, predictions, what is computed once they are made, exercises, and the recital. */

import { Latest, Trouble, listen, whenGone } from "./api.js";
import { asking } from "./asking.js";
import { compared, graded, problem } from "./graded.js";
import { Words, button, make } from "./make.js";
import { inline, prose } from "./prose.js";
import { Recital } from "./recital.js";
import { shown } from "./showing.js";
import { startTheme } from "./theme.js";

/** A part of the chapter: its name and a note beside it, its content in the column that is read. */
function part(id, title, ...content) {
  const aside = make("div", { class: "aside" }, make("h2", { id: `${id}-title` }, title));
  const body = make("div", { class: "body" }, ...content);
  const element = make("section", { id, "aria-labelledby": `${id}-title` }, aside, body);
  return { element, aside, body };
}

/** One prediction: a form, and once it is made, what was said. */
class Prediction {
  constructor(row, place, page) {
    Object.assign(this, { row, page });
    const { question } = row;
    this.asked = asking(question, page.words, `${page.chapter}-${question.id}`);
    this.store = make("p", { class: "tools" }, make("button", { class: "main" }, page.words.say("predict.store")));
    this.told = make("div", { class: "result", role: "status", tabindex: "-1" });
    this.element = make("form", { class: "question", id: `predict-${question.id}`, "aria-label": page.words.say("prediction.number", { n: place }), onsubmit: (event) => this.made(event) },
      make("div", { class: "prose" }, ...prose(question.ask)), this.asked.fields, this.store, this.told);
  }

  async made(event) {
    event.preventDefault();
    this.told.replaceChildren();
    this.sent = spelled(this.asked.given, this.row.question);
    await this.page.load(this);
  }

  /** waiting: whether others are still to be made. */
  show(row, waiting) {
    this.row = row;
    if (!row.stored) return;
    this.store.hidden = this.asked.fields.hidden = true;
    this.asked.lock();
    const rows = row.compared.length ? [compared(row.compared, row.question.kind, this.page.words)] : [this.said(row, waiting)];
    this.told.replaceChildren(...this.earlier(row), ...rows, ...prose(row.after));
  }

  /** Another window may have been first. */
  earlier({ question, said }) {
    const other = this.sent !== undefined && this.sent !== spelled(said, question);
    return other ? [make("p", {}, this.page.words.say("predict.earlier"))] : [];
  }

  said({ question, said }, waiting) {
    const named = Object.fromEntries(question.options.map((option) => [option.id, option.say]));
    const told = question.kind === "numbers" ? said : said.map((id) => named[id] ?? id);
    const joined = told.join(question.kind === "order" ? " → " : " · ");
    return make("p", {}, `${this.page.words.say("compared.said")}: `, make("b", {}, ...inline(joined)), ...(waiting ? [" ", make("small", {}, this.page.words.say("predict.stored"))] : []));
  }
}

/** An answer, given or stored, to be compared. */
function spelled(answer, { kind, items }) {
  const parts = Array.isArray(answer) ? [...answer] : typeof answer === "string" ? [answer] : items.map((item) => answer[item.id]);
  return JSON.stringify(kind === "some" ? parts.sort() : parts);
}

/** One exercise: a form, and what became of the last answer. */
class Exercise {
  constructor(row, place, page) {
    Object.assign(this, { page, passed: row.passed });
    const { words } = page, { question } = row;
    this.id = question.id;
    this.asked = asking(question, words, `${page.chapter}-${question.id}`);
    const does = { code: "exercise.run", file: "exercise.hand" }[question.kind] ?? "exercise.check";
    this.button = make("button", { class: "main" }, words.say(does));
    this.state = make("span", { class: "quiet" });
    const tools = make("p", { class: "tools" }, this.button, ...(this.asked.back ? [this.asked.back] : []), this.state);
    this.result = make("div", { class: "result", role: "status" });
    const title = make("h3", {}, words.say("exercise.title", { n: place, kind: words.say(`kind.${question.kind}`) }), (this.mark = make("small", { class: "mark-passed" })));
    this.element = make("form", { class: "question", id: question.id, onsubmit: (event) => this.grade(event) },
      title, make("div", { class: "prose" }, ...prose(question.ask)), this.asked.fields, tools, this.result);
    if (row.passed) this.result.replaceChildren(...prose(row.after));
    this.showMark(row.attempts);
  }

  showMark(attempts) {
    const { words } = this.page;
    this.mark.classList.toggle("holds", this.passed);
    this.mark.textContent = this.passed ? `✓ ${words.say("exercise.passed")}` : attempts ? words.say("exercise.attempts", { n: attempts }) : "";
  }

  async grade(event) {
    event.preventDefault();
    this.turn(true);
    try {
      let found = null;
      const told = (line) => (found = line.graded ?? found);
      await listen(`/api/learn/${this.page.chapter}/exercises/${this.id}`, { answer: this.asked.given, lang: this.page.lang }, told);
      if (found === null) throw new Trouble(this.page.words.say("error.gone"));
      this.show(found);
    } catch (error) {
      this.result.replaceChildren(problem(error));
    }
    this.turn(false);
  }

  show(found) {
    this.passed ||= found.graded.passed;
    const lost = found.attempts_reason ? [make("p", { class: "problem", role: "alert" }, this.page.words.say("exercise.lost", { why: found.attempts_reason }))] : [];
    this.result.replaceChildren(...graded(found.graded, this.page.words), ...lost);
    this.showMark(found.attempts);
    this.page.count();
  }

  turn(busy) {
    this.button.disabled = busy;
    this.state.textContent = busy ? this.page.words.say("exercise.running") : "";
  }
}

class Page {
  constructor({ lang, words, chapter, before, next }) {
    Object.assign(this, { lang, chapter, before, next, words: new Words(words), exercises: [] });
    whenGone(this.words.say("error.gone"));
    this.main = document.getElementById("text");
    this.latest = new Latest();
    document.querySelector("#trouble button").addEventListener("click", () => this.load());
  }

  /** A prediction that was made is stored at once; then comes the chapter as far as it is open. */
  async load(made = null) {
    const predictions = made ? { [made.row.question.id]: made.asked.given } : {};
    this.made = made;
    try {
      await this.latest.run((signal) => listen(`/api/learn/${this.chapter}`, { lang: this.lang, predictions }, (line) => this.line(line), signal));
    } catch (error) {
      if (made && !made.row.stored) made.told.replaceChildren(problem(error));
      else this.trouble(error);
    }
    if (this.waiting && !this.recital) this.waits(false);
  }

  line({ chapter, progress }) {
    if (progress) return this.progressed(...progress);
    this.trouble(null);
    if (!this.predictions) this.begin(chapter);
    chapter.predict.forEach((row, i) => this.predictions[i].show(row, chapter.waiting.length > 0));
    this.left.textContent = chapter.waiting.length ? this.words.say("predict.left", { n: chapter.waiting.length }) : this.words.say("predict.all");
    if (chapter.shown.length) this.open(chapter);
    else if (!chapter.waiting.length) this.waits(true);
    else if (this.made) document.querySelector(`#predict-${chapter.waiting[0]}`).querySelector("input, select, button:not(:disabled)").focus();
  }

  begin(chapter) {
    const { words } = this;
    document.title = `${chapter.id} · ${chapter.title}`;
    document.getElementById("loading").remove();
    const notes = make("div", { class: "aside" }, make("p", { class: "id" }, chapter.id), this.named("chapter.where", chapter.where), ...(chapter.claims.length ? [this.named("chapter.claims", chapter.claims)] : []));
    const body = make("div", { class: "body" }, make("h1", { id: "opening-title" }, ...inline(chapter.title)), make("div", { class: "prose lead" }, ...prose(chapter.opening)));
    const top = make("section", { id: "opening", "aria-labelledby": "opening-title" }, notes, body);
    this.predictions = chapter.predict.map((row, i) => new Prediction(row, i + 1, this));
    const predict = part("predict", words.say("predict"), ...this.predictions.map((each) => each.element));
    this.left = make("p", { role: "status" });
    predict.aside.append(make("p", {}, words.say("predict.note")), this.left);
    this.main.append(top, predict.element, this.turns());
  }

  /** Names that are not broken across lines. */
  named(key, names) {
    return make("p", {}, this.words.say(key), " ", ...names.flatMap((name, i) => [i ? "\u00a0· " : "", make("span", { class: "num" }, name)]));
  }

  /** What is shown is being computed, or was cancelled. */
  waits(busy) {
    const { words } = this;
    if (!this.waiting) {
      this.waiting = part("shown", words.say("shown"));
      this.main.lastElementChild.before(this.waiting.element);
    }
    const told = make("p", { role: "status" }, words.say(busy ? "shown.wait" : "shown.cancelled"));
    const does = busy ? button(words.say("shown.cancel"), () => this.latest.stop()) : button(words.say("shown.again"), () => this.load());
    this.bar = make("progress", { hidden: !busy, "aria-labelledby": "shown-title" });
    this.waiting.body.replaceChildren(told, make("p", { class: "tools" }, this.bar, (this.barTold = make("span", {})), does));
  }

  progressed(done, all) {
    Object.assign(this.bar, { max: all, value: done });
    this.barTold.textContent = this.words.say("shown.progress", { done, all });
  }

  open(chapter) {
    const { words } = this;
    const here = part("shown", words.say("shown"), ...chapter.shown.map((block) => shown(block, words)));
    here.aside.append(make("p", {}, words.say("shown.note")));
    this.waiting.element.replaceWith(here.element);
    this.waiting = here;
    if (!this.recital) this.practice(chapter);
    if (this.made) this.made.told.focus({ preventScroll: true });
    else this.toAddress();
  }

  practice(chapter) {
    const { words } = this;
    this.exercises = chapter.exercises.map((row, i) => new Exercise(row, i + 1, this));
    const exercises = part("exercises", words.say("exercises"), ...this.exercises.map((each) => each.element));
    this.counted = make("p", { role: "status" });
    exercises.aside.append(this.counted);
    this.recital = new Recital(chapter.recital, { chapter: this.chapter, lang: this.lang, words });
    const recite = part("recite", words.say("recital"), this.recital.element);
    recite.aside.append(make("p", {}, words.say("recital.note", { n: chapter.recital.stations })));
    if (chapter.recital.ordered) recite.aside.append(make("p", {}, words.say("recital.ordered")));
    this.main.lastElementChild.before(exercises.element, recite.element);
    this.count();
  }

  count() {
    const passed = this.exercises.filter((each) => each.passed).length;
    this.counted.textContent = this.words.say("exercises.note", { n: passed, of: this.exercises.length });
  }

  turns() {
    const link = (name) => this[name] && make("a", { class: name, rel: name === "before" ? "prev" : "next", href: `/learn/${this[name].id}?lang=${this.lang}` },
      make("small", {}, `${this.words.say(`chapter.${name}`)} · ${this[name].id}`), this[name].title);
    return make("nav", { class: "turns", "aria-label": this.words.say("chapter.turn") }, ...[link("before"), link("next")].filter(Boolean));
  }

  /** An exercise that a link names. */
  toAddress() {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name) document.getElementById(name)?.scrollIntoView();
  }

  trouble(error) {
    const box = document.getElementById("trouble");
    box.hidden = error === null;
    if (error === null) return;
    if (!(error instanceof Trouble)) throw error;
    box.querySelector("p").textContent = error.line;
    document.getElementById("loading")?.replaceChildren();
    box.scrollIntoView({ block: "nearest" });
  }
}

startTheme();
new Page(JSON.parse(document.getElementById("data").textContent)).load();
