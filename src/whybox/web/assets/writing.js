/** Answers, written token by token side by side. */

import { Latest, listen } from "./api.js";

export class Writing {
  /**
   * root: what holds the button, the number of tokens, a text for each side and the sentence about both.
   * asks: gives what is asked, by side. differ: a sentence about two finished answers.
   */
  constructor(words, root, asks, trouble, differ = byIds) {
    Object.assign(this, { words, asks, trouble, differ });
    this.latest = new Latest();
    this.button = root.querySelector("[data-write]");
    this.count = root.querySelector("[data-count]");
    this.texts = Object.fromEntries([...root.querySelectorAll("[data-text]")].map((each) => [each.dataset.text, each]));
    this.told = root.querySelector("[data-told]");
    this.button.addEventListener("click", () => (this.busy ? this.latest.stop() : this.write()));
  }

  /** What is shown no longer belongs to the state. */
  stale() {
    this.latest.stop();
    this.told.textContent = "";
    for (const text of Object.values(this.texts)) this.put(text, this.words.say("answer.none"), true);
  }

  async write() {
    const asks = Object.entries(this.asks());
    const found = {};
    this.told.textContent = "";
    this.turn(true);
    try {
      await this.latest.run((signal) => Promise.all(asks.map(([side, asked]) => this.side(side, asked, found, signal))));
      const ended = Object.keys(this.texts).map((side) => found[side]);
      if (ended.every((one) => one?.ended)) this.told.textContent = this.differ(this.words, ...ended);
    } catch (error) {
      this.trouble(error);
    }
    this.turn(false);
  }

  async side(side, asked, found, signal) {
    const count = Math.min(256, Math.max(1, this.count.valueAsNumber || 24));
    await listen("/api/write", { ...asked, count }, (line) => {
      found[side] = line;
      this.put(this.texts[side], line.text || (line.ended ? this.words.say("answer.empty") : "…"), !line.text);
    }, signal);
  }

  put(element, text, quiet) {
    element.textContent = text;
    element.classList.toggle("quiet", quiet);
  }

  turn(busy) {
    this.busy = busy;
    this.button.textContent = this.words.say(busy ? "answer.stop" : "answer.write");
  }
}

/** Where two answers of one tokenizer part. */
export function byIds(words, one, other) {
  const place = parted(one.ids, other.ids);
  return place === null ? words.say("answer.equal") : words.say("answer.differ", { n: place });
}

/** Where two answers part whose tokens mean different things. */
export function byText(words, one, other) {
  const place = parted([...one.text], [...other.text]);
  return place === null ? words.say("answer.equal.text") : words.say("answer.differ.text", { n: place });
}

/** The first place, counted from 1, at which two lists differ; null where they are equal. */
function parted(one, other) {
  const place = Array.from({ length: Math.max(one.length, other.length) }, (_, i) => i).find((i) => one[i] !== other[i]);
  return place === undefined ? null : place + 1;
}
