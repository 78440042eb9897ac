/** Two prompts, or two models, side by side. A is the state's own prompt on the first model; B stands beside it. */

import { drawAligned } from "./aligned.js";
import { Latest, Trouble, ask, listen } from "./api.js";
import { LensView } from "./lens.js";
import { make } from "./make.js";
import { numberText, percentText } from "./numbers.js";
import { saved } from "./save.js";
import { partsOf, unpacked } from "./store.js";
import { Writing, byIds, byText } from "./writing.js";

const PAUSE_MS = 200;
const FLOOR_MS = 900;
const FLOOR_TOKENS = 1024;
const NOTHING = 0.0005; // a difference of less than .05 percentage points

export class Pair {
  constructor(words, store) {
    Object.assign(this, { words, store, asked: {}, found: null });
    this.root = document.getElementById("pair");
    this.at = (selector) => this.root.querySelector(selector);
    const trouble = (error) => this.trouble(error);
    this.writing = new Writing(words, this.root, () => this.asks(), trouble, (...given) => (this.found?.same_tokenizer ? byIds : byText)(...given));
    this.lens = new LensView(words, store, trouble, { details: this.at("[data-lens]"), path: "/api/pair/lens", names: { a: "pair.a", b: "pair.b" } });
    this.comparing = new Latest();
    this.measuring = new Latest();
    for (const each of this.root.querySelectorAll("[data-pair]")) each.addEventListener("click", () => this[each.dataset.pair]());
    this.at("input[type=file]").addEventListener("change", (event) => this.opened(event.target));
    this.at("form").addEventListener("submit", (event) => this.pasted(event));
    store.addEventListener("change", (event) => this.changed(event.detail.field !== null));
    this.changed(false);
  }

  /** name: of the model that the server has beside the first; empty where it has none. */
  offer(name) {
    const offer = this.at("[data-pair=model]");
    offer.hidden = !name;
    offer.textContent = this.words.say("pair.model", { name });
    this.name = name;
  }

  prompt() {
    this.store.set({ other: { kind: "prompt", prompt: this.store.state.prompt } });
  }

  model() {
    this.store.set({ other: { kind: "model", name: this.name } });
  }

  swap() {
    const { prompt, other } = this.store.state;
    this.store.set({ prompt: other.prompt, other: { kind: "prompt", prompt } });
  }

  none() {
    this.store.set({ other: null });
  }

  file() {
    this.at("input[type=file]").click();
  }

  json() {
    if (this.found) saved("whybox-pair.json", JSON.stringify(this.found, null, 1));
  }

  async opened(input) {
    const [file] = input.files;
    if (file) await this.take(async () => JSON.parse(await file.text()));
    input.value = "";
  }

  async pasted(event) {
    event.preventDefault();
    const given = event.target.elements.link.value;
    await this.take(async () => unpacked(new URLSearchParams(given.slice(given.indexOf("#") + 1)).get("state")));
  }

  /** The prompt of another state as B. */
  async take(give) {
    try {
      const state = await give().catch(() => Promise.reject(new Trouble(this.words.say("share.bad"))));
      await ask("/api/read", { state });
      this.store.set({ other: { kind: "prompt", prompt: state.prompt } });
    } catch (error) {
      this.trouble(error);
    }
  }

  /** Asked anew where either side is another. later: while somebody types. */
  changed(later) {
    const { prompt, other } = this.store.state;
    if (prompt === this.asked.prompt && other === this.asked.other) return;
    this.asked = { prompt, other };
    this.found = null;
    this.comparing.stop();
    this.measuring.stop();
    this.lens.stale();
    this.writing.stale();
    this.trouble(null);
    this.at("#pair-found").hidden = true;
    this.at("[data-pair=swap]").hidden = other?.kind !== "prompt";
    this.at("[data-pair=none]").hidden = other === null;
    this.at("#pair-told").textContent = this.words.say(other === null ? "pair.note" : `pair.note.${other.kind}`, { name: other?.name ?? "" });
    clearTimeout(this.pause);
    if (other !== null) this.pause = setTimeout(() => this.ask(), later ? PAUSE_MS : 0);
  }

  async ask() {
    const { state } = this.store;
    if ([state.prompt, state.other.prompt ?? state.prompt].some((prompt) => partsOf(prompt).every((part) => part.text === ""))) return;
    try {
      await this.comparing.run(async (signal) => this.show(await ask("/api/pair", { state }, signal)));
      if (this.found && this.found.floor === null) this.measure(state);
    } catch (error) {
      this.trouble(error);
    }
  }

