/** The page of `run`: theme, copies, calls. */

import { Calls, unpackCalls } from "./calls.js";
import { startCopy } from "./copy.js";
import { startTheme } from "./theme.js";

const page = JSON.parse(document.getElementById("data").textContent);
startTheme();
startCopy(page);
const root = document.getElementById("calls");
root.querySelector("[data-calls-shown]").textContent = page.said["rp.unpacking"];
try {
  window.calls = new Calls(root, await unpackCalls(page.calls), page.said);
} catch {
  root.querySelector("[data-calls-shown]").textContent = page.said["rp.unpackable"];
}
