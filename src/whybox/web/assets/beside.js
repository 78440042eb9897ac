/** The next token, as it is beside what the changes make of it. */

import { make } from "./make.js";
import { numberText, percentText } from "./numbers.js";

export class BesideTable {
  constructor(words) {
    this.words = words;
    this.body = document.querySelector("#next tbody");
    this.finding = document.getElementById("finding");
    this.floor = document.getElementById("floor");
  }

  show(found) {
    this.found = found;
    const most = Math.max(...found.next.map((row) => Math.max(row.base, row.then ?? 0)));
    this.body.replaceChildren(...found.next.map((row) => this.row(row, most)));
    this.finding.textContent = this.told(found);
    this.floor.textContent = found.floor === null ? this.words.say("floor.unknown") : this.words.say("floor", { floor: numberText(found.floor) });
    document.getElementById("next").classList.toggle("alone", found.kl === null);
  }

  clear() {
    this.found = null;
    this.body.replaceChildren();
    this.finding.textContent = this.floor.textContent = "";
  }

  row(row, most) {
    const bar = (value, side) => {
      if (value === null) return make("td", {}, "—");
      const fill = make("span", { class: `amount ${side}` });
      fill.style.width = `${(100 * value) / most}%`;
      return make("td", { class: "num" }, make("span", { class: "lane" }, fill), percentText(value));
    };
    return make("tr", {}, make("th", { scope: "row", class: "mono", title: `id ${row.id}` }, row.text), bar(row.base, "base"), bar(row.then, "then"));
  }

  /** One sentence that claims what was measured. */
  told(found) {
    const best = (side) => found.next.reduce((a, b) => ((b[side] ?? 0) > (a[side] ?? 0) ? b : a));
    const base = best("base");
    if (found.kl === null) {
      const plain = this.words.say("next.plain", { base: `“${base.text}”`, p: percentText(base.base) });
      return found.effects.length && found.state.changes.some((change) => change.on) ? this.words.say("whatif.impossible", { reason: found.said?.[found.kl_reason] ?? found.kl_reason }) : `${plain}${this.words.say("stop")}`;
    }
    if (found.floor !== null && found.kl <= found.floor) return `${this.words.say("next.same")}${this.words.say("stop")}`;
    const then = best("then");
    const moved = this.words.say("next.kl", { kl: numberText(found.kl) });
    const top = then.id === base.id ? this.words.say("next.kept", { base: `“${base.text}”` }) : this.words.say("next.top", { base: `“${base.text}”`, then: `“${then.text}”` });
    return `${moved}${top}${this.words.say("stop")}`;
  }
}
