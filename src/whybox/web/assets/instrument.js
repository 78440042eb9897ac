/** The report of every head, in a frame of its own; the head that is chosen there can be changed here. */

import { Latest, listen } from "./api.js";
import { button, make } from "./make.js";

export class Instrument {
  constructor(words, store, lang, trouble) {
    Object.assign(this, { words, store, lang, trouble });
    this.latest = new Latest();
    this.start = document.querySelector("[data-look]");
    this.cancel = document.querySelector("[data-look-cancel]");
    this.progress = document.getElementById("look-progress");
    this.told = document.getElementById("look-told");
    this.tools = document.getElementById("head-tools");
    this.place = document.getElementById("look-frame");
    this.views = document.getElementById("look-views");
    for (const each of this.views.querySelectorAll("[data-view]")) each.addEventListener("click", () => this.turnTo(each.dataset.view));
    this.start.addEventListener("click", () => this.look());
    this.cancel.addEventListener("click", () => this.latest.stop());
    addEventListener("message", (event) => this.frame && event.source === this.frame.contentWindow && this.heard(event.data));
    document.addEventListener("themechange", () => this.theme());
  }

  stale() {
    if (this.frame) this.told.textContent = this.words.say("look.stale");
    this.tools.hidden = true;
  }

  async look() {
    const { state } = this.store;
    this.turn(true);
    try {
      await this.latest.run((signal) => listen("/api/look", { state, lang: this.lang }, (line) => this.line(line), signal));
    } catch (error) {
      this.trouble(error);
    }
    this.turn(false);
  }

  line(line) {
    if (line.progress) {
      const [done, all] = line.progress;
      this.progress.max = all;
      this.progress.value = done;
      this.told.textContent = this.words.say("progress", { done: done.toLocaleString(), all: all.toLocaleString() });
      return;
    }
    this.page = line.page;
    this.frame = make("iframe", { src: `${line.page}#every`, title: this.words.say("look.frame"), sandbox: "allow-scripts allow-downloads" });
    this.frame.addEventListener("load", () => this.theme());
    this.place.replaceChildren(this.frame);
    this.told.textContent = "";
    this.views.hidden = false;
    this.mark("every");
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
    this.start.disabled = busy;
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
    const off = button(this.words.say("head.do", { layer, head }), () => this.store.add({ kind: "head", layer, head }));
    const offered = [off];
    if (Number.isInteger(query) && Number.isInteger(key) && key < query) {
      offered.push(button(this.words.say("head.cut", { layer, head, query, key }), () => this.store.add({ kind: "edge", query, key, layer, head })));
    }
    this.tools.replaceChildren(...offered);
    this.tools.hidden = false;
  }
}
