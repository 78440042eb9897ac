/** Elements from data. Text is always text: nothing here reads markup. */

export function make(name, given = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (key === "class") element.className = value;
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function button(text, told, given = {}) {
  return make("button", { type: "button", onclick: told, ...given }, text);
}

/** Words of the page's language, with their blanks filled. */
export class Words {
  constructor(words) {
    this.words = words;
  }

  say(key, given = {}) {
    return this.words[key].replace(/\{(\w+)\}/g, (_, name) => given[name]);
  }
}
