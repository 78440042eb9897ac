/**
 * One head's attention, row by row, from what the page holds. A row has one number for each key; NaN where the query
 * cannot see the key. Three sources of one shape: queries and keys (the weights are made as the engine makes them),
 * the weights themselves, and the small pooled map that every head has.
 */

const SINGLE = { rows: 1, columns: 1 }; // tokens of a row and of a column

export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The numbers of a packed array; halves are spelled out, since not every browser knows them. */
export function numbersOf(packed) {
  const { buffer } = bytesOf(packed.data);
  return packed.dtype === "float32" ? new Float32Array(buffer) : Float32Array.from(new Uint16Array(buffer), half);
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return (sign * fraction) / 2 ** 24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
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
  constructor(query, key, rule) {
    Object.assign(this, rule);
    this.query = numbersOf(query);
    this.key = numbersOf(key);
    [this.rows, this.width] = query.shape;
    this.columns = key.shape[0];
    this.approximate = query.dtype !== "float32";
    this.blocks = SINGLE;
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

/** Weights as they are; in a causal pattern the later keys cannot be seen. */
export class Weighed {
  constructor(pattern, causal) {
    this.values = numbersOf(pattern);
    [this.rows, this.columns] = pattern.shape;
    this.causal = causal;
    this.blocks = SINGLE;
  }

  row(q) {
    const row = Float64Array.from(this.values.subarray(q * this.columns, (q + 1) * this.columns));
    return this.causal ? row.fill(NaN, q + 1) : row;
  }
}

/** The pooled map: a cell is the share that a block of keys gets, mean over a block of queries; √share in 254 steps. */
export class Pooled {
  constructor(bytes, rows, columns, blocks) {
    Object.assign(this, { bytes, rows, columns, blocks, approximate: true });
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
