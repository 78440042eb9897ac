/**
 * The model view: a small pooled map for every head, layers down and heads across, or in the order of a statistic.
 * All maps share one colour scale. Marks of the classes stand in the upper corner, which a causal map leaves empty.
 */

import { colour, copied, hatch, laid, pixels, roomFor, sized } from "./paint.js";
import { Pooled } from "./weights.js";

const GAP = 4;
const TALLEST = 1120;
const LABELS = 26;
const CAPTION = 14;

export class Grid {
  constructor(canvas, look, open, hover) {
    Object.assign(this, { canvas, open, hover });
    this.heads = look.heads;
    this.side = look.grid;
    this.marks = look.marks;
    this.order = null;
    this.shown = () => true;
    this.chosen = 0;
    this.opened = 0;
    canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.point(event, false));
    canvas.addEventListener("click", (event) => this.point(event, true));
    canvas.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("themechange", () => this.paint());
    this.paint();
    new ResizeObserver(() => this.paint()).observe(canvas.parentElement);
  }

  /** The pooled map of one head, as a source of rows. */
  map(index) {
    const { rows, columns, bytes, blocks } = this.side;
    return new Pooled(bytes.subarray(index * rows * columns, (index + 1) * rows * columns), rows, columns, blocks);
  }

  /** Heads in this order, a list of places; null: layer by layer. */
  sort(order) {
    this.order = order;
    this.paint();
  }

  /** Only these heads in full strength. */
  filter(shown) {
    this.shown = shown;
    this.paint();
  }

  places() {
    if (this.order !== null) return this.order.map((index, i) => ({ index, row: Math.floor(i / this.across), column: i % this.across }));
    return this.heads.map((head, index) => ({ index, row: this.layers.indexOf(head.layer), column: head.head }));
  }

  layout() {
    this.layers = [...new Set(this.heads.map((head) => head.layer))];
    const widest = 1 + Math.max(...this.heads.map((head) => head.head));
    const width = roomFor(this.canvas);
    const least = Math.min((width - LABELS) / widest, TALLEST / this.layers.length);
    const cell = Math.floor(Math.max(10, Math.min(72, least))) - GAP;
    const sorted = this.order !== null;
    this.across = sorted ? Math.max(1, Math.floor(width / (Math.max(cell, 28) + GAP))) : widest;
    this.cell = sorted ? Math.max(cell, 28) : cell;
    this.step = [this.cell + GAP, this.cell + GAP + (sorted ? CAPTION : 0)];
    this.inset = sorted ? [0, 0] : [LABELS, CAPTION + 4];
    const rows = sorted ? Math.ceil(this.heads.length / this.across) : this.layers.length;
    return [this.inset[0] + this.across * this.step[0], this.inset[1] + rows * this.step[1] + 2];
  }

  paint() {
    const context = (this.context = sized(this.canvas, ...this.layout()));
    context.imageSmoothingEnabled = false;
    context.textBaseline = "middle";
    this.at = this.places();
    for (const place of this.at) this.head(context, place);
    if (this.order === null) this.names(context);
    this.still = copied(this.canvas);
    this.cursor();
  }

  corner({ row, column }) {
    return [this.inset[0] + column * this.step[0], this.inset[1] + row * this.step[1]];
  }

  head(context, place) {
    const [x, y] = this.corner(place);
    const { rows, columns } = this.side;
    const map = this.map(place.index);
    const values = new Float32Array(rows * columns);
    for (let q = 0; q < rows; q += 1) values.set(map.row(q), q * columns);
    context.globalAlpha = this.shown(place.index) ? 1 : 0.18;
    context.fillStyle = colour("sunken");
    context.fillRect(x, y, this.cell, this.cell);
    if (!this.side.causal) hatch(context, x, y, this.cell, this.cell);
    context.drawImage(pixels(values, columns, rows, 1), x, y, this.cell, this.cell);
    if (!this.side.causal) this.outline(context, x, y);
    this.mark(context, place.index, x, y);
    context.globalAlpha = 1;
    if (this.order === null) return;
    const { layer, head } = this.heads[place.index];
    this.write(context, `${layer}.${head}`, x + this.cell / 2, y + this.cell + 7, "center");
  }

  /** A full map may be pale up to its edge; a causal one is known by its corner. */
  outline(context, x, y) {
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, this.cell + 1, this.cell + 1);
  }

  /** Letters of the head's classes, as many as fit. */
  mark(context, index, x, y) {
    const letters = this.heads[index].classes.map((name) => this.marks[name]).join("");
    const size = this.cell >= 26 ? 11 : 9;
    const fitting = letters.slice(0, Math.max(1, Math.floor((this.cell * 0.62) / (size * 0.64))));
    if (!fitting) return;
    context.font = `600 ${size}px ui-monospace, monospace`;
    context.textAlign = "right";
    if (!this.side.causal) {
      context.fillStyle = colour("surface");
      context.fillRect(x + this.cell - fitting.length * size * 0.64 - 3, y, fitting.length * size * 0.64 + 3, size + 3);
    }
    context.fillStyle = colour("ink");
    context.fillText(fitting, x + this.cell - 2, y + size / 2 + 2);
  }

  names(context) {
    const every = Math.ceil(16 / this.step[1]);
    this.layers.forEach((layer, row) => {
      if (row % every === 0) this.write(context, layer, LABELS - 7, this.inset[1] + row * this.step[1] + this.cell / 2, "right");
    });
    const often = Math.ceil(22 / this.step[0]);
    for (let head = 0; head < this.across; head += often) {
      this.write(context, head, this.inset[0] + head * this.step[0] + this.cell / 2, CAPTION / 2 + 1, "center");
    }
  }

  write(context, text, x, y, align) {
    context.font = `11px ${getComputedStyle(this.canvas).fontFamily}`;
    context.textAlign = align;
    context.fillStyle = colour("quiet");
    context.fillText(text, x, y);
  }

  cursor() {
    laid(this.context, this.still);
    const frame = (index, name, width) => {
      const place = this.at.find((each) => each.index === index);
      const [x, y] = this.corner(place);
      this.context.strokeStyle = colour(name);
      this.context.lineWidth = width;
      this.context.strokeRect(x - 1, y - 1, this.cell + 2, this.cell + 2);
    };
    frame(this.opened, "ink", 2);
    frame(this.chosen, "accent", 2);
  }

  choose(index) {
    this.chosen = index;
    this.cursor();
    this.hover(index);
  }

  point(event, opening) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.inset[0]) / this.step[0]);
    const row = Math.floor((event.clientY - box.top - this.inset[1]) / this.step[1]);
    const place = this.at.find((each) => each.row === row && each.column === column);
    if (!place) return;
    if (place.index !== this.chosen) this.choose(place.index);
    if (opening) this.open(place.index);
  }

  key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (event.key === "Enter" || event.key === " ") this.open(this.chosen);
    else if (event.key === "Home") this.choose(this.at[0].index);
    else if (event.key === "End") this.choose(this.at.at(-1).index);
    else if (move) {
      const here = this.at.find((each) => each.index === this.chosen);
      const there = this.at.find((each) => each.row === here.row + move[0] && each.column === here.column + move[1]);
      if (there) this.choose(there.index);
    } else return;
    event.preventDefault();
  }
}
