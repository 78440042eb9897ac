/** The head view for short prompts: queries on the left, keys on the right, a line for every weight that can be seen. */

import { apart, colour, roomFor, sized } from "./paint.js";

export const MOST_LINED = 64;
const LINE = 22;
const FAINT = 0.04;

export class HeadLines {
  constructor(canvas, axes, choose) {
    Object.assign(this, { canvas, axes, choose });
    canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.point(event));
    canvas.addEventListener("pointerdown", (event) => this.point(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("themechange", () => this.map && this.paint());
    new ResizeObserver(() => this.map && this.paint()).observe(canvas.parentElement);
  }

  show(map) {
    this.map = map;
    this.paint();
  }

  paint() {
    if (this.canvas.closest("[hidden]")) return;
    const { source, row } = this.map;
    const width = roomFor(this.canvas);
    const lines = Math.max(source.rows, source.columns);
    const context = sized(this.canvas, width, lines * LINE + 4);
    this.edges = [Math.round(width * 0.32), Math.round(width * 0.68)];
    for (let q = 0; q < source.rows; q += 1) if (q !== row) this.fan(context, q, this.map.read(q), "strong", 0.5);
    this.fan(context, row, this.map.weights, "share", 1);
    this.side(context, "rows", this.edges[0] - 8, "right", (q) => (q === row ? 1 : 0.5));
    const seen = (k) => (this.map.weights[k] >= FAINT ? 1 : 0.5);
    this.side(context, "columns", this.edges[1] + 8, "left", seen);
  }

  fan(context, q, weights, name, strength) {
    context.strokeStyle = colour(name);
    for (let k = 0; k < weights.length; k += 1) {
      if (!(weights[k] >= (strength === 1 ? 0.005 : FAINT))) continue;
      context.globalAlpha = strength === 1 ? 0.15 + 0.85 * weights[k] : strength * weights[k] * 0.5;
      context.lineWidth = strength === 1 ? 1 + 5 * weights[k] : 1;
      const [from, to] = [(q + 0.5) * LINE, (k + 0.5) * LINE];
      context.beginPath();
      context.moveTo(this.edges[0], from);
      context.bezierCurveTo(this.edges[0] + 60, from, this.edges[1] - 60, to, this.edges[1], to);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  side(context, axis, x, align, strength) {
    context.font = `13px ${getComputedStyle(this.canvas).fontFamily}`;
    context.textAlign = align;
    context.textBaseline = "middle";
    this.axes[axis].labels.forEach((label, i) => {
      const part = this.axes[axis].parts[i];
      context.globalAlpha = strength(i) * (part ? 0.75 : 1);
      context.fillStyle = colour(part ? "quiet" : "ink");
      context.fillText(part ? `${apart(label)} ${part}` : label, x, (i + 0.5) * LINE, this.edges[0] - 12);
    });
    context.globalAlpha = 1;
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    if (event.clientX - box.left > this.edges[1]) return;
    this.choose(Math.floor((event.clientY - box.top) / LINE));
  }

  key(event) {
    const move = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!move) return;
    this.choose(this.map.row + move);
    event.preventDefault();
  }
}
