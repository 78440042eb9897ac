/** The page of `look`: the grid opens a head, the head shows its chosen query, everything tells one output line. */

import { startCopy } from "./copy.js";
import { startFrame, tellAround } from "./framed.js";
import { Grid } from "./grid.js";
import { HeadLines, MOST_LINED } from "./headlines.js";
import { HeadMap } from "./headmap.js";
import { percentText } from "./numbers.js";
import { apart } from "./paint.js";
import { RowBars } from "./rowbars.js";
import { HeadTable, ordered } from "./table.js";
import { startTheme } from "./theme.js";
import { startTokens } from "./tokens.js";
import { Pooled, Scored, Weighed, bytesOf } from "./weights.js";

class Look {
  constructor(data) {
    this.words = data.words;
    this.look = data.look;
    this.look.grid.bytes = bytesOf(this.look.grid.bytes);
    this.look.axes.columns ??= this.look.axes.rows;
    this.root = document.getElementById("head");
    const { axes, segments } = this.look;
    this.bars = new RowBars(this.root, axes, segments);
    this.map = new HeadMap(this.root.querySelector("[data-view=map]"), axes, segments, (map) => this.chosen(map));
    this.lines = new HeadLines(this.root.querySelector("[data-view=lines]"), axes, (row) => this.map.select(row, 0, [0, Infinity]));
    this.grid = new Grid(document.querySelector("#grid canvas"), this.look, (index) => this.open(index, true), (index) => this.tell(index));
    const table = document.getElementById("heads-table");
    this.table = new HeadTable(table, this.look.columns, this.look.rows, (index) => this.open(index, true));
    this.listen(table);
    this.open(this.look.first, false);
  }

  listen(table) {
    const at = (selector, event, told) =>
      document.querySelectorAll(selector).forEach((each) => each.addEventListener(event, () => told(each)));
    at("[data-open]", "click", (button) => this.open(Number(button.dataset.open), true));
    at("[data-zoom]", "click", (button) => (button.dataset.zoom ? this.map.zoom(Number(button.dataset.zoom)) : this.map.whole()));
    at("[data-sink-out]", "change", (box) => this.takeOutSink(box.checked));
    at("[data-head-view]", "click", (button) => this.turn(button));
    at("[data-sort]", "change", (choice) => this.sort(choice.value));
    at("[data-class]", "click", (button) => this.filter(button));
    at("[data-all-columns]", "change", (box) => this.table.showAll(box.checked));
    table.querySelectorAll("[data-copy-heads]").forEach((button) => this.copying(button));
  }

  copying(button) {
    button.addEventListener("click", async () => {
      await this.table.copy(button.dataset.copyHeads);
      const label = button.textContent;
      button.textContent = document.querySelector(".said").textContent = this.words["page.copied"];
      setTimeout(() => (button.textContent = label), 1500);
    });
  }

  /** The exact rows of a head where the page holds them, else its pooled map. */
  source(index) {
    const { layer, head } = this.look.heads[index];
    const same = (each) => each.layer === layer && each.head === head;
    const pattern = this.look.patterns.find(same);
    if (pattern) return new Weighed(pattern.rows, this.look.grid.causal);
    const query = this.look.queries.find(same);
    if (!query) return this.grid.map(index);
    const key = this.look.keys.find((each) => each.layer === layer && each.group === query.group);
    const rule = this.look.rules.find((each) => each.layer === layer);
    const own = { slope: rule.slopes?.[head] ?? null, sink: rule.sinks?.[head] ?? null };
    return new Scored(query.rows, key.rows, { scale: rule.scale, cap: rule.cap, window: rule.window, ...own });
  }

  open(index, asked) {
    const { layer, head, classes } = this.look.heads[index];
    this.grid.opened = index;
    this.grid.choose(index);
    this.table.mark(index);
    const source = this.source(index);
    this.root.querySelector("[data-head-name]").textContent = this.name(index);
    this.root.querySelector("[data-head-classes]").textContent = classes.map((name) => this.words[`look.class.${name}`]).join(" · ");
    const missing = this.root.querySelector("[data-missing]");
    missing.hidden = !(source instanceof Pooled);
    missing.querySelector("code").textContent = `--layer ${layer} --head ${head}`;
    const lines = this.root.querySelector("[data-head-view=lines]");
    lines.disabled = source.blocks.rows > 1 || Math.max(source.rows, source.columns) > MOST_LINED;
    if (lines.disabled) this.turn(this.root.querySelector("[data-head-view=map]"));
    this.map.show(source);
    if (asked) this.reveal();
  }

