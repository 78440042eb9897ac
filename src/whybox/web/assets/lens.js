/** The logit lens: by layer, the logit of one token minus that of another, as it is beside the changes. */

import { Latest, ask } from "./api.js";
import { make, number } from "./make.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const WIDTH = 640;
const INSET = 44;

export class LensView {
  constructor(words, store, trouble) {
    Object.assign(this, { words, store, trouble });
    this.latest = new Latest();
    this.details = document.getElementById("lens");
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
      await this.latest.run(async (signal) => this.show(await ask("/api/lens", { state }, signal)));
    } catch (error) {
      this.trouble(error);
    }
  }

  show(lens) {
    const pair = { first: `“${lens.first}”`, second: `“${lens.second}”` };
    const sides = lens.then ? ["base", "then"] : ["base"];
    const caption = make("figcaption", {}, make("strong", {}, this.words.say("lens.finding", pair)), " ", make("span", { class: "quiet" }, this.words.say("lens.axis", pair)));
    const head = make("tr", {}, ...[this.words.say("head.layer"), ...sides.flatMap((side) => [this.words.say(`next.${side}`), this.words.say("lens.top")])].map((text) => make("th", { scope: "col" }, text)));
    const rows = lens.base.map((row, i) => make("tr", {}, make("td", {}, String(row.layer)), ...sides.flatMap((side) => [make("td", { class: "num" }, number(lens[side][i].ld)), make("td", { class: "mono" }, lens[side][i].top)])));
    const table = make("details", { class: "exact" }, make("summary", {}, this.words.say("lens.table")), make("div", { class: "scroll", tabIndex: 0 }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
    this.place.replaceChildren(caption, this.chart(lens, sides), table);
  }

  chart(lens, sides) {
    const values = sides.flatMap((side) => lens[side].map((row) => row.ld));
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const x = (i) => INSET + (i * (WIDTH - INSET - 8)) / Math.max(lens.base.length - 1, 1);
    const y = (value) => 8 + ((high - value) * (HEIGHT - 32)) / (high - low || 1);
    const drawn = [draw("line", { x1: INSET, x2: WIDTH, y1: y(0), y2: y(0), class: "zero" })];
    for (const value of new Set([low, 0, high])) drawn.push(draw("text", { x: INSET - 6, y: y(value) + 4, class: "tick", "text-anchor": "end" }, number(value)));
    for (let i = 0; i < lens.base.length; i += 5) drawn.push(draw("text", { x: x(i), y: HEIGHT - 4, class: "tick", "text-anchor": "middle" }, String(lens.base[i].layer)));
    for (const side of sides) {
      drawn.push(draw("polyline", { points: lens[side].map((row, i) => `${x(i)},${y(row.ld)}`).join(" "), class: `lens-line ${side}` }));
      drawn.push(...lens[side].map((row, i) => draw("circle", { cx: x(i), cy: y(row.ld), r: 3, class: `lens-dot ${side}` })));
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
