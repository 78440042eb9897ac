/** A recital: a timer, a text, and the list of points that were looked for. */

import { ask } from "./api.js";
import { problem } from "./graded.js";
import { button, make } from "./make.js";
import { inline, prose, sign } from "./prose.js";

const TICK_MS = 250;

function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Counts while it runs; null seconds where it was never started. */
class Timer {
  constructor(minutes, words) {
    Object.assign(this, { minutes, words, spent: null, since: null });
    this.shown = make("span", { role: "timer", class: "num" });
    this.button = button("", () => (this.since === null ? this.start() : this.stop()));
    this.show();
  }

  get seconds() {
    return this.since === null ? this.spent : (this.spent ?? 0) + (performance.now() - this.since) / 1000;
  }

  start() {
    this.since = performance.now();
    this.tick = setInterval(() => this.show(), TICK_MS);
    this.show();
  }

  stop() {
    this.spent = this.seconds;
    this.since = null;
    clearInterval(this.tick);
    this.show();
  }

  show() {
    this.shown.textContent = this.words.say("recital.time", { spent: clock(this.seconds ?? 0), minutes: clock(60 * this.minutes) });
    this.shown.classList.toggle("over", (this.seconds ?? 0) > 60 * this.minutes);
    this.button.textContent = this.words.say(this.since === null ? "recital.start" : "recital.stop");
  }
}

export class Recital {
  constructor(row, { chapter, lang, words }) {
    Object.assign(this, { row, chapter, lang, words });
    this.timer = new Timer(row.minutes, words);
    this.box = make("textarea", { rows: "10", required: true, maxlength: "20000" });
    this.best = make("span", { class: "quiet" });
    this.result = make("div", { class: "result", role: "status" });
    const name = make("label", { class: "code" }, make("span", {}, words.say("recital.text")), this.box);
    const tools = make("p", { class: "tools" }, make("button", { class: "main" }, words.say("recital.check")), this.best);
    this.element = make("form", { class: "question", onsubmit: (event) => this.check(event) },
      make("div", { class: "prose" }, ...prose(row.ask)), make("p", { class: "tools" }, this.timer.button, this.timer.shown), name, tools, this.result);
    this.showBest(row.best);
  }

  showBest(found) {
    this.row.best = Math.max(this.row.best, found);
    this.best.textContent = this.row.best ? this.words.say("recital.best", { n: this.row.best, of: this.row.stations }) : "";
  }

  async check(event) {
    event.preventDefault();
    if (this.timer.since !== null) this.timer.stop();
    try {
      this.show(await ask(`/api/learn/${this.chapter}/recital`, { told: this.box.value, seconds: this.timer.seconds, lang: this.lang }));
    } catch (error) {
      this.result.replaceChildren(problem(error));
    }
  }

  show({ stations, found, remarks, note }) {
    const heard = ({ found: told, in_order: inOrder }) => {
      if (!told) return sign("✗", this.words.say("recital.out"), "not");
      return inOrder === false ? sign("↕", this.words.say("recital.order")) : sign("✓", this.words.say("recital.in"), "holds");
    };
    const out = ({ found: told, in_order: inOrder }) => (told && inOrder === false ? make("small", {}, ` ${this.words.say("recital.order")}`) : "");
    const line = (station) => make("li", {}, heard(station), make("span", {}, ...inline(station.say), out(station)));
    this.result.replaceChildren(
      make("p", { class: "verdict" }, make("b", {}, this.words.say("recital.found", { n: found, of: stations.length }))),
      make("ul", { class: "remarks" }, ...stations.map(line)),
      ...remarks.map((remark) => make("p", {}, remark)), make("p", { class: "quiet" }, note));
    this.showBest(found);
  }
}
