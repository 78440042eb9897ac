/** The tokens of two sides, with those marked that the other side lacks. Long stretches of equal ones are folded. */

import { button, make } from "./make.js";

const SHORT = 96; // tokens that are shown as they are
const AROUND = 8; // equal tokens that stand on either side of a difference
const MOST = 400; // tokens of one side that are drawn at once

export function drawAligned(place, tokens, words) {
  let left = MOST;
  const drawn = stretches(tokens).map(({ from, to, open }) => {
    const part = tokens.slice(from, to);
    if (!open) return fold(part, words);
    const shown = part.slice(0, left);
    left -= shown.length;
    return chips(shown, part.length - shown.length, words);
  });
  place.replaceChildren(...drawn.flat());
}

/** What stands near a difference is open; so is everything where there is not much. */
function stretches(tokens) {
  const near = tokens.map(() => tokens.length <= SHORT);
  tokens.forEach((token, i) => token.apart && near.fill(true, Math.max(0, i - AROUND), i + AROUND + 1));
  const found = [];
  near.forEach((open, i) => {
    const last = found.at(-1);
    if (last?.open === open) last.to = i + 1;
    else found.push({ from: i, to: i + 1, open });
  });
  return found;
}

function chips(tokens, hidden, words) {
  const drawn = tokens.map((token) => make(token.apart ? "mark" : "span", { class: token.apart ? "chip apart" : "chip", title: `id ${token.id}` }, token.shown));
  return hidden ? [...drawn, make("span", { class: "quiet" }, words.say("pair.more", { n: hidden.toLocaleString() }))] : drawn;
}

function fold(tokens, words) {
  const open = button(words.say("pair.fold", { n: tokens.length.toLocaleString() }), () => open.replaceWith(...chips(tokens.slice(0, MOST), Math.max(0, tokens.length - MOST), words)), { class: "link fold" });
  return [open];
}
