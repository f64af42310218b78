// ---- Positions of the groups: strip, spectrum, map

const MOST_MAPS = 6;

/** The partition that plots show: that of the fit, or of a step of the path. */
const view = { labels, colours: COLOUR_OF, words: "" };
const places = [];

function look(partition, n_groups, words) {
  const isFit = partition === labels;
  Object.assign(view, { labels: partition, colours: isFit ? COLOUR_OF : colouring(partition, n_groups, wishes(partition, n_groups)), words });
  places.forEach((redraw) => redraw());
}

function runs(order) {
  const found = [];
  order.forEach((feature, place) => {
    const group = view.labels[feature], last = found[found.length - 1];
    if (last && last.group === group) last.end = place;
    else found.push({ group, start: place, end: place });
  });
  return found;
}

function featureAt(feature) {
  const group = view.labels[feature];
  const isRest = view.colours[group] === REST_COLOUR;
  const words = `Feature ${quoted(features[feature])}, ${isRest ? LEFT_OUT : `group ${group}`}`;
  return [words, named(features[feature]), isRest ? ", " : ", group ", chip(group, view.colours[group])];
}

function showPlaces(host) {
  const heading = host.appendChild(made("h3"));
  const title = () => { heading.textContent = view.words; };
  places.push(title);
  host.append(repeatNote());
  if (spectrum) showSpectrum(host);
  if (map) showMaps(host);
  if (!spectrum && !map) showStrip(host);
  title();
}

function showStrip(host) {
  const order = [...features.keys()], height = 36;
  let slider = null;
  const describe = () => `Strip of ${counted(features.length, "feature")} in the order of the table, coloured by group. ${view.words}`;
  const { frame, redraw } = picture(host, describe, (width) => {
    const x = scaled([0, features.length], 0, width), at = slider ? x(slider.value() + .5) : 0;
    const blocks = runs(order).map((run) => ({ ...run, x1: x(run.start), x2: x(run.end + 1) }));
    return drawn("svg", { class: "strip", width, height, viewBox: `0 0 ${width} ${height}` }, bands(blocks, 0, 26, 1), bandNumbers(blocks, 18),
      drawn("path", { class: "cursor", d: `M${at} 26v10` }));
  });
  slider = probe(host, "Move along the features", features.length, featureAt, redraw);
  places.push(() => { slider.show(); redraw(); });
  pointed(frame, (x) => slider.move(Math.min(Math.floor(x / frame.clientWidth * features.length), features.length - 1)));
}

function showSpectrum(host) {
  const at = AT, [mean, low, high] = ["mean", "low", "high"].map((name) => spectrum[name].map(numberIn));
  const order = alongAxis(), ends = extent(at), span = extent([...low, ...mean, ...high]);
  const axis = spectrum.axis ? ` (${quoted(spectrum.axis)})` : "";
  let slider = null, x = null;
  const middle = (one, other) => (order[other] === undefined ? at[order[one]] : (at[order[one]] + at[order[other]]) / 2);
  const describe = () => `Mean of each feature along the axis${axis}, with bands in the colour of its group. ${view.words}`;
  const { frame, redraw } = picture(host, describe, (width) => {
    const height = 280, left = 56, base = height - 62, y = scaled(span, base - 6, 10);
    x = scaled(ends, left + 4, width - 6);
    const blocks = runs(order).map((run) => ({ ...run, x1: x(middle(run.start, run.start - 1)) - (run.start ? 0 : 4), x2: x(middle(run.end, run.end + 1)) + (run.end + 1 < order.length ? 0 : 4) }));
    const xs = order.map((one) => x(at[one])), of = (values) => order.map((one) => y(values[one]));
    const chosen = slider && order.length ? order[slider.value()] : null;
    return drawn("svg", { class: "spectrum", width, height, viewBox: `0 0 ${width} ${height}` },
      bands(blocks, 10, base - 10, .2), levels(ticks(span, 4), left, width - 2, y),
      drawn("path", { class: "spread rows", d: area(xs, of(low), of(high)) }),
      drawn("path", { class: "curve mean", d: line(of(mean).map((value, place) => [xs[place], value])) }),
      bands(blocks, base + 2, 20, 1), bandNumbers(blocks, base + 16),
      ticks(ends, width / 110).map((value) => drawn("text", { x: Math.min(x(value), width - 16), y: base + 38, "text-anchor": "middle" }, String(value))),
      drawn("text", { x: width - 6, y: base + 56, "text-anchor": "end" }, spectrum.axis ? shortened(spectrum.axis) : "position"),
      chosen === null ? null : drawn("path", { class: "cursor", d: `M${x(at[chosen])} 10V${base + 24}` }));
  });
  host.append(key(["curve mean", "mean over the rows"], ["spread rows", "5 to 95 % of the rows"]));
  const said = (place) => (order.length ? [...featureAt(order[place]), `: mean ${significant(mean[order[place]])}`] : ["nothing"]);
  slider = probe(host, "Move along the axis", order.length, said, redraw);
  places.push(() => { slider.show(); redraw(); });
  pointed(frame, (px) => slider.move(nearest(order.map((one) => Math.abs(x(at[one]) - px)))));
}

