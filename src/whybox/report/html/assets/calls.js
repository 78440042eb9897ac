/** The calls of a run: unpacked once, fifty rows on screen, a row opens its exact prompt and answer. */

import { toClipboard } from "./copy.js";

const PAGE = 50;
const MOST_PROBES = 40;
const SNIPPET = 160;
const FIELDS = ["target", "probe", "item", "arm", "run", "outcome", "candidate", "right", "flags", "ended", "source", "seconds", "setting", "facts", "prompt", "answer", "leftOut"];

/** Characters that would move other text or hide: shown by their code, as everywhere on the page. */
export function calmText(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, (c) =>
    "\n\u200c\u200d".includes(c) ? c : c === "\t" ? "⇥" : `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`,
  );
}

export async function unpackCalls(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  data.calls = data.calls.map((row) => Object.fromEntries(row.map((value, i) => [FIELDS[i], value])));
  return data;
}

function made(name, className, ...content) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

export class Calls {
  constructor(root, data, said) {
    Object.assign(this, { root, data, said, at: 0 });
    this.rows = root.querySelector("[data-calls-rows]");
    this.only = root.querySelector("[data-calls][aria-pressed=true]").dataset.calls;
    for (const button of root.querySelectorAll("[data-calls]")) button.addEventListener("click", () => this.choose(button));
    for (const button of root.querySelectorAll("[data-calls-turn]"))
      button.addEventListener("click", () => this.turn(Number(button.dataset.callsTurn)));
    this.probe = root.querySelector("[data-calls-probe]");
    const named = [...new Set(data.calls.map((call) => call.probe))].sort().slice(0, MOST_PROBES);
    this.probe.append(...named.map((name) => new Option(calmText(name), name)));
    this.search = root.querySelector("[data-calls-search]");
    this.probe.addEventListener("change", () => this.filter());
    this.search.addEventListener("input", () => this.filter());
    this.filter();
  }

  say(key, values = {}) {
    return this.said[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  choose(button) {
    this.only = button.dataset.calls;
    for (const each of this.root.querySelectorAll("[data-calls]")) each.setAttribute("aria-pressed", String(each === button));
    this.filter();
  }

  filter() {
    const [probe, wanted] = [this.probe.value, this.search.value.trim().toLowerCase()];
    this.found = this.data.calls.filter(
      (call) =>
        (this.only === "all" || (call.outcome !== "right" && call.outcome !== null)) &&
        (!probe || call.probe === probe) &&
        (!wanted || `${call.item}\n${call.arm}\n${call.answer ?? ""}`.toLowerCase().includes(wanted)),
    );
    this.at = 0;
    this.draw();
  }

  turn(by) {
    this.at += by * PAGE;
    this.draw();
    this.root.scrollIntoView();
  }

  draw() {
    const shown = this.found.slice(this.at, this.at + PAGE);
    const last = this.at + shown.length;
    this.rows.replaceChildren(...shown.map((call) => this.row(call)));
    const told = shown.length ? this.say("rp.shown", { first: this.at + 1, last, n: this.found.length }) : this.say("rp.none");
    this.root.querySelector("[data-calls-shown]").textContent = told;
    this.root.querySelector("[data-calls-turn='-1']").disabled = this.at === 0;
    this.root.querySelector("[data-calls-turn='1']").disabled = last >= this.found.length;
  }

  row(call) {
    const outcome = call.outcome ?? "none";
    const state = made("span", `state ${outcome === "error" ? "lost" : outcome}`, this.say(`rp.outcome.${outcome}`));
    const name = made("span", "mono", calmText(call.item));
    const arm = made("span", "quiet", calmText(`${call.probe} · ${call.arm} · ${call.run}`));
    const answer = made("span", "", calmText((call.answer ?? "").slice(0, SNIPPET)).replaceAll("\n", "⏎"));
    const button = made("button", "call-row", state, name, arm, answer);
    answer.dir = "auto";
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    const line = made("li", "call", button);
    button.addEventListener("click", () => this.open(line, button, call));
    return line;
  }

  open(line, button, call) {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) line.lastChild.remove();
    else line.append(made("div", "call-open", this.prompt(call), this.answer(call)));
  }

  prompt(call) {
    const turns = call.prompt === null ? null : this.data.prompts[call.prompt];
    const whole = turns && turns.map(([role, text]) => (role ? `${role}:\n${text}` : text)).join("\n\n");
    const box = made("div", "", this.heading("rp.prompt", "rp.copy_prompt", whole));
    if (!turns) box.append(made("p", "quiet", this.say("rp.no_text")));
    for (const [role, text] of turns ?? []) box.append(made("p", "turn-role", calmText(role || this.say("rp.raw"))), sent(text));
    return box;
  }

  answer(call) {
    const box = made("div", "", this.heading("rp.answer", "rp.copy_answer", call.answer));
    box.append(call.answer === null ? made("p", "quiet", this.say("rp.no_text")) : sent(call.answer));
    if (call.leftOut) box.append(made("p", "quiet", this.say("rp.cut", { n: call.leftOut })));
    const because = this.say(`rp.because.${call.outcome ?? "none"}`, { candidate: call.candidate ?? "", right: call.right, ended: call.ended });
    box.append(made("h4", "", this.say("rp.score")), made("p", "", calmText(because + (call.flags ? ` (${call.flags})` : ""))));
    const how = { ended: call.ended, source: call.source, seconds: call.seconds, setting: this.data.settings[call.setting] };
    box.append(made("p", "quiet", calmText(this.say("rp.answered", how))));
    const facts = call.facts.map(([name, value]) => `${name} ${value}`).join(" · ");
    box.append(made("p", "quiet mono", calmText(`${call.target}${facts ? ` · ${facts}` : ""}`)));
    return box;
  }

  heading(title, copy, text) {
    const heading = made("h4", "", this.say(title));
    if (text === null) return heading;
    const button = made("button", "", this.say(copy));
    button.type = "button";
    button.addEventListener("click", () => toClipboard(text));
    heading.append(button);
    return heading;
  }
}

function sent(text) {
  const block = made("pre", "sent", calmText(text));
  block.dir = "auto";
  block.tabIndex = 0;
  return block;
}
