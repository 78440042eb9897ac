/** The explorer: one state, and what is asked about it whenever it changes. */

import { Latest, Trouble, ask, listen, whenGone } from "./api.js";
import { BesideTable } from "./beside.js";
import { Changes } from "./changes.js";
import { Chips } from "./chips.js";
import { Editor } from "./editor.js";
import { Instrument } from "./instrument.js";
import { LensView } from "./lens.js";
import { Words, button } from "./make.js";
import { Pair } from "./pair.js";
import { saved } from "./save.js";
import { Store, current, packed, partsOf, unpacked } from "./store.js";
import { startTheme } from "./theme.js";
import { Writing } from "./writing.js";

const PAUSE_MS = 120;
const AGAIN_MS = 400;
const FLOOR_MS = 600;
const FLOOR_TOKENS = 1024;

class Explorer {
  constructor({ lang, words }) {
    this.words = new Words(words);
    whenGone(this.words.say("error.gone"));
    const trouble = (error) => this.trouble(error);
    this.store = new Store();
    this.editor = new Editor(document.getElementById("editor"), this.store, this.words);
    this.chips = new Chips(this.words, this.store);
    this.table = new BesideTable(this.words);
    this.changes = new Changes(this.words, this.store);
    this.writing = new Writing(this.words, document.getElementById("writing"), () => this.asks(), trouble);
    this.instrument = new Instrument(this.words, this.store, lang, trouble);
    this.lens = new LensView(this.words, this.store, trouble, { details: document.getElementById("lens"), path: "/api/lens", names: { base: "next.base", then: "next.then" } });
    this.pair = new Pair(this.words, this.store);
    this.reading = new Latest();
    this.comparing = new Latest();
    this.measuring = new Latest();
    this.store.addEventListener("change", (event) => this.changed(event.detail));
    document.querySelector("#trouble button").addEventListener("click", () => this.ask(true));
    for (const each of document.querySelectorAll("[data-share]")) each.addEventListener("click", () => this[`share_${each.dataset.share}`]());
    document.querySelector(".share input[type=file]").addEventListener("change", (event) => this.opened(event.target));
    addEventListener("hashchange", () => this.fromAddress());
  }

  async start() {
    try {
      const about = await this.model();
      const { name, engine, precision } = about.model;
      const total = about.heads.reduce((a, b) => a + b, 0);
      document.getElementById("model").textContent = this.words.say("model", { name, layers: about.heads.length, heads: total, engine, precision });
      this.offer(about.examples);
      this.pair.offer(about.beside);
      await this.fromAddress();
    } catch (error) {
      this.trouble(error);
    }
  }

  /** What is known about the model, once it is open. */
  async model() {
    for (;;) {
      const { status } = await ask("/api/health");
      if (status !== "opening") return ask("/api/model");
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }

  /** What stands beside the prompt stays there. */
  offer(examples) {
    const choices = Object.entries(examples).map(([name, { prompt, changes }]) => button(this.words.say(`example.${name}`), () => this.store.set({ prompt, changes })));
    document.querySelector("#starts .choices").replaceChildren(...choices);
  }

  changed({ prompt, field }) {
    if (field === null) this.editor.show();
    this.changes.show();
    this.writing.stale();
    this.lens.stale();
    if (prompt) this.instrument.stale(this.parts.map((part) => part.name));
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.ask(prompt || this.unread), field === null ? 0 : PAUSE_MS);
    this.unread ||= prompt;
  }

  get parts() {
    return partsOf(this.store.state.prompt);
  }

  get empty() {
    return this.parts.every((part) => part.text === "");
  }

  /** What is written: the answer as it is, and where a change is on, the one under the changes. */
  asks() {
    const { state } = this.store;
    const base = { base: { state, changed: false } };
    return state.changes.some((change) => change.on) ? { ...base, then: { state, changed: true } } : base;
  }

  /**
   * Tokens where the prompt is another, then the next token; the noise floor when nothing else is wished. What was said
   * to be wrong before is taken back at the beginning, so that what is said meanwhile, of a file for instance, stays.
   */
  async ask(prompt) {
    const { state } = this.store;
    this.trouble(null);
    if (this.empty) return this.clear();
    try {
      if (prompt) await this.reading.run(async (signal) => this.chips.show(await ask("/api/read", { state }, signal)));
      this.unread = false;
      await this.comparing.run(async (signal) => this.show(await ask("/api/compare", { state }, signal)));
      if (this.table.found?.floor === null) this.measure(state);
    } catch (error) {
      this.trouble(error);
    }
  }

  clear() {
    this.chips.empty();
    this.table.clear();
  }

  show(found) {
    this.table.show(found);
    this.changes.show(found);
  }

  /** asked: at once. Else after a pause, and not where dozens of runs of the prompt take long. */
  async measure(state, asked = false) {
    if (!asked && this.chips.read.tokens.length > FLOOR_TOKENS) {
      const go = button(this.words.say("floor.measure"), () => { go.disabled = true; this.measure(this.store.state, true); });
      document.getElementById("floor").replaceChildren(this.words.say("floor.long", { n: FLOOR_TOKENS.toLocaleString() }), " ", go);
      return;
    }
    await this.measuring.run(async (signal) => {
      if (!asked) await new Promise((done) => setTimeout(done, FLOOR_MS));
      if (signal.aborted || state !== this.store.state) return;
      await listen("/api/floor", { state }, ({ floor }) => {
        if (floor !== undefined && state === this.store.state) this.show({ ...this.table.found, floor, floor_reason: "" });
      }, signal);
    }).catch((error) => this.trouble(error));
  }

  trouble(error) {
    const box = document.getElementById("trouble");
    box.hidden = error === null;
    if (error === null) return;
    if (!(error instanceof Trouble)) throw error;
    box.querySelector("p").textContent = error.line;
  }

  async fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1)).get("state");
    if (given) await this.take(() => unpacked(given));
  }

  /** A state from outside: taken only where the server understands it. */
  async take(give) {
    try {
      const state = await give().catch(() => Promise.reject(new Trouble(this.words.say("share.bad"))));
      await ask("/api/read", { state });
      this.store.set(current(state));
    } catch (error) {
      this.trouble(error);
    }
  }

  async opened(input) {
    const [file] = input.files;
    if (file) await this.take(async () => JSON.parse(await file.text()));
    input.value = "";
  }

  async share_link() {
    const address = `${location.origin}/#state=${await packed(this.store.state)}`;
    history.replaceState(null, "", address);
    await navigator.clipboard?.writeText(address).catch(() => {});
    document.getElementById("said").textContent = this.words.say("share.copied");
  }

  share_save() {
    saved("whybox-state.json", JSON.stringify(this.store.state, null, 1));
  }

  share_json() {
    if (!this.table.found) return;
    const { said: _said, ...document } = this.table.found;
    saved("whybox-explore.json", JSON.stringify(document, null, 1));
  }

  share_open() {
    document.querySelector(".share input[type=file]").click();
  }
}

startTheme();
window.explorer = new Explorer(JSON.parse(document.getElementById("data").textContent));
window.explorer.start();
