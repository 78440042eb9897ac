/**
 * One head's attention, row by row, from what the page holds. A row has one number for each key; NaN where the query
 * cannot see the key. Three sources of one shape: queries and keys (the weights are made as the engine makes them),
 * the weights themselves in steps of 1/65,535, and the small pooled map that every head has.
 */

export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** softmax over the keys first … last of scores that the row holds; a learned sink joins the sum and is no key. */
function normalise(row, first, last, sink) {
  let most = sink ?? -Infinity;
  for (let k = first; k <= last; k += 1) most = Math.max(most, row[k]);
  let total = sink === null ? 0 : Math.exp(sink - most);
  for (let k = first; k <= last; k += 1) total += row[k] = Math.exp(row[k] - most);
  for (let k = first; k <= last; k += 1) row[k] /= total;
  return row;
}

/** Weights from query and key: scale · q · k, soft cap, distance bias, mask, softmax. */
export class Scored {
  constructor(head) {
    Object.assign(this, head);
    this.query = new Float32Array(bytesOf(head.query).buffer);
    this.key = new Float32Array(bytesOf(head.key).buffer);
    this.rows = this.query.length / this.width;
    this.columns = this.key.length / this.width;
    this.block = 1;
  }

  row(q) {
    const { query, key, width, scale, cap, slope, window, sink } = this;
    const row = new Float64Array(this.columns).fill(NaN);
    const first = window === null ? 0 : Math.max(0, q - window + 1);
    for (let k = first; k <= q; k += 1) {
      let score = 0;
      for (let d = 0, i = q * width, j = k * width; d < width; d += 1) score += query[i + d] * key[j + d];
      score *= scale;
      if (cap !== null) score = cap * Math.tanh(score / cap);
      row[k] = slope === null ? score : score - slope * (q - k);
    }
    return normalise(row, first, q, sink);
  }
}

/** Weights as they are: whole rows, or only keys up to the query. */
export class Weighed {
  constructor(head) {
    Object.assign(this, head);
    this.values = new Uint16Array(bytesOf(head.weights).buffer);
    this.block = 1;
  }

  row(q) {
    const row = new Float64Array(this.columns).fill(NaN);
    const start = this.causal ? (q * (q + 1)) / 2 : q * this.columns;
    const count = this.causal ? q + 1 : this.columns;
    for (let k = 0; k < count; k += 1) row[k] = this.values[start + k] / 65535;
    return row;
  }
}

/** The pooled map: a cell is the share that a block of keys gets, mean over a block of queries; √share in 254 steps. */
export class Pooled {
  constructor(bytes, rows, columns, block) {
    Object.assign(this, { bytes, rows, columns, block });
  }

  row(q) {
    return Float64Array.from(this.bytes.subarray(q * this.columns, (q + 1) * this.columns), (byte) =>
      byte === 255 ? NaN : (byte / 254) ** 2,
    );
  }
}

/** A row with its first key and the learned sink taken out, the rest divided by what is left of it. */
export function withoutSink(row) {
  let rest = 0;
  for (let k = 1; k < row.length; k += 1) rest += row[k] || 0;
  return row.map((weight, k) => (k === 0 || rest === 0 ? NaN : weight / rest));
}
