/**
 * What every canvas shares. Colours are the page's own variables as the browser computes them, so that a map, its legend
 * and the theme cannot disagree.
 */

const STEPS = 256;
const STOPS = ["stop-0", "stop-1", "stop-2", "stop-3", "stop-4"];
const known = new Map(); // colours of the theme that is on
let probe = null;

document.addEventListener("themechange", () => known.clear());

/** The colour of a variable of the page, in the theme that is on. */
export function colour(name) {
  if (!known.has(name)) known.set(name, computed(name));
  return known.get(name);
}

function computed(name) {
  if (probe === null) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** The sequential scale in 256 steps, for writing straight into the pixels of an image. */
function ramp() {
  if (!known.has("ramp")) {
    const stops = STOPS.map((name) => colour(name).match(/[\d.]+/g).slice(0, 3).map(Number));
    known.set("ramp", Array.from({ length: STEPS }, (_, i) => between(stops, i / (STEPS - 1))));
  }
  return known.get("ramp");
}

/** Values as pixels: √(value ÷ most) on the scale, nothing where there is no value. */
export function pixels(values, columns, rows, most) {
  const image = new ImageData(columns, rows);
  const scale = ramp();
  for (let i = 0; i < values.length; i += 1) {
    if (Number.isNaN(values[i])) continue;
    const [red, green, blue] = scale[Math.min(STEPS - 1, Math.round(Math.sqrt(values[i] / most) * (STEPS - 1)))];
    image.data[4 * i] = red;
    image.data[4 * i + 1] = green;
    image.data[4 * i + 2] = blue;
    image.data[4 * i + 3] = 255;
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d").putImageData(image, 0, 0);
  return small;
}

export function rgb(element) {
  return getComputedStyle(element).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number);
}

export function between(stops, t) {
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (place - low) * (stops[low + 1][i] - value)));
}

/** Diagonal lines over a rectangle: masked, undefined or not computed, never white. */
export function hatch(context, left, top, width, height) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.globalAlpha = 0.35;
  context.strokeStyle = getComputedStyle(document.querySelector(".hatch-line")).stroke;
  context.beginPath();
  for (let x = left - height; x < left + width; x += 7) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}

/** The width that a canvas may take in the box around it; 0 where it is not on show. */
export function roomFor(canvas) {
  const box = canvas.parentElement;
  const { paddingLeft, paddingRight } = getComputedStyle(box);
  return Math.max(0, box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
}

/** A canvas of so many CSS pixels, sharp on any screen, wiped. */
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixels[0]) canvas.width = pixels[0];
  if (canvas.height !== pixels[1]) canvas.height = pixels[1];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** What a canvas shows now, kept; `laid` puts it back, so that a cursor over it costs no new picture. */
export function copied(canvas) {
  const kept = new OffscreenCanvas(canvas.width, canvas.height);
  kept.getContext("2d").drawImage(canvas, 0, 0);
  return kept;
}

export function laid(context, kept) {
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, kept.width, kept.height);
  context.drawImage(kept, 0, 0);
  context.restore();
}

/** A label whose letters run from right to left keeps to itself: what is written behind it stays behind it. */
export function apart(label) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(label) ? `${label}\u200e` : label;
}