/** One SVG path for each colour, whatever the number of runs. */
function bands(blocks, top, height, opacity) {
  return COLOURS.map((fill, colour) => {
    const own = blocks.filter((one) => view.colours[one.group] === colour);
    const d = own.map((one) => `M${one.x1.toFixed(1)} ${top}H${Math.max(one.x2 - (opacity === 1 && one.x2 - one.x1 > 3 ? 1 : 0), one.x1 + 1).toFixed(1)}v${height}H${one.x1.toFixed(1)}z`).join("");
    return d ? drawn("path", { d, fill, opacity }) : null;
  });
}

/** The number of the group in each band that is wide enough. */
function bandNumbers(blocks, y) {
  const word = (group) => (view.colours[group] === REST_COLOUR ? LEFT_OUT : String(group));
  return blocks.filter(({ group, x1, x2 }) => x2 - x1 > 8 + 7 * word(group).length).map(({ group, x1, x2 }) =>
    drawn("text", { class: DARK_COLOURS.has(view.colours[group]) ? "on-dark" : "on-light", x: (x1 + x2) / 2, y, "text-anchor": "middle" }, word(group)));
}

function nearest(distances) {
  let best = 0;
  distances.forEach((one, place) => { if (one < distances[best] || Number.isNaN(distances[best])) best = place; });
  return best;
}

/** Coordinates and their grid step; without a grid, about the distance of neighbours. */
function plane(own) {
  const across = map.across.map(numberIn), up = map.up.map(numberIn), chosen = (values) => own.map((one) => values[one]);
  const steps = [gridStep(chosen(across)), gridStep(chosen(up))];
  const isGrid = steps.every((one) => one > 0);
  const near = [across, up].map((values) => { const [low, high] = extent(chosen(values)); return (high - low) / Math.sqrt(own.length) || 1; });
  return { across, up, isGrid, step: isGrid ? steps : near };
}

function gridStep(values) {
  const levelsOf = [...new Set(values)].filter(Number.isFinite).sort((a, b) => a - b);
  // Points without common coordinates do not form a grid.
  if (levelsOf.length < 2 || levelsOf.length > values.length / 2) return levelsOf.length === 1 ? 1 : 0;
  const gaps = levelsOf.slice(1).map((one, place) => one - levelsOf[place]), step = Math.min(...gaps);
  return gaps.every((gap) => Math.abs(gap / step - Math.round(gap / step)) < .02) ? step : 0;
}

/** One map for each layer, such as two wind components; only the first few if there are many. */
function showMaps(host) {
  const layers = new Map();
  map.layers.forEach((layer, one) => { if (!layers.has(layer)) layers.set(layer, []); layers.get(layer).push(one); });
  [...layers].slice(0, MOST_MAPS).forEach(([layer, own]) => {
    if (layers.size > 1) host.append(made("h4", {}, shortened(layer)));
    showMap(host, layers.size > 1 ? `${quoted(layer)}: ` : "", own);
  });
  if (layers.size > MOST_MAPS) host.append(made("p", { class: "lead" }, `${layers.size - MOST_MAPS} more layers are not drawn.`));
}

