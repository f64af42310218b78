"use strict";

// Names from the data become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";
const WORDS = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
const MINUS = "\u2212", DASH = "\u2013", TIMES = "\u00d7", PLUS_MINUS = "\u00b1";
// The colours of Okabe and Ito, which colour-blind readers can distinguish, and two more.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#882255", "#1b5e33"];
const DARK_COLOURS = new Set([0, 7, 8]);
// The last colour is for what is left out, and for nothing else.
const REST_COLOUR = COLOURS.push("#a6a6a6") - 1;
const CARDS = 20, ROWS = 50, MOST_MEMBERS = 500, MOST_MERGES = 200, MOST_OUTPUTS = 6, LONGEST_NAME = 70;

const summary = JSON.parse(document.getElementById("summary").textContent);
const { features, groups, labels, signs, path, spectrum, map, correlation, rest, numbers, tree } = summary;
// What is left out is listed after the groups, but is none.
const N_GROUPS = groups.length - (rest === null ? 0 : 1), LEFT_OUT = "left out";
const metric = summary.metric === "R2" ? "R\u00b2" : summary.metric || "score";
const pictures = [];

// ---- Words and numbers

function numberIn(value) {
  return typeof value === "string" ? WORDS[value] : value === null || value === undefined ? NaN : value;
}

function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

function decimal(value, digits = 3) {
  const number = numberIn(value);
  if (!Number.isFinite(number)) return DASH;
  if (Math.abs(number) >= 1000) return significant(number);
  return number.toFixed(digits).replace(/^-(?=.*[1-9])/, MINUS).replace(/^-/, "");
}

function significant(value) {
  const number = numberIn(value);
  if (Number.isNaN(number)) return DASH;
  if (!Number.isFinite(number)) return number > 0 ? "\u221e" : MINUS + "\u221e";
  const size = Math.abs(number);
  if (size >= 1000 && size < 1e9) return Math.round(number).toLocaleString("en").replace("-", MINUS);
  const shown = size !== 0 && (size < 1e-4 || size >= 1e9) ? number.toExponential(2) : String(Number(number.toPrecision(3)));
  return shown.replace(/^-/, MINUS);
}

function shortened(text) {
  // Characters that change the writing direction could disguise a name.
  const name = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const letters = name.length > LONGEST_NAME ? [...name] : [];
  return letters.length > LONGEST_NAME ? `${letters.slice(0, 45).join("")} \u2026 ${letters.slice(-20).join("")}` : name;
}

/** A name within a sentence, with its writing direction isolated. */
function quoted(name) {
  return name.trim() ? `\u2068${shortened(name)}\u2069` : "(no name)";
}

// ---- Elements

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

