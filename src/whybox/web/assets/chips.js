/** The tokens in their segments, a window of them at a time; each segment with what can be done to it. */

import { button, make } from "./make.js";
import { partsOf } from "./store.js";

const WINDOW = 360;

export class Chips {
  constructor(words, store, chosen) {
    Object.assign(this, { words, store, chosen, first: 0, place: null, read: null });
    this.root = document.getElementById("tokens");
    this.pages = document.getElementById("token-pages");
    for (const each of this.pages.querySelectorAll("[data-page]")) each.addEventListener("click", () => this.turn(Number(each.dataset.page)));
    this.root.addEventListener("click", (event) => event.target.closest(".chip") && this.choose(Number(event.target.closest(".chip").dataset.place)));
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  show(read) {
    this.read = read;
    const last = Math.max(0, read.tokens.length - WINDOW);
    if (this.first > last || this.first === this.end) this.first = last;
    this.end = last;
    this.place = null;
    document.getElementById("token-count").textContent = this.words.say("tokens.count", { n: read.tokens.length.toLocaleString(), context: read.context.toLocaleString() });
    document.getElementById("notes").replaceChildren(...read.notes.map((note) => make("li", {}, note)));
    this.draw();
  }

  empty() {
    this.read = null;
    this.pages.hidden = true;
    document.getElementById("token-count").textContent = "";
    document.getElementById("token-told").textContent = "";
    document.getElementById("notes").replaceChildren();
    this.root.replaceChildren(make("p", { class: "quiet" }, this.words.say("tokens.none")));
  }

  turn(step) {
    this.first = Math.min(Math.max(0, this.first + step * WINDOW), Math.max(0, this.read.tokens.length - WINDOW));
    this.draw();
  }

  draw() {
    const { tokens, segments } = this.read;
    const until = Math.min(tokens.length, this.first + WINDOW);
    const shown = segments.map((segment, index) => ({ segment, index })).filter(({ segment }) => segment.start < until && segment.end > this.first);
    let part = -1;
    const colours = segments.map((segment) => (segment.part ? ((part += 1), `seg-${part % 8}`) : "seg-template"));
    this.root.replaceChildren(...shown.map(({ segment, index }) => this.stretch(segment, colours[index], until)));
    this.pages.hidden = tokens.length <= WINDOW;
    this.pages.querySelector("span").textContent = this.words.say("tokens.window", { first: this.first.toLocaleString(), last: (until - 1).toLocaleString(), n: tokens.length.toLocaleString() });
    for (const each of this.pages.querySelectorAll("[data-page]")) each.disabled = each.dataset.page < 0 ? this.first === 0 : until === tokens.length;
  }

  stretch(segment, colour, until) {
    const from = Math.max(segment.start, this.first);
    const to = Math.min(segment.end, until);
    const chips = this.read.tokens.slice(from, to).map((token, i) => this.chip(token, from + i));
    if (chips.length) chips[0].tabIndex = 0;
    const list = make("div", { class: "chip-list", role: "listbox", "aria-label": segment.name }, ...chips);
    return make("div", { class: `stretch ${colour}` }, segment.part ? this.menu(segment) : make("p", { class: "stretch-name" }, this.badge(segment), segment.name), list);
  }

  badge(segment) {
    return make("span", { class: "badge", "aria-hidden": "true" }, segment.letter);
  }

  menu(segment) {
    const name = segment.name;
    const act = (key, change) => button(this.words.say(key), () => { details.open = false; this.store.add(change); });
    const details = make("details", { class: "stretch-name menu" });
    const reword = button(this.words.say("part.reword"), () => this.reword(details, segment));
    const acts = [
      act("part.boost", { kind: "boost", segment: name }),
      act("part.cut", { kind: "cut", segment: name, by: "decision" }),
      act("part.cut.all", { kind: "cut", segment: name, by: "all" }),
      act("part.drop", { kind: "drop", segment: name }),
      reword,
    ];
    details.append(make("summary", { "aria-label": this.words.say("part.do", { segment: name }) }, this.badge(segment), make("span", {}, name)), make("div", { class: "acts" }, ...acts));
    return details;
  }

  reword(details, segment) {
    const area = make("textarea", { rows: "3", "aria-label": this.words.say("part.reword.to", { segment: segment.name }) });
    area.value = partsOf(this.store.state.prompt).find((part) => part.name === segment.name)?.text ?? "";
    const apply = button(this.words.say("part.apply"), () => { details.open = false; this.store.add({ kind: "reword", segment: segment.name, text: area.value }); });
    const cancel = button(this.words.say("part.cancel"), () => details.replaceWith(this.menu(segment)));
    details.querySelector(".acts").replaceChildren(area, make("p", { class: "tools" }, apply, cancel));
    area.focus();
  }

  chip(token, place) {
    const classes = ["chip", token.control && "control", token.of > 1 && "cut"].filter(Boolean).join(" ");
    const chip = make("span", { class: classes, role: "option", "aria-selected": "false", tabIndex: -1, data: { place: String(place) } }, token.shown);
    if (token.of > 1) chip.append(make("sub", {}, `${token.part}/${token.of}`));
    return chip;
  }

  choose(place) {
    const chip = this.root.querySelector(`[data-place="${place}"]`);
    if (!chip) return;
    for (const old of this.root.querySelectorAll("[aria-selected=true]")) old.setAttribute("aria-selected", "false");
    chip.setAttribute("aria-selected", "true");
    chip.focus();
    this.place = place;
    const token = this.read.tokens[place];
    const told = this.words.say("tokens.chosen", { place, id: token.id, bytes: token.bytes.match(/../g)?.join(" ") ?? "—", segment: this.read.segments[token.segment].name });
    const part = token.of > 1 ? this.words.say("tokens.part", { k: token.part, n: token.of }) : "";
    const cut = button(this.words.say("tokens.cut"), () => this.store.add({ kind: "edge", query: null, key: place, layer: null, head: null }));
    cut.disabled = place >= this.read.tokens.length - 1;
    document.getElementById("token-told").replaceChildren(told + part, " ", cut);
  }

  key(event) {
    const chip = event.target.closest(".chip");
    if (!chip) return;
    const place = Number(chip.dataset.place);
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: this.first, End: Math.min(this.read.tokens.length, this.first + WINDOW) - 1, Enter: place, " ": place }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.choose(to);
  }
}
