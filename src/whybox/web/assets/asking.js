/**
 * Questions as forms. Each kind has `fields`, to be put into a form; `given`, what was answered, as the server takes it;
 * and `lock`, after which it stays as it is. What is missing is told by the browser, in its own language.
 */

import { button, make } from "./make.js";
import { inline } from "./prose.js";

/** A group of controls with a name that is read out. */
function group(name, ...children) {
  return make("fieldset", { class: "asked" }, make("legend", {}, name), ...children);
}

class Asked {
  lock() {
    for (const each of this.fields.querySelectorAll("input, select, button")) each.disabled = true;
  }
}

class Numbers extends Asked {
  constructor(question, words) {
    super();
    this.boxes = question.fields.map(() => make("input", { type: "text", inputmode: "decimal", required: true, maxlength: "60", autocomplete: "off", spellcheck: "false" }));
    const rows = question.fields.map((field, i) => make("label", { class: "number" }, make("span", {}, ...inline(field.say)), this.boxes[i], this.exactly(field, words)));
    this.fields = make("div", { class: "asked numbers" }, ...rows);
  }

  exactly({ decimals }, words) {
    if (decimals === null) return "";
    return make("small", {}, words.say(decimals ? "question.decimals" : "question.decimals.0", { n: decimals }));
  }

  get given() {
    return this.boxes.map((box) => box.value.trim());
  }
}

class Options extends Asked {
  constructor(question, words, type) {
    super();
    this.boxes = question.options.map((option) => make("input", { type, name: "option", value: option.id, required: type === "radio" }));
    const rows = question.options.map((option, i) => make("label", {}, this.boxes[i], make("span", {}, ...inline(option.say))));
    this.fields = group(words.say(`question.${question.kind}`), ...rows);
  }

  get chosen() {
    return this.boxes.filter((box) => box.checked).map((box) => box.value);
  }
}

class One extends Options {
  constructor(question, words) {
    super(question, words, "radio");
  }

  get given() {
    return this.chosen[0];
  }
}

class Some extends Options {
  constructor(question, words) {
    super(question, words, "checkbox");
    const check = () => this.boxes[0].setCustomValidity(this.chosen.length ? "" : words.say("question.some.none"));
    this.fields.addEventListener("change", check);
    check();
  }

  get given() {
    return this.chosen;
  }
}

/** A list whose lines move by buttons, by the arrow keys on a button, or by the mouse. */
class Order extends Asked {
  constructor(question, words) {
    super();
    this.words = words;
    this.list = make("ol", { class: "order" }, ...question.options.map((option) => this.line(option)));
    this.list.addEventListener("dragover", (event) => this.over(event));
    this.told = make("p", { class: "said", role: "status" });
    this.fields = group(words.say("question.order"), this.list, this.told);
    this.ends();
  }

  line(option) {
    const { say } = option;
    const up = button("↑", () => this.move(line, -1, up), { "aria-label": this.words.say("question.order.up", { say }) });
    const down = button("↓", () => this.move(line, 1, down), { "aria-label": this.words.say("question.order.down", { say }) });
    const line = make("li", { draggable: true, data: { id: option.id, say } }, make("span", { class: "grip", "aria-hidden": "true" }), make("span", {}, ...inline(say)), make("span", { class: "moves" }, up, down));
    line.addEventListener("dragstart", (event) => { this.dragged = line; event.dataTransfer.setData("text/plain", say); event.dataTransfer.effectAllowed = "move"; });
    line.addEventListener("dragend", () => { this.dragged = null; this.ends(); });
    line.addEventListener("keydown", (event) => this.key(event, line));
    return line;
  }

  key(event, line) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || event.target.disabled) return;
    event.preventDefault();
    this.move(line, step, event.target);
  }

  move(line, step, from) {
    const other = step < 0 ? line.previousElementSibling : line.nextElementSibling;
    if (!other) return;
    if (step < 0) other.before(line);
    else other.after(line);
    this.ends();
    (from.disabled ? line.querySelector("button:not(:disabled)") : from).focus();
    const lines = [...this.list.children];
    this.told.textContent = this.words.say("question.order.moved", { say: line.dataset.say, n: lines.indexOf(line) + 1, of: lines.length });
  }

  over(event) {
    const line = event.target.closest("li");
    if (!this.dragged || !line || line === this.dragged) return;
    event.preventDefault();
    const box = line.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) line.before(this.dragged);
    else line.after(this.dragged);
  }

  ends() {
    const lines = [...this.list.children];
    lines.forEach((line, i) => {
      const [up, down] = line.querySelectorAll("button");
      up.disabled = i === 0;
      down.disabled = i === lines.length - 1;
    });
  }

  lock() {
    super.lock();
    for (const line of this.list.children) line.draggable = false;
  }

  get given() {
    return [...this.list.children].map((line) => line.dataset.id);
  }
}

