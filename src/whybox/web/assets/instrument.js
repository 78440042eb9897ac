/** Reports in a frame of their own: every head, why an answer, or a saved one. A head chosen there can be changed here. */

import { Latest, ask, askText, listen } from "./api.js";
import { button, make } from "./make.js";
import { saved } from "./save.js";

export class Instrument {
  constructor(words, store, lang, trouble) {
    Object.assign(this, { words, store, lang, trouble });
    this.latest = new Latest();
    this.cancel = document.querySelector("[data-report-cancel]");
    this.progress = document.getElementById("report-progress");
    this.told = document.getElementById("report-told");
    this.tools = document.getElementById("head-tools");
    this.place = document.getElementById("frame");
    this.views = document.getElementById("look-views");
    this.saves = document.getElementById("report-saves");
    this.form = document.getElementById("question");
    this.starts = [document.querySelector("[data-look]"), ...this.form.querySelectorAll("button")];
    this.begin();
  }

  begin() {
    document.querySelector("[data-look]").addEventListener("click", () => this.report("/api/look", {}, true));
    this.form.addEventListener("submit", (event) => this.question(event));
    this.cancel.addEventListener("click", () => this.latest.stop());
    for (const each of this.views.querySelectorAll("[data-view]")) each.addEventListener("click", () => this.turnTo(each.dataset.view));
    const file = document.getElementById("report-file");
    document.querySelector("[data-open-report]").addEventListener("click", () => file.click());
    file.addEventListener("change", () => this.reopen(file));
    addEventListener("message", (event) => this.frame && event.source === this.frame.contentWindow && this.heard(event.data));
    document.addEventListener("themechange", () => this.theme());
  }

  /** The prompt is another; its parts may be evidence. */
  stale(parts) {
    if (this.frame) this.told.textContent = this.words.say("look.stale");
    this.tools.hidden = true;
    const chosen = new Set(this.evidence);
    const boxes = parts.map((name) => make("label", {}, make("input", { type: "checkbox", name: "evidence", value: name, checked: chosen.has(name) }), name));
    this.form.querySelector("fieldset").replaceChildren(make("legend", {}, this.words.say("why.evidence")), ...boxes);
  }

  get evidence() {
    return [...this.form.querySelectorAll("[name=evidence]:checked")].map((box) => box.value);
  }

  async question(event) {
    event.preventDefault();
    const { right, wrong } = this.form.elements;
    const question = { right: right.value, wrong: wrong.value, evidence: this.evidence };
    if (event.submitter.value === "why") return this.report("/api/why", { question }, false);
    try {
      saved("case.yaml", await askText("/api/case", { state: this.store.state, question }));
    } catch (error) {
      this.trouble(error);
    }
  }

  async report(path, more, heads) {
    this.turn(true);
    try {
      await this.latest.run((signal) => listen(path, { state: this.store.state, lang: this.lang, ...more }, (line) => this.line(line, heads), signal));
    } catch (error) {
      this.told.textContent = "";
      this.trouble(error);
    }
    this.turn(false);
  }

  async reopen(file) {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const document = JSON.parse(await chosen.text());
      this.show((await ask("/api/report", { document, lang: this.lang })).page, document.schema?.name === "whybox.look");
    } catch (error) {
      if (error instanceof SyntaxError) this.told.textContent = this.words.say("report.bad");
      else this.trouble(error);
    }
    file.value = "";
  }

  line(line, heads) {
    if (line.page) return this.show(line.page, heads);
    const [done, all] = line.progress;
    this.progress.max = all;
    this.progress.value = done;
    this.told.textContent = this.words.say("progress", { done: done.toLocaleString(), all: all.toLocaleString() });
  }

  /** heads: whether it is a look, which has parts to turn to and pictures. */
  show(page, heads) {
    this.page = page;
    this.frame = make("iframe", { src: heads ? `${page}#every` : page, title: this.words.say("report.frame"), sandbox: "allow-scripts allow-downloads" });
    this.frame.addEventListener("load", () => this.theme());
    this.place.replaceChildren(this.frame);
    this.told.textContent = "";
    this.tools.hidden = true;
    this.views.hidden = !heads;
    this.mark("every");
    this.offerFiles(heads ? ["json", "model.svg", "model.png", "budget.svg", "budget.png"] : ["json"]);
  }

  offerFiles(kinds) {
    const link = (kind) => make("a", { href: `${this.page}/${kind}`, download: `whybox-${kind.replace(/^json$/, "report.json")}` }, this.words.say(`save.${kind}`));
    this.saves.replaceChildren(...kinds.map(link));
    this.saves.hidden = false;
  }

  /** A section of the report, by its name in it. */
  turnTo(view) {
    this.frame.src = `${this.page}#${view}`;
    this.mark(view);
  }

  mark(view) {
    for (const each of this.views.querySelectorAll("[data-view]")) each.setAttribute("aria-pressed", String(each.dataset.view === view));
  }

  turn(busy) {
    for (const each of this.starts) each.disabled = busy;
    this.cancel.hidden = this.progress.hidden = !busy;
    if (busy) this.progress.removeAttribute("value");
  }

  theme() {
    this.frame?.contentWindow.postMessage({ theme: document.documentElement.dataset.theme ?? "auto" }, "*");
  }

  /** The {layer, head, query, key} that is chosen in the frame. */
  heard({ head }) {
    if (head) this.offer(head);
  }

  offer({ layer, head, query, key }) {
    const offered = [button(this.words.say("head.do", { layer, head }), () => this.store.add({ kind: "head", layer, head }))];
    if (Number.isInteger(query) && Number.isInteger(key) && key < query) {
      offered.push(button(this.words.say("head.cut", { layer, head, query, key }), () => this.store.add({ kind: "edge", query, key, layer, head })));
    }
    for (const kind of ["svg", "png"]) offered.push(make("a", { href: `${this.page}/head.${kind}?at=${layer}.${head}`, download: `head-${layer}.${head}.${kind}` }, this.words.say(`save.head.${kind}`)));
    this.tools.replaceChildren(...offered);
    this.tools.hidden = false;
  }
}
