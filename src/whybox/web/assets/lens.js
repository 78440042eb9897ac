/** The logit lens: by layer, the logit of one token minus that of another, on one side or on both. */

import { Latest, ask } from "./api.js";
import { make } from "./make.js";
import { numberText } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const WIDTH = 640;
const INSET = 44;
const STYLES = ["base", "then"];

export class LensView {
  /** details: where it unfolds. path: what is asked. names: of the first and of the second side, as the answer has them. */
  constructor(words, store, trouble, { details, path, names }) {
    Object.assign(this, { words, store, trouble, details, path, names });
    this.latest = new Latest();
    this.details.addEventListener("toggle", () => this.details.open && this.ask());
  }

  /** Asked anew where it is open; the numbers of another state are not left standing. */
  stale() {
    this.latest.stop();
    this.place.replaceChildren();
    clearTimeout(this.pause);
    if (this.details.open) this.pause = setTimeout(() => this.ask(), 400);
  }

  get place() {
    return this.details.querySelector("figure");
  }

  async ask() {
    try {
      const { state } = this.store;
      await this.latest.run(async (signal) => this.show(await ask(this.path, { state }, signal)));
    } catch (error) {
      this.trouble(error);
    }
  }

  show(lens) {
    const pair = { first: `“${lens.first}”`, second: `“${lens.second}”` };
    const sides = Object.keys(this.names).filter((side) => lens[side]);
    const told = (side) => this.words.say(this.names[side]);
    const legend = sides.map((side, i) => make("span", {}, make("span", { class: `swatch ${STYLES[i]}`, "aria-hidden": "true" }), told(side)));
    const caption = make("figcaption", {}, make("strong", {}, this.words.say("lens.finding", pair)), " ", make("span", { class: "quiet" }, this.words.say("lens.axis", pair)));
    const head = make("tr", {}, ...[this.words.say("head.layer"), ...sides.flatMap((side) => [told(side), this.words.say("lens.top")])].map((text) => make("th", { scope: "col" }, text)));
    const layers = Math.max(...sides.map((side) => lens[side].length));
    const cells = (row) => (row ? [make("td", { class: "num" }, numberText(row.ld)), make("td", { class: "mono" }, row.top)] : [make("td", {}, "—"), make("td", {}, "—")]);
    const rows = Array.from({ length: layers }, (_, i) => make("tr", {}, make("td", {}, String(i)), ...sides.flatMap((side) => cells(lens[side][i]))));
    const table = make("details", { class: "exact" }, make("summary", {}, this.words.say("lens.table")), make("div", { class: "scroll", tabIndex: 0 }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
    this.place.replaceChildren(caption, make("p", { class: "legend" }, ...legend), this.chart(lens, sides), table);
  }

  /** Layers from left to right; where the sides have different numbers of them, each from its first to its last. */
  chart(lens, sides) {
    const values = sides.flatMap((side) => lens[side].map((row) => row.ld));
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const x = (i, of) => INSET + (i * (WIDTH - INSET - 8)) / Math.max(of.length - 1, 1);
    const y = (value) => 8 + ((high - value) * (HEIGHT - 32)) / (high - low || 1);
    const drawn = [draw("line", { x1: INSET, x2: WIDTH, y1: y(0), y2: y(0), class: "zero" })];
    for (const value of new Set([low, 0, high])) drawn.push(draw("text", { x: INSET - 6, y: y(value) + 4, class: "tick", "text-anchor": "end" }, numberText(value)));
    const [first] = sides.map((side) => lens[side]);
    const tick = (i, text, anchor) => drawn.push(draw("text", { x: x(i, first), y: HEIGHT - 4, class: "tick", "text-anchor": anchor }, text));
    if (sides.every((side) => lens[side].length === first.length)) for (let i = 0; i < first.length; i += 5) tick(i, String(first[i].layer), "middle");
    else [[0, "lens.begin", "start"], [first.length - 1, "lens.end", "end"]].forEach(([i, key, anchor]) => tick(i, this.words.say(key), anchor));
    for (const [i, side] of sides.entries()) {
      drawn.push(draw("polyline", { points: lens[side].map((row, l) => `${x(l, lens[side])},${y(row.ld)}`).join(" "), class: `lens-line ${STYLES[i]}` }));
      drawn.push(...lens[side].map((row, l) => draw("circle", { cx: x(l, lens[side]), cy: y(row.ld), r: 3, class: `lens-dot ${STYLES[i]}` })));
    }
    return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot lens-plot", role: "img", "aria-label": this.words.say("lens.axis", { first: lens.first, second: lens.second }) }, ...drawn);
  }
}

function draw(name, given, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
