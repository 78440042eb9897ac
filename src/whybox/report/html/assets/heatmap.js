/**
 * An attention map on a canvas: rows are queries, columns are keys, segment strips on both sides.
 * The colours are read from the legend's swatches and the segment badges.
 */

import { percentText } from "./numbers.js";
import { between, hatch, rgb } from "./paint.js";

const STRIP = 16;
const GAP = 3;

/** The values with the first key taken out and every row divided by what is left. */
function withoutFirstKey(values) {
  return values.map((row) => {
    const rest = row.slice(1).reduce((sum, value) => sum + (value ?? 0), 0);
    return row.map((value, k) => (k === 0 || value === null || rest === 0 ? null : value / rest));
  });
}

export class Heatmap {
  constructor(root, pattern, axes, words) {
    Object.assign(this, { root, pattern, axes, words });
    this.canvas = root.querySelector("canvas");
    this.values = pattern.values;
    this.row = pattern.rows.length - 1;
    this.column = this.brightest(this.row);
    this.listen();
    this.refresh();
  }

  listen() {
    const sink = this.root.querySelector("[data-map-sink]");
    sink.addEventListener("change", () => {
      this.values = sink.checked ? withoutFirstKey(this.pattern.values) : this.pattern.values;
      this.root.querySelector("[data-map-notice]").hidden = !sink.checked;
      this.refresh();
    });
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("themechange", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  brightest(row) {
    const values = this.values[row].map((value) => value ?? -1);
    return values.indexOf(Math.max(...values));
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const inset = STRIP + GAP;
    const column = Math.floor(((event.clientX - box.left - inset) / (box.width - inset)) * this.pattern.columns.length);
    const row = Math.floor(((event.clientY - box.top) / (box.height - inset)) * this.pattern.rows.length);
    this.select(row, column);
  }

  key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (event.key === "Home") this.select(this.row, 0);
    else if (event.key === "End") this.select(this.row, this.pattern.columns.length - 1);
    else if (move) this.select(this.row + move[0], this.column + move[1]);
    else return;
    event.preventDefault();
  }

  select(row, column) {
    this.row = Math.min(Math.max(row, 0), this.pattern.rows.length - 1);
    this.column = Math.min(Math.max(column, 0), this.pattern.columns.length - 1);
    this.refresh();
  }

  refresh() {
    this.draw();
    this.say();
    this.bars();
  }

  most() {
    return this.values.reduce((most, row) => row.reduce((m, v) => Math.max(m, v ?? 0), most), 0) || 1;
  }

  draw() {
    const { pattern, canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const inset = STRIP + GAP;
    const width = canvas.parentElement.clientWidth;
    const height = Math.round((width - inset) * (pattern.rows.length / pattern.columns.length)) + inset;
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== pixels[0]) canvas.width = pixels[0];
    if (canvas.height !== pixels[1]) canvas.height = pixels[1];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    hatch(context, inset, 0, width - inset, height - inset);
    this.cells(context, inset, width - inset, height - inset);
    this.drawStrips(context, inset, width - inset, height - inset);
    this.cursor(context, inset, width - inset, height - inset);
    this.root.querySelector("[data-map-most]").textContent = percentText(this.most());
  }

  cells(context, left, width, height) {
    const stops = [...this.root.querySelectorAll(".map-stop")].map(rgb);
    const image = new ImageData(this.pattern.columns.length, this.pattern.rows.length);
    const most = this.most();
    this.values.flat().forEach((value, i) => {
      if (value === null) return;
      image.data.set([...between(stops, Math.sqrt(value / most)), 255], 4 * i);
    });
    const small = new OffscreenCanvas(image.width, image.height);
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, 0, width, height);
  }

  drawStrips(context, inset, width, height) {
    const badge = (segment) => this.root.querySelector(`.row-bar[data-segment="${segment}"] .badge`);
    const unlisted = getComputedStyle(document.querySelector(".hatch-line")).stroke;
    const paint = (segments, size, rectangle, place) => {
      for (let start = 0, end; start < segments.length; start = end) {
        end = start + 1;
        while (end < segments.length && segments[end] === segments[start]) end += 1;
        const listed = badge(segments[start]);
        const [from, long] = [start * size, (end - start) * size];
        context.fillStyle = listed ? getComputedStyle(listed).outlineColor : unlisted;
        context.fillRect(...rectangle(from, Math.max(long - 1, 0.5)));
        if (!listed || long < 12) continue;
        context.fillStyle = getComputedStyle(listed).caretColor;
        context.font = "600 11px ui-monospace, monospace";
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(listed.textContent, ...place(from + long / 2));
      }
    };
    const rows = height / this.pattern.rows.length;
    const columns = width / this.pattern.columns.length;
    paint(this.axes.rows.segments, rows, (at, long) => [0, at, STRIP, long], (at) => [STRIP / 2, at + 0.5]);
    paint(this.axes.columns.segments, columns, (at, long) => [inset + at, height + GAP, long, STRIP], (at) => [inset + at, height + GAP + STRIP / 2 + 0.5]);
  }

  cursor(context, inset, width, height) {
    const cell = [width / this.pattern.columns.length, height / this.pattern.rows.length];
    context.strokeStyle = getComputedStyle(this.canvas).color;
    context.lineWidth = 1;
    context.strokeRect(inset + 0.5, this.row * cell[1] + 0.5, width - 1, Math.max(cell[1] - 1, 1));
    context.lineWidth = 2;
    context.strokeRect(inset + this.column * cell[0], this.row * cell[1], Math.max(cell[0], 3), Math.max(cell[1], 3));
  }

  say() {
    const name = (axis, i) => {
      const { start, end } = this.pattern[axis][i];
      return `#${start}${end - start > 1 ? `–${end - 1}` : ""} “${this.axes[axis].labels[i]}”`;
    };
    const value = this.values[this.row][this.column];
    const told = value === null ? this.words["map.masked"] : percentText(value);
    this.root.querySelector("output").textContent =
      `${name("rows", this.row)}\n→ ${name("columns", this.column)}\n${told}`;
  }

  bars() {
    const sums = new Map();
    this.values[this.row].forEach((value, k) => {
      const segment = this.axes.columns.segments[k];
      sums.set(segment, (sums.get(segment) ?? 0) + (value ?? 0) * this.weight(k));
    });
    for (const bar of this.root.querySelectorAll(".row-bar")) {
      const share = sums.get(Number(bar.dataset.segment)) ?? 0;
      bar.querySelector(".fill").setAttribute("width", `${Math.min(100 * share, 100)}%`);
      bar.querySelector(".num").textContent = percentText(share);
    }
  }

  /** A pooled column stands for the mean of its tokens. */
  weight(column) {
    return this.pattern.columns[column].end - this.pattern.columns[column].start;
  }
}
