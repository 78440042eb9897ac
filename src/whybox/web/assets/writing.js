/** Both answers, written token by token side by side. */

import { Latest, listen } from "./api.js";

export class Writing {
  constructor(words, store, trouble) {
    Object.assign(this, { words, store, trouble });
    this.latest = new Latest();
    this.button = document.querySelector("[data-write]");
    this.texts = { base: document.getElementById("text-base"), then: document.getElementById("text-then") };
    this.told = document.getElementById("texts-told");
    this.button.addEventListener("click", () => (this.busy ? this.latest.stop() : this.write()));
  }

  /** What is shown no longer belongs to the state. */
  stale() {
    this.latest.stop();
    this.told.textContent = "";
    for (const text of Object.values(this.texts)) this.put(text, this.words.say("answer.none"), true);
  }

  async write() {
    const { state } = this.store;
    const changed = state.changes.some((change) => change.on);
    this.told.textContent = "";
    const sides = changed ? ["base", "then"] : ["base"];
    const found = {};
    this.turn(true);
    try {
      await this.latest.run((signal) => Promise.all(sides.map((side) => this.side(side, state, found, signal))));
      if (found.base?.ended && found.then?.ended) this.told.textContent = this.compared(found.base.ids, found.then.ids);
    } catch (error) {
      this.trouble(error);
    }
    this.turn(false);
  }

  async side(side, state, found, signal) {
    const count = Math.min(256, Math.max(1, document.getElementById("count").valueAsNumber || 24));
    await listen("/api/write", { state, changed: side === "then", count }, (line) => {
      found[side] = line;
      this.put(this.texts[side], line.text || (line.ended ? this.words.say("answer.empty") : "…"), !line.text);
    }, signal);
  }

  put(element, text, quiet) {
    element.textContent = text;
    element.classList.toggle("quiet", quiet);
  }

  compared(base, then) {
    const apart = [...Array(Math.max(base.length, then.length)).keys()].find((i) => base[i] !== then[i]);
    return apart === undefined ? this.words.say("answer.equal") : this.words.say("answer.differ", { n: apart + 1 });
  }

  turn(busy) {
    this.busy = busy;
    this.button.textContent = this.words.say(busy ? "answer.stop" : "answer.write");
  }
}
