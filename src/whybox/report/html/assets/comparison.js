/** The page of two runs: theme and copies. */

import { startCopy } from "./copy.js";
import { startTheme } from "./theme.js";

startTheme();
startCopy(JSON.parse(document.getElementById("data").textContent));
