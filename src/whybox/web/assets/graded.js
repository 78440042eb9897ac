/** What became of an answer: beside what is computed, or against hidden tests. */

import { Trouble } from "./api.js";
import { make } from "./make.js";
import { inline, prose, sign } from "./prose.js";

/** An order as a list. */
function answer(text, kind) {
  if (kind !== "order") return inline(text);
  return [make("ol", {}, ...text.split(" → ").map((each) => make("li", {}, ...inline(each))))];
}

/** What was said beside what is so; a prediction that was otherwise is no fault. */
export function compared(rows, kind, words) {
  const named = rows.some((row) => row.say);
  const heads = [...(named ? ["compared.what"] : []), "compared.said", "compared.right"];
  const mark = ({ holds }) => (holds === null ? "" : holds ? sign("=", words.say("compared.holds"), "holds") : sign("≠", words.say("compared.not")));
  const line = (row) => make("tr", {},
    ...(named ? [make("th", { scope: "row" }, ...inline(row.say))] : []),
    make("td", {}, ...answer(row.said, kind)), make("td", {}, mark(row), " ", ...answer(row.right, kind)));
  const head = heads.map((key) => make("th", { scope: "col" }, words.say(key)));
  return make("div", { class: "scroll compared" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.map(line))));
}

function verdict(holds, words) {
  return holds ? sign("✓", words.say("graded.holds"), "holds") : sign("✗", words.say("graded.not"), "not");
}

function remark({ holds, say }, words) {
  return make("li", {}, verdict(holds, words), make("span", {}, ...inline(say)));
}

/** Each field of an answer; what is right is there once it is passed. */
function field({ say, said, right, holds }, words) {
  const told = say ? [...inline(say), ": ", make("b", {}, ...inline(said))] : inline(said);
  const more = right && right !== said ? [` (${words.say("compared.right")}: ${right})`] : [];
  return make("li", {}, holds === null ? "" : verdict(holds, words), make("span", {}, ...told, ...more));
}

function printed(text, words) {
  return make("details", { class: "exact" }, make("summary", {}, words.say("graded.printed")), make("pre", { class: "scroll" }, text));
}

export function graded({ passed, rows, remarks, lines, printed: said, walls, after, seed }, words) {
  const parts = [make("p", { class: "verdict" }, make("b", {}, words.say(passed ? "exercise.passed" : "exercise.failed")))];
  const listed = [...rows.map((row) => field(row, words)), ...remarks.map((each) => remark(each, words))];
  if (listed.length) parts.push(make("ul", { class: "remarks" }, ...listed));
  if (lines.length) parts.push(make("pre", { class: "scroll" }, lines.map((line) => `${words.say("graded.line", line)}: ${line.text}`).join("\n")));
  if (said) parts.push(printed(said, words));
  if (seed !== null) parts.push(make("p", { class: "quiet" }, words.say("graded.cell", { seed, walls: walls.join(", ") || "–" })));
  return [...parts, ...prose(after)];
}

/** What went wrong, where it was asked. */
export function problem(error) {
  if (!(error instanceof Trouble)) throw error;
  return make("p", { class: "problem", role: "alert" }, error.line);
}