function made(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function named(name, query = "") {
  if (!name.trim()) return made("i", { class: "nameless" }, "no name");
  const shown = shortened(name), at = query ? shown.toLowerCase().indexOf(query) : -1;
  const title = shown === name ? undefined : name;
  if (at < 0) return made("bdi", { title }, shown);
  const end = at + query.length;
  return made("bdi", { title }, shown.slice(0, at), made("mark", {}, shown.slice(at, end)), shown.slice(end));
}

function signed(feature, query) {
  const minus = made("span", { class: "minus", title: "joined with a minus sign" }, MINUS);
  return signs[feature] < 0 ? [minus, named(features[feature], query)] : [named(features[feature], query)];
}

/** The number of a group, or that its features are left out. */
function groupWord(group) {
  return group === rest ? LEFT_OUT : String(group);
}

function groupWords(group) {
  return group === rest ? LEFT_OUT : `group ${group}`;
}

function repeatNote() {
  return made("p", { class: "note", hidden: N_GROUPS <= REST_COLOUR }, "Colours repeat; the number tells groups apart.");
}

function chip(group, colour) {
  const element = made("span", { class: "chip" }, colour === REST_COLOUR ? LEFT_OUT : String(group));
  element.style.background = COLOURS[colour];
  element.style.color = DARK_COLOURS.has(colour) ? "#fff" : "#000";
  return element;
}

/** The current value of a CSS colour variable, which depends on the colour scheme. */
function inkOf(name) {
  const probe = document.body.appendChild(made("i"));
  probe.style.color = `var(--${name})`;
  const ink = getComputedStyle(probe).color;
  probe.remove();
  return ink;
}

/** Draw a plot for its width, and redraw it when the width or the colour scheme changes. */
function picture(host, describe, draw) {
  const frame = host.appendChild(made("div", { class: "picture" }));
  let width = 0;
  const redraw = () => {
    if (!frame.clientWidth) return;
    width = frame.clientWidth;
    const content = draw(width);
    content.setAttribute("role", "img");
    content.setAttribute("aria-label", describe());
    frame.replaceChildren(content);
  };
  new ResizeObserver(() => frame.clientWidth !== width && redraw()).observe(frame);
  pictures.push(redraw);
  redraw();
  return { frame, redraw };
}

function sharpCanvas(width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const canvas = made("canvas", { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  return [canvas, pen];
}

/** A slider over positions, with the text of the current one; pointing into a plot moves it, too. */
function probe(host, label, most, describe, moved) {
  // Screen readers announce the slider itself; a live output would repeat it.
  const output = made("output", { "aria-live": "off" });
  const input = made("input", { type: "range", min: 0, max: Math.max(most - 1, 0), value: 0 });
  const show = () => {
    const [words, ...nodes] = describe(Number(input.value));
    input.setAttribute("aria-valuetext", words);
    output.replaceChildren(...(nodes.length ? nodes : [words]));
  };
  input.addEventListener("input", () => { show(); moved(); });
  host.append(made("div", { class: "probe" }, made("label", {}, label, input), output));
  show();
  return { show, value: () => Number(input.value), move: (place) => { input.value = place; show(); moved(); } };
}

function pointed(frame, at) {
  const follow = (event) => {
    const box = frame.getBoundingClientRect();
    at(event.clientX - box.left, event.clientY - box.top);
  };
  frame.addEventListener("pointermove", follow);
  frame.addEventListener("pointerdown", follow);
}

// ---- Scales

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  }
  return low > high ? [0, 1] : [low, high];
}

function scaled([low, high], start, end) {
  const span = high - low || 1;
  return (value) => start + ((value - low) / span) * (end - start);
}

function ticks([low, high], most) {
  const rough = (high - low || 1) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  const first = Math.ceil(low / step - 1e-9);
  // An integer counter, since adding a small step to a large float may change nothing.
  for (let n = 0; n <= most + 1 && (first + n) * step <= high + step * 1e-9; n++) found.push(Number(((first + n) * step).toPrecision(12)));
  return found;
}

function line(points) {
  let pen = "M";
  return points.map(([x, y]) => {
    if (!Number.isFinite(y)) { pen = "M"; return ""; }
    const piece = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
    return piece;
  }).join("");
}

function area(xs, lows, highs) {
  const known = xs.map((_, one) => one).filter((one) => Number.isFinite(lows[one]) && Number.isFinite(highs[one]));
  const there = line(known.map((one) => [xs[one], highs[one]]));
  const back = line(known.reverse().map((one) => [xs[one], lows[one]]));
  return there && `${there}${back.replace("M", "L")}Z`;
}

function levels(values, x1, x2, y) {
  return values.map((value) => [
    drawn("path", { class: "grid", d: `M${x1} ${y(value)}H${x2}` }),
    drawn("text", { x: x1 - 6, y: y(value) + 4, "text-anchor": "end" }, significant(value)),
  ]).flat();
}

function key(...entries) {
  return made("ul", { class: "key", "aria-hidden": "true" }, entries.map(([kind, words]) =>
    made("li", {}, drawn("svg", {}, kind.startsWith("spread") ? drawn("rect", { class: kind, width: "100%", height: "100%" })
      : drawn("path", { class: kind, d: kind === "dots" ? "M12 6h.01" : "M0 6H26" })), words)));
}

// ---- Colours of groups

/** Pairs of features that are drawn next to each other. */
function neighbours() {
  const pairs = [];
  const inOrder = (order) => order.forEach((one, place) => place && pairs.push([order[place - 1], one]));
  inOrder(features.map((_, one) => one));
  if (spectrum) inOrder(alongAxis());
  if (map) pairs.push(...onMap());
  return pairs;
}

function alongAxis() {
  const at = spectrum.positions.map(numberIn);
  return features.map((_, one) => one).filter((one) => Number.isFinite(at[one])).sort((a, b) => at[a] - at[b]);
}

function onMap() {
  const { across, up, step } = plane([...features.keys()]), cells = new Map(), pairs = [];
  const cell = (one, right, above) => `${map.layers[one]} ${Math.round(across[one] / step[0]) + right} ${Math.round(up[one] / step[1]) + above}`;
  features.forEach((_, one) => cells.set(cell(one, 0, 0), one));
  for (const one of cells.values()) {
    for (const [right, above] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
      const other = cells.get(cell(one, right, above));
      if (other !== undefined) pairs.push([one, other]);
    }
  }
  return pairs;
}

const PAIRS = neighbours();

/** A colour for each group: different from its neighbours if possible, and the preferred one if possible. */
function colouring(partition, n_groups, wished) {
  const beside = Array.from({ length: n_groups }, () => new Map());
  for (const [one, other] of PAIRS) {
    const a = partition[one], b = partition[other];
    if (a === b || a >= n_groups || b >= n_groups) continue;
    beside[a].set(b, (beside[a].get(b) || 0) + 1);
    beside[b].set(a, (beside[b].get(a) || 0) + 1);
  }
  const colours = new Array(n_groups).fill(-1), used = new Array(REST_COLOUR).fill(0);
  const order = [...beside.keys()].sort((a, b) => beside[b].size - beside[a].size || a - b);
  for (const group of order) {
    const cost = used.map((times, colour) => times / n_groups + (wished && wished[group] >= 0 && wished[group] !== colour ? 10 : 0));
    for (const [other, times] of beside[group]) if (colours[other] >= 0) cost[colours[other]] += 100 * times;
    colours[group] = cost.indexOf(Math.min(...cost));
    used[colours[group]] += 1;
  }
  return [...colours, REST_COLOUR];
}

const COLOUR_OF = colouring(labels, N_GROUPS, null);

/** Preferred colours for another partition: the colour that most features of a group have in the fit. */
function wishes(partition, n_groups) {
  const votes = Array.from({ length: n_groups }, () => new Array(REST_COLOUR).fill(0));
  partition.forEach((group, feature) => {
    const colour = COLOUR_OF[labels[feature]];
    if (group < n_groups && colour < REST_COLOUR) votes[group][colour] += 1;
  });
  // A group of features that the fit leaves out may have any colour.
  return votes.map((vote) => (Math.max(...vote) ? vote.indexOf(Math.max(...vote)) : -1));
}
