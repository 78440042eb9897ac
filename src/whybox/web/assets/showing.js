/** What was computed: sentences, tables, shaded matrices, and the source that computed them. */

import { make } from "./make.js";
import { inline, prose, sign } from "./prose.js";

const STOPS = ["--stop-0", "--stop-1", "--stop-2"];
const LONG = 48;
const SHORT = 12;
const NUMBER = /^[≈<>±]?\s*[−+]?[\d.,]+([eE][−+-]?\d+)?\s*%?$/;

/** Wide content moves in a frame of its own, also by keyboard. */
function framed(name, content) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, content);
}

function figure(caption, ...content) {
  return make("figure", {}, make("figcaption", {}, ...inline(caption)), ...content);
}

function table({ caption, columns, rows }) {
  const counted = columns.map((_, i) => rows.length > 0 && rows.every((row) => row[i] === "" || NUMBER.test(row[i])));
  const side = (i) => (counted[i] ? { class: "right" } : {});
  const head = columns.map((column, i) => make("th", { scope: "col", ...side(i) }, ...inline(column)));
  const cell = (text, i) => make("td", counted[i] ? { class: "right" } : text.length <= SHORT ? { class: "short" } : {}, ...inline(text));
  const line = (row) => make("tr", {}, ...row.map(cell));
  return figure(caption, framed(caption, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.map(line)))));
}

/** Between two neighbouring stops of the scale for shares; no darker than numbers on it can be read. */
function shade(part) {
  const at = part * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  return `color-mix(in oklab, var(${STOPS[low + 1]}) ${(100 * (at - low)).toFixed(1)}%, var(${STOPS[low]}))`;
}

/** Shares from 0 on, by the root, as in maps of attention; other numbers from the least to the most. */
function scale(values) {
  const known = values.flat().filter((value) => value !== null);
  const [least, most] = known.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  if (least >= 0) return (value) => Math.sqrt(value / (most || 1));
  return (value) => (value - least) / (most - least || 1);
}

function grid({ caption, rows, columns, values, cells }, words) {
  const of = scale(values);
  const cell = (i, j) => {
    if (values[i][j] === null) return make("td", { class: "hidden" }, sign("", words.say("grid.hidden")));
    const shown = make("td", {}, cells[i][j]);
    shown.style.setProperty("background", shade(of(values[i][j])));
    return shown;
  };
  const head = columns.map((column) => make("th", { scope: "col" }, column));
  const line = (row, i) => make("tr", {}, make("th", { scope: "row" }, row), ...columns.map((_, j) => cell(i, j)));
  const corner = make("td", { class: "corner" });
  return figure(caption, framed(caption, make("table", { class: "shaded" }, make("thead", {}, make("tr", {}, corner, ...head)), make("tbody", {}, ...rows.map(line)))));
}

/** Every line with its number in the file; a long one can be opened. */
function source({ caption, name, file, line, text }, words) {
  const lines = text.replace(/\n$/, "").split("\n");
  const code = make("code", {}, ...lines.map((each) => make("span", { class: "line" }, `${each}\n`)));
  code.style.setProperty("counter-reset", `line ${line - 1}`);
  const block = framed(name, make("pre", {}, code));
  const at = words.say("source.at", { file, line });
  if (lines.length <= LONG) return figure(caption, make("p", { class: "quiet mono" }, at), block);
  const summary = make("summary", {}, `${at} · ${words.say("source.lines", { n: lines.length })}`);
  return figure(caption, make("details", { class: "exact" }, summary, block));
}

const KINDS = { words: ({ paragraphs }) => make("div", { class: "prose" }, ...prose(paragraphs)), table, grid, source };

export function shown(block, words) {
  return KINDS[block.kind](block, words);
}
