/** The head table: every row is there, a screenful of them as elements. Sorted by a click on a column's name. */

import { toClipboard } from "./copy.js";
import { numberText, percentText } from "./numbers.js";

const ROW = 29;
const SPARE = 2;
const CELLS_SHOWN = 640;
const ROWS_SHOWN = 16;

export class HeadTable {
  constructor(root, columns, rows, open) {
    Object.assign(this, { columns, rows, open, by: null, down: true });
    this.order = rows.map((_, i) => i);
    this.pane = root.querySelector(".scroll");
    this.body = root.querySelector("tbody");
    this.heads = [...root.querySelectorAll("thead th")];
    this.heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => this.sort(i)));
    this.shown = columns.map((_, i) => i).filter((i) => columns[i].core);
    this.limit();
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-at]");
      if (row) this.open(Number(row.dataset.at));
    });
    this.pane.addEventListener("scroll", () => requestAnimationFrame(() => this.follow()));
    this.fill();
  }

  /** Every statistic, or the ones most often read. */
  showAll(all) {
    this.shown = this.columns.map((_, i) => i).filter((i) => all || this.columns[i].core);
    this.heads.forEach((head, i) => (head.hidden = !this.shown.includes(i)));
    this.limit();
    this.fill();
  }

  /** So many columns, so few rows on screen: the page keeps its ceiling on elements. */
  limit() {
    const rows = Math.min(ROWS_SHOWN, Math.floor(CELLS_SHOWN / this.shown.length) - 2 * SPARE - 1);
    this.visible = Math.max(4, rows);
    this.pane.style.maxHeight = `${(this.visible + 1) * ROW + 2}px`;
  }

  sort(column) {
    this.down = this.by === column ? !this.down : this.columns[column].kind !== "index";
    this.by = column;
    this.order = ordered(this.rows, column, this.down);
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.pane.scrollTop = 0;
    this.fill();
  }

  mark(index) {
    this.opened = index;
    this.fill();
  }

  get top() {
    return Math.floor(this.pane.scrollTop / ROW);
  }

  /** Rows are made anew only where those that are there no longer cover the pane. */
  follow() {
    const bottom = Math.min(this.order.length, this.top + this.visible + 1);
    if (this.top < this.first || bottom > this.end) this.fill();
  }

  fill() {
    this.first = Math.max(0, this.top - SPARE);
    this.end = Math.min(this.order.length, this.first + this.visible + 1 + 2 * SPARE);
    const shown = this.order.slice(this.first, this.end);
    this.body.replaceChildren(gap(this.first), ...shown.map((index) => this.line(index)), gap(this.order.length - this.end));
  }

  line(index) {
    const row = document.createElement("tr");
    row.dataset.at = index;
    if (index === this.opened) row.className = "opened";
    for (const i of this.shown) {
      const cell = document.createElement("td");
      cell.textContent = written(this.rows[index][i], this.columns[i].kind);
      if (this.columns[i].kind !== "classes") cell.className = "num";
      row.append(cell);
    }
    return row;
  }

  /** All rows, in the order on screen. */
  copy(form) {
    const names = this.columns.map((column) => column.name);
    const lines = this.order.map((index) => this.rows[index]);
    if (form === "json") {
      const objects = lines.map((line) => Object.fromEntries(line.map((value, i) => [names[i], value])));
      return toClipboard(JSON.stringify(objects, null, 1));
    }
    const cell = (value) => (value === null ? "" : Array.isArray(value) ? value.join(" ") : String(value));
    return toClipboard([names, ...lines].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n");
  }
}

function written(value, kind) {
  if (value === null) return "—";
  switch (kind) {
    case "index":
      return String(value);
    case "classes":
      return value.join(", ");
    case "share":
      return percentText(value);
    default:
      return numberText(value);
  }
}

/** Places of the rows by one column, largest first or last; rows without a number come last either way. */
export function ordered(rows, column, down) {
  const key = (i) => (Array.isArray(rows[i][column]) ? rows[i][column].join() || null : rows[i][column]);
  return rows
    .map((_, i) => i)
    .sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a - b;
    });
}

function gap(rows) {
  const row = document.createElement("tr");
  row.className = "spacer";
  const cell = document.createElement("td");
  cell.style.height = `${rows * ROW}px`;
  row.append(cell);
  row.hidden = rows === 0;
  return row;
}
