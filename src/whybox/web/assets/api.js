/** Questions to the server, in the page's language: one answer, or lines of JSON. What goes wrong has a cause and a remedy. */

export class Trouble extends Error {
  constructor(cause, remedy = "", status = 0) {
    super(cause);
    Object.assign(this, { cause, remedy, status });
  }

  /** Cause and remedy in one line. */
  get line() {
    if (!this.remedy) return this.cause;
    return `${this.cause}${document.documentElement.lang.startsWith("zh") ? "。" : ". "}${this.remedy}`;
  }
}

let gone = "";

/** What is said where the server does not answer. */
export function whenGone(words) {
  gone = words;
}

async function send(path, body, signal) {
  const headers = { "accept-language": document.documentElement.lang };
  const asked = body === undefined ? { headers } : { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  try {
    return await fetch(path, { ...asked, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(gone);
  }
}

async function answered(response) {
  if (response.ok) return response;
  const told = await response.json().catch(() => ({ cause: `${response.status} ${response.statusText}`, remedy: "" }));
  throw new Trouble(told.cause, told.remedy, response.status);
}

export async function ask(path, body, signal) {
  return (await answered(await send(path, body, signal))).json();
}

/** An answer that is text, such as a file to be saved. */
export async function askText(path, body) {
  return (await answered(await send(path, body))).text();
}

/** Calls `told` with each line. */
export async function listen(path, body, told, signal) {
  const response = await answered(await send(path, body, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const read = () => reader.read().catch((error) => Promise.reject(error.name === "AbortError" ? error : new Trouble(gone)));
  for (let part = await read(); !part.done; part = await read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const found = JSON.parse(line);
      if (found.error) throw new Trouble(found.error.cause, found.error.remedy);
      told(found);
    }
  }
}

/** Does the latest wish alone: an earlier one that is still under way is given up. */
export class Latest {
  async run(work) {
    this.under?.abort();
    const own = (this.under = new AbortController());
    try {
      await work(own.signal);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  stop() {
    this.under?.abort();
  }
}
