/** The prompt as it is typed: named parts, in messages with roles where it is a conversation. */

import { button, make } from "./make.js";
import { partsOf } from "./store.js";

const ROLES = ["system", "user", "assistant"];

export class Editor {
  constructor(form, store, words) {
    Object.assign(this, { form, store, words });
    form.addEventListener("submit", (event) => event.preventDefault());
    document.querySelector("[data-add]").addEventListener("click", () => this.add());
    for (const each of document.querySelectorAll("[data-kind]")) each.addEventListener("click", () => this.turnInto(each.dataset.kind));
    this.show();
  }

  get prompt() {
    return this.store.state.prompt;
  }

  /** Built anew; while a field is being typed into, it stays as it is. */
  show() {
    for (const each of document.querySelectorAll("[data-kind]")) each.setAttribute("aria-pressed", String(each.dataset.kind === this.prompt.kind));
    const chat = this.prompt.kind === "chat";
    document.querySelector("[data-add]").textContent = this.words.say(chat ? "prompt.add_turn" : "prompt.add_part");
    this.form.replaceChildren(...(chat ? this.prompt.messages.map((turn, t) => this.turn(turn, t)) : this.prompt.parts.map((part, p) => this.part(part, null, p))));
    for (const area of this.form.querySelectorAll("textarea")) fitted(area);
  }

  turn(turn, t) {
    const roles = ROLES.includes(turn.role) ? ROLES : [...ROLES, turn.role];
    const options = roles.map((role) => make("option", { value: role, selected: role === turn.role }, role));
    const role = make("select", { "aria-label": this.words.say("prompt.role"), onchange: (event) => this.write({ messages: this.prompt.messages.map((each, i) => (i === t ? { ...each, role: event.target.value } : each)) }) }, ...options);
    const add = button(this.words.say("prompt.add_part"), () => this.withParts(t, [...turn.parts, { name: this.fresh(), text: "" }]), { class: "link" });
    return make("fieldset", {}, make("legend", {}, role), ...turn.parts.map((part, p) => this.part(part, t, p)), add);
  }

  part(part, t, p) {
    const field = `${t}/${p}`;
    const name = make("input", { value: part.name, "aria-label": this.words.say("prompt.name"), maxlength: "120", class: "part-name", oninput: (event) => this.put(t, p, { name: event.target.value }, `${field}/name`) });
    const text = make("textarea", { rows: "1", "aria-label": this.words.say("prompt.part", { name: part.name }), oninput: (event) => { fitted(event.target); this.put(t, p, { text: event.target.value }, `${field}/text`); } });
    text.value = part.text;
    const remove = button("×", () => this.take(t, p), { class: "link", "aria-label": this.words.say("prompt.remove", { name: part.name }) });
    return make("div", { class: "part" }, make("div", { class: "part-head" }, name, remove), text);
  }

  partsOf(t) {
    return t === null ? this.prompt.parts : this.prompt.messages[t].parts;
  }

  put(t, p, changed, field) {
    this.withParts(t, this.partsOf(t).map((each, i) => (i === p ? { ...each, ...changed } : each)), field);
  }

  take(t, p) {
    const left = this.partsOf(t).filter((_, i) => i !== p);
    if (left.length || t === null) this.withParts(t, left);
    else this.write({ messages: this.prompt.messages.filter((_, i) => i !== t) });
  }

  withParts(t, parts, field = null) {
    if (t === null) this.write({ parts }, field);
    else this.write({ messages: this.prompt.messages.map((each, i) => (i === t ? { ...each, parts } : each)) }, field);
  }

  write(changed, field = null) {
    this.store.set({ prompt: { ...this.prompt, ...changed } }, field);
  }

  add() {
    if (this.prompt.kind === "text") this.write({ parts: [...this.prompt.parts, { name: this.fresh(), text: "" }] });
    else this.write({ messages: [...this.prompt.messages, { role: "user", parts: [{ name: this.fresh(), text: "" }] }] });
    this.form.querySelector("fieldset:last-of-type textarea, .part:last-of-type textarea")?.focus();
  }

  /** A name that no part has. */
  fresh() {
    const parts = partsOf(this.prompt);
    const taken = new Set(parts.map((part) => part.name));
    let n = parts.length + 1;
    while (taken.has(`part${n}`)) n += 1;
    return `part${n}`;
  }

  turnInto(kind) {
    if (kind === this.prompt.kind) return;
    const parts = partsOf(this.prompt);
    this.store.set({ prompt: kind === "text" ? { kind, parts } : { kind, messages: [{ role: "user", parts }] } });
  }
}

/** As tall as its text, within reason. */
function fitted(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 320)}px`;
}