  /** Scrolls to the head where it is not in sight, as on a phone. */
  reveal() {
    const { top, bottom } = this.root.getBoundingClientRect();
    if (top > 0.75 * innerHeight || bottom < 0.25 * innerHeight) {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.root.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
    }
  }

  chosen(map) {
    this.bars.show(map);
    this.lines.show(map);
    const { blocks } = map.source;
    const name = (axis, i) => {
      const { labels, parts } = this.look.axes[axis];
      const block = blocks[axis];
      if (block > 1) return `#${i * block}–${Math.min((i + 1) * block, labels.length) - 1}`;
      return `#${i} “${apart(labels[i])}”${parts[i] ? ` ${parts[i]}` : ""}`;
    };
    const value = map.weights[map.column];
    const told = Number.isNaN(value) ? this.words["map.masked"] : `${map.source.approximate ? "≈ " : ""}${percentText(value)}`;
    const output = this.root.querySelector("output");
    const lines = [name("rows", map.row), `→ ${name("columns", map.column)}`, told];
    output.replaceChildren(...lines.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
    output.dataset.value = value;
    this.root.querySelector("[data-row-name]").textContent = this.words["look.row.name"].replace("{row}", name("rows", map.row));
    const last = this.root.querySelector("[data-row-last]");
    if (last) last.hidden = map.row !== map.source.rows - 1;
    this.root.querySelector("[data-step]").textContent =
      map.picture.step * blocks.rows > 1 ? this.words["look.step"].replaceAll("{n}", map.picture.step * blocks.rows) : "";
    this.root.querySelector("[data-most]").textContent = percentText(map.most);
    this.root.querySelector("[data-zoom='']").disabled = !map.zoomed;
    this.told(map);
  }

  /** The head, and the edge where the map is exact. */
  told({ source, row, column }) {
    const { layer, head } = this.look.heads[this.grid.opened];
    const exact = Math.max(source.blocks.rows, source.blocks.columns) === 1;
    tellAround({ head: exact ? { layer, head, query: row, key: column } : { layer, head } });
  }

  takeOutSink(out) {
    this.root.querySelector("[data-sink-notice]").hidden = !out;
    this.map.takeOutSink(out);
  }

  turn(button) {
    const view = button.dataset.headView;
    for (const other of this.root.querySelectorAll("[data-head-view]")) other.setAttribute("aria-pressed", String(other === button));
    for (const pane of this.root.querySelectorAll("[data-pane]")) pane.hidden = pane.dataset.pane !== view;
    if (this.map.source) (view === "lines" ? this.lines : this.map).paint();
  }

  sort(name) {
    const column = this.look.columns.findIndex((each) => each.name === name);
    const axes = document.querySelector("#grid .axis-name");
    axes.textContent = column < 0 ? axes.dataset.layers : axes.dataset.sorted;
    this.grid.sort(column < 0 ? null : ordered(this.look.rows, column, true));
  }

  filter(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of document.querySelectorAll("[data-class]")) other.setAttribute("aria-pressed", String(on && other === button));
    const name = button.dataset.class;
    this.grid.filter(on ? (index) => this.look.heads[index].classes.includes(name) : () => true);
  }

  name(index) {
    const { layer, head } = this.look.heads[index];
    return this.words["look.head.name"].replace("{layer}", layer).replace("{head}", head);
  }

  /** What the chosen head of the grid is, in words. */
  tell(index) {
    const { classes } = this.look.heads[index];
    const told = this.look.told.map((place) => {
      const value = this.look.rows[index][place];
      return `${this.look.columns[place].label} ${value === null ? "—" : percentText(value)}`;
    });
    const classNames = classes.map((each) => this.words[`look.class.${each}`]).join(", ");
    document.querySelector("#grid output").textContent = `${this.name(index)} · ${classNames}\n${told.join(" · ")}`;
  }
}

const data = JSON.parse(document.getElementById("data").textContent);
startTheme();
startCopy(data);
startTokens();
startFrame();
if (document.getElementById("head")) window.look = new Look(data);
