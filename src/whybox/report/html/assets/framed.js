/** A page in the explorer's frame: it tells what is chosen in it, and takes the explorer's theme. */

import { applyTheme } from "./theme.js";

const THEMES = ["auto", "light", "dark"];

/** told: plain numbers alone, since any page may be the one around. */
export function tellAround(told) {
  if (parent !== window) parent.postMessage(told, "*");
}

export function startFrame() {
  if (parent === window) return;
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !THEMES.includes(data?.theme)) return;
    document.documentElement.dataset.framed = "";
    applyTheme(data.theme);
  });
}