function showMap(host, title, own) {
  const { across, up, isGrid, step } = plane(own), margin = isGrid ? .5 : .6;
  const [xEnds, yEnds] = [across, up].map((values, one) => { const [low, high] = extent(values); return [low - margin * step[one], high + margin * step[one]]; });
  let slider = null, x = null, y = null;
  const describe = () => `${title}map of ${counted(own.length, "feature")}, coloured by group. ${view.words}`;
  const { frame, redraw } = picture(host, describe, (width) => {
    const left = 52, shape = Math.min(Math.max((yEnds[1] - yEnds[0]) / (xEnds[1] - xEnds[0]), .3), 1.4);
    const wide = Math.min(width - left - 4, 560 / shape), high = wide * shape, [canvas, pen] = sharpCanvas(left + wide + 4, high + 44);
    x = scaled(xEnds, left, left + wide);
    y = scaled(yEnds, high + 4, 4);
    const cell = [Math.abs(x(step[0]) - x(0)), Math.abs(y(step[1]) - y(0))], round = Math.min(Math.max(Math.min(...cell) * .35, 2), 9);
    own.forEach((one) => {
      pen.fillStyle = COLOURS[view.colours[view.labels[one]]];
      pen.beginPath();
      if (isGrid) pen.rect(...whole(x(across[one]) - cell[0] / 2, y(up[one]) - cell[1] / 2, ...cell));
      else pen.arc(x(across[one]), y(up[one]), round, 0, 7);
      pen.fill();
    });
    mapNumbers(pen, own, across.map(x), up.map(y), isGrid ? Math.min(...cell) : round);
    mapAxes(pen, x, y, xEnds, yEnds, [left, 4, wide, high]);
    if (slider) {
      const one = own[slider.value()];
      pen.lineWidth = 2.5;
      pen.strokeStyle = inkOf("ink");
      pen.beginPath();
      pen.arc(x(across[one]), y(up[one]), Math.max(round, 5) + 3, 0, 7);
      pen.stroke();
    }
    return canvas;
  });
  const said = (place) => at(own[place]), at = (one) => [...featureAt(one), ` at ${significant(across[one])}, ${significant(up[one])}`];
  slider = probe(host, `${title}Move through the features`, own.length, said, redraw);
  places.push(() => { slider.show(); redraw(); });
  pointed(frame, (px, py) => slider.move(nearest(own.map((one) => Math.hypot(x(across[one]) - px, y(up[one]) - py)))));
}

/** A cell on whole pixels, so that there are no seams. */
function whole(left, top, wide, high) {
  const [x1, y1] = [left, top].map(Math.round);
  return [x1, y1, Math.round(left + wide) - x1, Math.round(top + high) - y1];
}

/** The number of each group that is large enough, at the member nearest to its middle. */
function mapNumbers(pen, shown, xs, ys, cell) {
  const members = new Map();
  shown.forEach((one) => { const group = view.labels[one]; if (!members.has(group)) members.set(group, []); members.get(group).push(one); });
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = "600 12px system-ui, sans-serif";
  for (const [group, own] of members) {
    if (own.length * cell * cell < 500 || view.colours[group] === REST_COLOUR) continue;
    const middle = [xs, ys].map((values) => own.reduce((sum, one) => sum + values[one], 0) / own.length);
    const at = own[nearest(own.map((one) => Math.hypot(xs[one] - middle[0], ys[one] - middle[1])))];
    const wide = 7 + 7 * String(group).length;
    pen.fillStyle = COLOURS[view.colours[group]];
    pen.fillRect(xs[at] - wide / 2, ys[at] - 8, wide, 16);
    pen.strokeStyle = "#fff";
    pen.lineWidth = 1.5;
    pen.strokeRect(xs[at] - wide / 2, ys[at] - 8, wide, 16);
    pen.fillStyle = DARK_COLOURS.has(view.colours[group]) ? "#fff" : "#000";
    pen.fillText(String(group), xs[at], ys[at] + 1);
  }
}

function mapAxes(pen, x, y, xEnds, yEnds, [left, top, wide, high]) {
  pen.font = "12px system-ui, sans-serif";
  pen.strokeStyle = inkOf("edge");
  pen.strokeRect(left + .5, top + .5, wide - 1, high - 1);
  pen.fillStyle = inkOf("soft");
  pen.textAlign = "center";
  ticks(xEnds, Math.max(wide / 90, 2)).forEach((value) => pen.fillText(significant(value), x(value), top + high + 12));
  pen.textAlign = "right";
  ticks(yEnds, Math.max(high / 70, 2)).forEach((value) => pen.fillText(significant(value), left - 5, y(value)));
  if (map.across_name) pen.fillText(`${shortened(map.across_name)} \u2192`, left + wide, top + high + 30);
  pen.textAlign = "left";
  if (map.up_name) pen.fillText(`\u2191 ${shortened(map.up_name)}`, left, top + high + 30);
}
