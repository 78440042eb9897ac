/** The state that is shown, as a value that is replaced and never changed; what it was before, to be undone. */

const MOST_KEPT = 100;
const TYPING_MS = 1000;

export class Store extends EventTarget {
  state = { version: 2, model: "", prompt: { kind: "text", parts: [{ name: "prompt", text: "" }] }, changes: [], other: null };
  past = [];
  future = [];
  typed = { field: null, at: 0 };

  /** field: what is being typed into; what follows at once is one step to undo. */
  set(next, field = null) {
    const now = Date.now();
    const goesOn = field !== null && field === this.typed.field && now - this.typed.at < TYPING_MS;
    if (!goesOn) this.past = [...this.past, this.state].slice(-MOST_KEPT);
    this.typed = { field, at: now };
    this.future = [];
    this.replace({ ...this.state, ...next }, field);
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.state);
    this.typed = { field: null, at: 0 };
    this.replace(from.pop(), null);
  }

  replace(state, field) {
    const prompt = state.prompt !== this.state.prompt;
    this.state = state;
    this.dispatchEvent(new CustomEvent("change", { detail: { prompt, field } }));
  }

  /** A change at the end of the list; one that is there already is switched on. */
  add(change) {
    const { on: _on, ...wished } = change;
    const same = (each) => JSON.stringify({ ...each, on: 0 }) === JSON.stringify({ ...wished, on: 0 });
    const known = this.state.changes.some(same);
    const kept = this.state.changes.map((each) => (same(each) ? { ...each, on: true } : each));
    this.set({ changes: known ? kept : [...kept, { ...wished, on: true }] });
  }

  switch(index, on) {
    this.set({ changes: this.state.changes.map((each, i) => (i === index ? { ...each, on } : each)) });
  }

  remove(index) {
    this.set({ changes: this.state.changes.filter((_, i) => i !== index) });
  }
}

/** A state of any version that the server takes, as one of this version. */
export function current(state) {
  return { ...state, version: 2, changes: state.changes ?? [], other: state.other ?? null };
}

/** All parts of a prompt, whatever messages they stand in. */
export function partsOf(prompt) {
  return prompt.kind === "text" ? prompt.parts : prompt.messages.flatMap((turn) => turn.parts);
}

/** A state as text for an address: JSON, packed, in letters that addresses may hold. */
export async function packed(state) {
  const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function unpacked(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
