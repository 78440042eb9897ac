/**
 * One head on a canvas: rows are queries, columns are keys. Beyond 512 tokens a cell is a block of tokens: the share
 * that the block's keys get, mean over its queries. Zooming in shows single tokens and their labels. Rows are computed
 * a few at a time between two frames, so that the page stays usable while a long map fills.
 */

import { apart, colour, copied, hatch, laid, pixels, roomFor, sized } from "./paint.js";
import { withoutSink } from "./weights.js";

const MOST_CELLS = 512;
const LEAST_VIEW = 12;
const LABEL_CELL = 11;
const MARGIN_STRIP = 12;
const FRAME_MS = 8;

export class HeadMap {
  constructor(canvas, axes, segments, chosen) {
    Object.assign(this, { canvas, axes, segments, chosen, sinkOut: false });
    canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.point(event));
    canvas.addEventListener("pointerdown", (event) => this.point(event));
    canvas.addEventListener("dblclick", () => this.zoom(0.5));
    canvas.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("themechange", () => this.source && this.paint());
    new ResizeObserver(() => this.source && this.paint()).observe(canvas.parentElement);
  }

  /** Shows another head; the chosen query stays where it was, the chosen key is its heaviest. */
  show(source) {
    const scale = (this.source?.blocks.rows ?? 1) / source.blocks.rows;
    const kept = this.source && this.row < this.source.rows - 1 ? Math.floor(this.row * scale) : source.rows - 1;
    this.source = source;
    this.row = Math.min(kept, source.rows - 1);
    this.weights = this.read(this.row);
    this.column = heaviest(this.weights, 0, source.columns);
    this.whole();
  }

  read(row) {
    const weights = this.source.row(row);
    return this.sinkOut ? withoutSink(weights) : weights;
  }

  takeOutSink(out) {
    this.sinkOut = out;
    this.weights = this.read(this.row);
    if (Number.isNaN(this.weights[this.column])) this.column = heaviest(this.weights, 0, this.source.columns);
    this.begin();
  }

  whole() {
    this.view = { top: 0, left: 0, rows: this.source.rows, columns: this.source.columns };
    this.begin();
  }

  get zoomed() {
    return this.view.rows < this.source.rows || this.view.columns < this.source.columns;
  }

  /** The view made larger or smaller by a factor, around the chosen cell. */
  zoom(factor) {
    const { source, view } = this;
    const fit = (size, all) => Math.min(all, Math.max(LEAST_VIEW, Math.round(size * factor)));
    const rows = fit(view.rows, source.rows);
    const columns = fit(view.columns, source.columns);
    if (rows === view.rows && columns === view.columns) return;
    const around = (place, size, all) => Math.max(0, Math.min(Math.round(place - size / 2), all - size));
    this.view = { top: around(this.row, rows, source.rows), left: around(this.column, columns, source.columns), rows, columns };
    this.begin();
  }

  begin() {
    const { view } = this;
    const step = Math.max(1, Math.ceil(Math.max(view.rows, view.columns) / MOST_CELLS));
    const size = [Math.ceil(view.columns / step), Math.ceil(view.rows / step)];
    this.picture = { step, columns: size[0], rows: size[1], values: new Float32Array(size[0] * size[1]).fill(NaN) };
    this.next = view.top;
    cancelAnimationFrame(this.pending);
    this.work();
    this.chosen(this);
  }

  work() {
    const bottom = this.view.top + this.view.rows;
    const until = performance.now() + FRAME_MS;
    do this.add(this.next++);
    while (this.next < bottom && performance.now() < until);
    this.paint();
    if (this.next < bottom) this.pending = requestAnimationFrame(() => this.work());
  }

  /** Adds one query's row to the picture. */
  add(row) {
    const { view, picture } = this;
    const { step, columns, values } = picture;
    const weights = this.read(row);
    const line = Math.floor((row - view.top) / step);
    const members = Math.min(step, view.rows - line * step);
    for (let k = 0; k < view.columns; k += 1) {
      const weight = weights[view.left + k];
      if (Number.isNaN(weight)) continue;
      const cell = line * columns + Math.floor(k / step);
      values[cell] = (Number.isNaN(values[cell]) ? 0 : values[cell]) + weight / members;
    }
  }

  get most() {
    return this.picture.values.reduce((most, value) => (value > most ? value : most), 0) || 1;
  }

  /** Room for labels only where a cell is tall enough to hold one, and no more than the labels in view need. */
  layout() {
    const { view, canvas } = this;
    const width = roomFor(canvas);
    const most = Math.min(112, Math.round(width * 0.24));
    const labelled = this.source.blocks.rows === 1 && (width - most - MARGIN_STRIP) / view.columns >= LABEL_CELL;
    const needed = () => [this.longest("rows", view.top, view.rows, most), this.longest("columns", view.left, view.columns, most)];
    const room = labelled ? needed() : [0, 0];
    const margin = MARGIN_STRIP + 4 + room[0];
    const plot = width - margin;
    const height = Math.max(120, Math.round(plot * Math.min(1.4, view.rows / view.columns)));
    return { width, margin, plot, height, room, labelled, cell: [plot / view.columns, height / view.rows] };
  }

  longest(axis, first, count, most) {
    const context = this.canvas.getContext("2d");
    context.font = `13px ${getComputedStyle(this.canvas).fontFamily}`;
    let longest = 0;
    for (let i = first; i < first + count; i += 1) longest = Math.max(longest, context.measureText(this.label(axis, i)).width);
    return Math.min(most, Math.ceil(longest) + 10);
  }

  label(axis, place) {
    const part = this.axes[axis].parts[place];
    return apart(this.axes[axis].labels[place]) + (part ? ` ${part}` : "");
  }

  paint() {
    if (roomFor(this.canvas) === 0) return; // the lines are on show
    const layout = (this.drawn = this.layout());
    const { picture } = this;
    const context = (this.context = sized(this.canvas, layout.width, layout.height + MARGIN_STRIP + 4 + layout.room[1]));
    hatch(context, layout.margin, 0, layout.plot, layout.height);
    context.imageSmoothingEnabled = false;
    const image = pixels(picture.values, picture.columns, picture.rows, this.most);
    const across = (picture.columns * picture.step) / this.view.columns;
    const down = (picture.rows * picture.step) / this.view.rows;
    context.save();
    context.beginPath();
    context.rect(layout.margin, 0, layout.plot, layout.height);
    context.clip();
    context.drawImage(image, layout.margin, 0, layout.plot * across, layout.height * down);
    context.restore();
    this.strips(layout);
    if (layout.labelled) this.labels(layout);
    this.still = copied(this.canvas);
    this.cursor();
  }

  segmentAt(axis, place) {
    return this.axes[axis].segments[Math.min(place * this.source.blocks[axis], this.axes[axis].segments.length - 1)];
  }

  /** A stripe per segment along both axes, with its letter where it is long enough. */
  strips({ margin, height, cell }) {
    const { view, context } = this;
    const lay = (axis, first, count, size, rectangle) => {
      for (let start = 0, end; start < count; start = end) {
        const segment = this.segmentAt(axis, first + start);
        end = start + 1;
        while (end < count && this.segmentAt(axis, first + end) === segment) end += 1;
        const [x, y, w, h] = rectangle(start * size, Math.max((end - start) * size - 1, 0.5));
        context.fillStyle = colour(this.segments[segment].colour);
        context.fillRect(x, y, w, h);
        if (Math.max(w, h) < 13) continue;
        context.fillStyle = colour("surface");
        context.font = "600 10px ui-monospace, monospace";
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(this.segments[segment].letter, x + w / 2, y + h / 2 + 0.5);
      }
    };
    lay("rows", view.top, view.rows, cell[1], (at, long) => [margin - MARGIN_STRIP - 2, at, MARGIN_STRIP, long]);
    lay("columns", view.left, view.columns, cell[0], (at, long) => [margin + at, height + 2, long, MARGIN_STRIP]);
  }

  labels({ margin, height, room, cell }) {
    const { view, context } = this;
    const size = Math.min(13, Math.max(10, Math.floor(Math.min(...cell)) - 1));
    const family = getComputedStyle(this.canvas).fontFamily;
    const write = (axis, place, most, x, y) => {
      const part = this.axes[axis].parts[place];
      context.font = `${size}px ${family}`;
      context.fillStyle = colour(part ? "quiet" : "ink");
      context.globalAlpha = part ? 0.75 : 1;
      context.fillText(shortened(context, this.label(axis, place), most - 6), x, y);
      context.globalAlpha = 1;
    };
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let i = 0; i < view.rows; i += 1) write("rows", view.top + i, room[0], margin - MARGIN_STRIP - 7, (i + 0.5) * cell[1]);
    for (let i = 0; i < view.columns; i += 1) {
      context.save();
      context.translate(margin + (i + 0.5) * cell[0], height + MARGIN_STRIP + 7);
      context.rotate(-Math.PI / 2);
      write("columns", view.left + i, room[1], 0, 0);
      context.restore();
    }
  }

  /** The chosen row and cell, over the picture as it was painted: choosing costs no new picture. */
  cursor() {
    const { context, view, drawn } = this;
    if (roomFor(this.canvas) === 0) return;
    laid(context, this.still);
    const x = drawn.margin + (this.column - view.left) * drawn.cell[0];
    const y = (this.row - view.top) * drawn.cell[1];
    if (y < 0 || y >= drawn.height) return;
    context.strokeStyle = colour("accent");
    context.lineWidth = 1;
    context.strokeRect(drawn.margin + 0.5, y + 0.5, drawn.plot - 1, Math.max(drawn.cell[1] - 1, 1));
    if (x < drawn.margin || x >= drawn.width) return;
    context.lineWidth = 2;
    context.strokeRect(x, y, Math.max(drawn.cell[0], 4), Math.max(drawn.cell[1], 4));
  }

  /** The pair under the pointer; in a block of keys the heaviest of them. */
  point(event) {
    const { view, drawn, picture } = this;
    const box = this.canvas.getBoundingClientRect();
    const row = view.top + Math.floor((event.clientY - box.top) / drawn.cell[1]);
    const column = view.left + Math.floor((event.clientX - box.left - drawn.margin) / drawn.cell[0]);
    const first = view.left + Math.floor((column - view.left) / picture.step) * picture.step;
    this.select(row, column, [first, first + picture.step]);
  }

  key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) this.select(this.row + move[0], this.column + move[1]);
    else if (event.key === "Home") this.select(this.row, 0);
    else if (event.key === "End") this.select(this.row, this.source.columns - 1);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.whole();
    else return;
    event.preventDefault();
  }

  select(row, column, range = null) {
    const { source } = this;
    const was = this.row;
    this.row = Math.min(Math.max(row, 0), source.rows - 1);
    if (this.row !== was) this.weights = this.read(this.row);
    this.column = Math.min(Math.max(column, 0), source.columns - 1);
    if (range !== null && range[1] - range[0] > 1) {
      const heavy = heaviest(this.weights, Math.max(0, range[0]), Math.min(range[1], source.columns));
      if (!Number.isNaN(this.weights[heavy])) this.column = heavy;
    }
    if (range === null && this.follow()) return;
    this.cursor();
    this.chosen(this);
  }

  /** Moves the view so that the chosen cell is in it. */
  follow() {
    const { view, source } = this;
    const into = (place, first, size, all) =>
      place >= first && place < first + size ? first : Math.max(0, Math.min(Math.round(place - size / 2), all - size));
    const top = into(this.row, view.top, view.rows, source.rows);
    const left = into(this.column, view.left, view.columns, source.columns);
    if (top === view.top && left === view.left) return false;
    this.view = { ...view, top, left };
    this.begin();
    return true;
  }
}

/** The key with the most weight among first … end; the first of them where none can be seen. */
function heaviest(weights, first, end) {
  let best = first;
  for (let k = first; k < end; k += 1) if (!(weights[k] <= (weights[best] || 0)) && !Number.isNaN(weights[k])) best = k;
  return best;
}

/** A label cut to a width, the cut marked. */
function shortened(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const characters = [...text];
  while (characters.length > 1 && context.measureText(`${characters.join("")}…`).width > room) characters.pop();
  return `${characters.join("")}…`;
}