  /** The noise floor of both sides, when nothing else is wished; of long prompts not at all. */
  async measure(state) {
    if (this.found.kl_ab === null || this.found.a.tokens.length > FLOOR_TOKENS) return;
    await this.measuring.run(async (signal) => {
      await new Promise((done) => setTimeout(done, FLOOR_MS));
      for (const side of ["own", "other"]) if (!signal.aborted) await listen("/api/floor", { state, side }, () => {}, signal);
      if (!signal.aborted) this.show(await ask("/api/pair", { state }, signal));
    }).catch((error) => this.trouble(error));
  }

  asks() {
    const { state } = this.store;
    return { a: { state, side: "own" }, b: { state, side: "other" } };
  }

  trouble(error) {
    const line = this.at("#pair-trouble");
    line.hidden = error === null;
    if (error === null) return;
    if (!(error instanceof Trouble)) throw error;
    line.textContent = error.line;
  }

  show(found) {
    this.found = found;
    for (const side of ["a", "b"]) {
      drawAligned(this.at(`[data-tokens=${side}]`), found[side].tokens, this.words);
      this.at(`[data-named=${side}]`).textContent = this.named(side);
    }
    const most = Math.max(...found.next.flatMap((row) => [row.a ?? 0, row.b ?? 0]));
    this.at("#pair-next tbody").replaceChildren(...found.next.map((row) => this.row(row, most)));
    this.at("#pair-finding").textContent = this.finding(found);
    this.at("#pair-apart").textContent = this.apart(found);
    this.at("#pair-floor").textContent = this.floor(found);
    this.at("#pair-found").hidden = false;
  }

  named(side) {
    const { name, engine, precision } = this.found[side].model;
    if (this.found.state.other.kind === "model") return `${name} · ${engine} ${precision}`;
    return this.words.say(side === "a" ? "pair.edited" : "pair.pinned");
  }

  row(row, most) {
    const cell = (side) => {
      if (row[side] === null) return make("td", { class: "quiet" }, this.words.say("pair.nosuch"));
      const fill = make("span", { class: `amount ${side === "a" ? "base" : "then"}` });
      fill.style.width = `${(100 * row[side]) / most}%`;
      return make("td", { class: "num" }, make("span", { class: "lane" }, fill), percentText(row[side]));
    };
    return make("tr", {}, make("th", { scope: "row", class: "mono" }, row.text), cell("a"), cell("b"), make("td", { class: "num" }, this.difference(row)));
  }

  difference({ a, b }) {
    if (a === null || b === null) return "—";
    if (Math.abs(b - a) < NOTHING) return "≈ 0";
    return `${b > a ? "+" : ""}${numberText(100 * (b - a))}`;
  }

  /** One sentence that claims what was measured. */
  finding(found) {
    const best = (side) => found.next.reduce((one, other) => ((other[side] ?? 0) > (one[side] ?? 0) ? other : one)).text;
    const [a, b] = [best("a"), best("b")].map((text) => `“${text}”`);
    const top = this.words.say(a === b ? "pair.top.same" : "pair.top", { a, b });
    const size = (kl) => (found.floor !== null && kl <= found.floor ? this.words.say("whatif.below") : `${numberText(kl)} nats`);
    return found.kl_ab === null ? this.words.say("pair.nothing", { top }) : this.words.say("pair.kl", { top, ab: size(found.kl_ab), ba: size(found.kl_ba) });
  }

  apart(found) {
    const count = (side) => found[side].tokens.filter((token) => token.apart).length;
    const told = { a: count("a"), b: count("b"), n: found.a.tokens.length.toLocaleString(), m: found.b.tokens.length.toLocaleString() };
    const differ = this.words.say(told.a + told.b ? "pair.apart" : "pair.alike", told);
    return [differ, found.aligned ? "" : this.words.say("pair.unaligned"), found.same_tokenizer ? "" : this.words.say("pair.tokenizers")].filter(Boolean).join(" ");
  }

  floor(found) {
    if (found.kl_ab === null) return this.words.say("pair.nokl");
    if (found.floor !== null) return this.words.say("pair.floor", { floor: numberText(found.floor) });
    return this.words.say(found.a.tokens.length > FLOOR_TOKENS ? "pair.floor.long" : "floor.unknown", { n: FLOOR_TOKENS.toLocaleString() });
  }
}
