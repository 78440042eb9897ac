/**
 * The chosen query as bars: its heaviest keys, and what each segment gets; what no key gets went to the learned sink.
 * The rows stand in the page; they are filled.
 */

import { percentText } from "./numbers.js";

export class RowBars {
  constructor(root, axes, segments) {
    this.axes = axes;
    this.segments = segments;
    this.keys = [...root.querySelectorAll("[data-key-bar]")];
    this.shares = [...root.querySelectorAll("[data-segment-bar]")];
  }

  show({ weights, source }) {
    const order = Array.from(weights.keys()).filter((k) => weights[k] > 0);
    order.sort((a, b) => weights[b] - weights[a]);
    this.keys.forEach((bar, i) => this.key(bar, order[i], weights, source.blocks.columns));
    const sums = new Map();
    weights.forEach((weight, k) => {
      const segment = this.axes.columns.segments[k * source.blocks.columns];
      sums.set(segment, (sums.get(segment) ?? 0) + (weight || 0));
    });
    const sink = this.segments.findIndex((segment) => segment.class === "seg-sink");
    if (sink >= 0) sums.set(sink, Math.max(0, 1 - [...sums.values()].reduce((total, share) => total + share, 0)));
    for (const bar of this.shares) fill(bar, sums.get(Number(bar.dataset.segmentBar)) ?? 0);
  }

  key(bar, place, weights, block) {
    bar.classList.toggle("empty", place === undefined);
    bar.classList.toggle("blocks", block > 1);
    if (place === undefined) return fill(bar, 0);
    const start = place * block;
    const segment = this.segments[this.axes.columns.segments[start]];
    const badge = bar.querySelector(".badge");
    badge.className = `badge ${segment.class}`;
    badge.textContent = segment.letter;
    bar.querySelector("[data-place]").textContent = block > 1 ? `#${start}–${start + block - 1}` : `#${start}`;
    const part = this.axes.columns.parts[start];
    bar.querySelector("[data-label]").textContent = block > 1 ? "" : this.axes.columns.labels[start];
    bar.querySelector("[data-part]").textContent = block > 1 ? "" : part;
    fill(bar, weights[place]);
  }
}

function fill(bar, share) {
  bar.querySelector(".fill").setAttribute("width", `${Math.min(100 * share, 100)}%`);
  bar.querySelector(".num").textContent = percentText(share);
}
