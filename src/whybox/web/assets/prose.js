/** Sentences of the course as elements: `code` is set off, and lines are joined as their script joins them. */

import { make } from "./make.js";

const WIDE = "[\\u2e80-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef\\u3000-\\u303f“”‘’…—]";
const JOINED = new RegExp(`(?<=${WIDE})\\n\\s*(?=${WIDE})`, "g");

/** What is written between backticks becomes code; the rest is text. */
export function inline(text) {
  const parts = text.replace(JOINED, "").replace(/\n\s*/g, " ").split("`");
  return parts.map((part, i) => (i % 2 ? make("code", {}, part) : part));
}

/** Paragraphs. One that is nothing but code stands for itself. */
export function prose(paragraphs) {
  return paragraphs.map((text) => {
    const alone = /^`[^`]+`$/.test(text.trim());
    return make("p", alone ? { class: "formula" } : {}, ...inline(text));
  });
}

/** A sign that is read out as words. */
export function sign(shown, words, kind = "") {
  return make("span", { class: `sign ${kind}` }, make("span", { "aria-hidden": "true" }, shown), make("span", { class: "said" }, words));
}
