/** The list of changes: each can be off, and shows what it does alone. */

import { button, make } from "./make.js";
import { numberText } from "./numbers.js";

export class Changes {
  constructor(words, store) {
    Object.assign(this, { words, store });
    this.list = document.getElementById("changes");
    const on = (selector, told) => document.querySelector(selector).addEventListener("click", told);
    on("[data-undo]", () => store.undo());
    on("[data-redo]", () => store.redo());
    on("[data-clear]", () => store.set({ changes: [] }));
    document.getElementById("switches").addEventListener("submit", (event) => this.switchOff(event));
    this.show();
  }

  switchOff(event) {
    event.preventDefault();
    const form = event.target;
    const layer = form.elements.layer.valueAsNumber;
    this.store.add(event.submitter.value === "mlp" ? { kind: "mlp", layer } : { kind: "head", layer, head: form.elements.head.valueAsNumber });
  }

  /** found: the numbers of exactly these changes, once they are known. */
  show(found = null) {
    const { changes } = this.store.state;
    const known = found !== null && found.effects.length === changes.length;
    this.list.replaceChildren(...changes.map((change, i) => this.row(change, i, known ? found.effects[i] : null, found)));
    if (!changes.length) this.list.append(make("li", { class: "quiet" }, this.words.say("whatif.none")));
    document.querySelector("[data-undo]").disabled = !this.store.past.length;
    document.querySelector("[data-redo]").disabled = !this.store.future.length;
    document.querySelector("[data-clear]").disabled = !changes.length;
  }

  row(change, index, effect, found) {
    const name = this.name(change);
    const box = make("input", { type: "checkbox", checked: change.on, onchange: (event) => this.store.switch(index, event.target.checked) });
    const remove = button("×", () => this.store.remove(index), { class: "link", "aria-label": this.words.say("whatif.remove", { name }) });
    return make("li", { class: "change" }, make("label", {}, box, make("span", {}, name)), make("span", { class: "quiet effect" }, effect ? this.effect(effect, found) : ""), remove);
  }

  effect({ kl, kl_reason, top, nothing }, { floor, said }) {
    if (kl === null) return this.words.say("whatif.impossible", { reason: said?.[kl_reason] ?? kl_reason });
    if (nothing) return this.words.say("whatif.nothing");
    if (floor !== null && kl <= floor) return this.words.say("whatif.below");
    return this.words.say("whatif.effect", { kl: numberText(kl), top: `“${top}”` });
  }

  name(change) {
    const where = change.head == null ? "" : this.words.say("whatif.edge.where", change);
    switch (change.kind) {
      case "edge": return this.words.say("whatif.edge", { query: change.query ?? this.words.say("whatif.last"), key: change.key, where });
      case "cut": return this.words.say(change.by === "all" ? "whatif.cut.all" : "whatif.cut", change);
      default: return this.words.say(`whatif.${change.kind}`, change);
    }
  }
}