class Matched extends Asked {
  constructor(question, words) {
    super();
    this.items = question.items.map((item) => item.id);
    const options = () => [make("option", { value: "" }, words.say("question.match.choose")), ...question.options.map((each) => make("option", { value: each.id }, each.say.replaceAll("`", "")))];
    this.boxes = question.items.map(() => make("select", { required: true }, ...options()));
    const rows = question.items.map((item, i) => make("label", { class: "pair" }, make("span", {}, ...inline(item.say)), this.boxes[i]));
    this.fields = group(words.say("question.match"), ...rows);
  }

  get given() {
    return Object.fromEntries(this.items.map((item, i) => [item, this.boxes[i].value]));
  }
}

const INDENT = "    ";

/** A text that is kept in this browser. In code, Tab indents; behind Esc it moves on, as elsewhere. */
class Written extends Asked {
  constructor(question, words, place) {
    super();
    this.starter = question.starter;
    this.place = `whybox-learn-${place}`;
    const lines = Math.min(Math.max(this.starter.split("\n").length + 4, 10), 28);
    this.box = make("textarea", { class: "mono", rows: String(lines), required: true, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", maxlength: "100000" });
    this.box.value = this.kept() ?? this.starter;
    this.box.addEventListener("input", () => this.keep());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("blur", () => (this.leaving = false));
    const note = make("p", { class: "quiet", id: `keys-${place}` }, words.say("question.keys"));
    this.box.setAttribute("aria-describedby", note.id);
    const name = make("label", { class: "code" }, make("span", {}, words.say(`question.${question.kind}`)), this.box);
    this.fields = make("div", { class: "asked" }, name, note);
    this.back = button(words.say("question.starter"), () => this.put(this.starter));
  }

  key(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key === "Tab" && !this.leaving) this.indent(event);
    else if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey) this.newline(event);
    else if (event.key !== "Shift" && event.key !== "Tab") this.leaving = false;
  }

  /** The lines that are chosen, further in or further out. */
  indent(event) {
    event.preventDefault();
    const { value, selectionStart: start, selectionEnd: end } = this.box;
    if (start === end && !event.shiftKey) return this.insert(INDENT);
    const first = value.lastIndexOf("\n", start - 1) + 1;
    const lines = value.slice(first, end).split("\n");
    const moved = lines.map((line) => (event.shiftKey ? line.replace(/^ {1,4}/, "") : INDENT + line)).join("\n");
    if (moved.length === end - first) return;
    this.box.setSelectionRange(first, end);
    this.insert(moved);
    if (start === end) this.box.setSelectionRange(...Array(2).fill(Math.max(first, end + moved.length - (end - first))));
    else this.box.setSelectionRange(first, first + moved.length);
  }

  newline(event) {
    event.preventDefault();
    const before = this.box.value.slice(0, this.box.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    this.insert(`\n${line.match(/^\s*/)[0]}${/:\s*$/.test(line) ? INDENT : ""}`);
  }

  /** Typed, so that the browser can undo it. */
  insert(text) {
    if (text === "") document.execCommand("delete");
    else document.execCommand("insertText", false, text);
    this.keep();
  }

  put(text) {
    this.box.focus();
    this.box.select();
    this.insert(text);
  }

  kept() {
    try {
      return localStorage.getItem(this.place);
    } catch {
      return null;
    }
  }

  keep() {
    try {
      localStorage.setItem(this.place, this.box.value);
    } catch {
      // a page that may not store keeps its text until it is closed
    }
  }

  get given() {
    return this.box.value;
  }
}

const KINDS = { numbers: Numbers, one: One, some: Some, order: Order, match: Matched, code: Written, file: Written };

/** place: a name for what is kept of it, such as L4-attention. */
export function asking(question, words, place) {
  return new KINDS[question.kind](question, words, place);
}
