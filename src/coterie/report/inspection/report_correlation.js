// ---- Correlations

const MARGIN = 18;

function showCorrelation(host) {
  const n = correlation.thousandths.length, panel = made("div"), picked = made("p", { class: "pair" });
  const left = made("div");
  host.append(made("p", { class: "lead" }, correlationWords()), made("div", { class: "beside" }, left, panel));
  let down = null, across = null, side = 0, cells = null;
  const { frame, redraw } = picture(left, () => `Heat map of ${n} rows and columns. ${correlationWords()}`, (width) => {
    side = Math.min(width - MARGIN, 620);
    const [canvas, pen] = sharpCanvas(side + MARGIN, side + MARGIN);
    cells = cells || heat();
    pen.imageSmoothingEnabled = n > side;
    pen.drawImage(cells, MARGIN, MARGIN, side, side);
    groupLines(pen, side);
    if (across) crossHair(pen, side / n, across.value(), down.value());
    return canvas;
  });
  pictures.splice(-1, 0, () => { cells = null; });
  const value = () => `correlation ${decimal(correlation.thousandths[down ? down.value() : 0][across ? across.value() : 0] / 1000, 3)}`;
  const moved = () => { picked.replaceChildren(made("b", {}, value())); redraw(); };
  const said = (place) => [`${rowWords(place)}, ${value()}`, ...rowNodes(place)];
  panel.append(colourScale(), picked);
  down = probe(panel, "Row", n, said, moved);
  across = probe(panel, "Column", n, said, moved);
  moved();
  // Not "click": pointing redraws the picture, and a click on what is gone is none.
  if (tree) frame.addEventListener("pointerup", () => chooseBoth(correlation.features[down.value()][0], correlation.features[across.value()][0]));
  pointed(frame, (px, py) => {
    const place = (at) => Math.min(Math.max(Math.floor((at - MARGIN) / side * n), 0), n - 1);
    down.move(place(py));
    across.move(place(px));
  });
}

function rowWords(place) {
  const own = correlation.features[place], first = quoted(features[own[0]]);
  return `${first}${own.length > 1 ? ` and ${own.length - 1} more` : ""}, ${groupWords(correlation.groups[place])}`;
}

function rowNodes(place) {
  const own = correlation.features[place], group = correlation.groups[place];
  return [named(features[own[0]]), own.length > 1 ? ` and ${own.length - 1} more` : "", " ", chip(group, COLOUR_OF[group])];
}

function correlationWords() {
  // Means over blocks are closer to 0 than the correlations themselves.
  if (correlation.features.some((own) => own.length > 1)) return "Rows and columns are blocks of several features; a cell is the mean of their correlations, in which opposite signs cancel.";
  const { thousandths, groups: of } = correlation, sums = [0, 0], counts = [0, 0];
  thousandths.forEach((row, a) => row.forEach((value, b) => {
    // What is left out is no group.
    if (a === b || of[a] === rest || of[b] === rest) return;
    const apart = of[a] === of[b] ? 0 : 1;
    sums[apart] += Math.abs(value);
    counts[apart] += 1;
  }));
  const [within, between] = sums.map((sum, one) => (counts[one] ? decimal(sum / counts[one] / 1000, 2) : null));
  const told = [within && `${within} within groups`, between && `${between} between groups`].filter(Boolean);
  return told.length ? `Correlations are on average ${told.join(" and ")}, in absolute value.` : "";
}

function rgbOf(name) {
  return inkOf(name).match(/[\d.]+/g).slice(0, 3).map(Number);
}

/** Range of the colours: -1 to 1, or the lowest correlation to 1 if all are high. */
function ends() {
  let low = 1000;
  correlation.thousandths.forEach((row) => row.forEach((value) => { low = Math.min(low, value); }));
  return low >= 400 ? [Math.min(low, 999) / 1000, 1] : [-1, 1];
}

function mixer() {
  const [cold, zero, warm] = ["cold", "zero", "warm"].map(rgbOf), [low, high] = ends();
  return (value) => {
    const share = low > 0 ? (value - low) / (high - low) : value;
    return zero.map((one, channel) => one + Math.abs(share) * ((share < 0 ? cold : warm)[channel] - one));
  };
}

function heat() {
  const n = correlation.thousandths.length, canvas = made("canvas", { width: n, height: n });
  const pen = canvas.getContext("2d"), image = pen.createImageData(n, n), colour = mixer();
  correlation.thousandths.forEach((row, a) => row.forEach((value, b) => image.data.set([...colour(value / 1000), 255], 4 * (a * n + b))));
  pen.putImageData(image, 0, 0);
  return canvas;
}

/** Colours and numbers of groups along two sides, and lines between groups if there are not too many. */
function groupLines(pen, side) {
  const of = correlation.groups, wide = side / of.length;
  const borders = [0, ...of.keys(), of.length].filter((place) => !place || of[place - 1] !== of[place]);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  [...new Set(borders)].forEach((from, place, all) => {
    if (from >= of.length) return;
    const group = of[from], long = (all[place + 1] - from) * wide, at = MARGIN + from * wide, colour = COLOUR_OF[group];
    pen.fillStyle = COLOURS[colour];
    pen.fillRect(at, 0, long, MARGIN - 2);
    pen.fillRect(0, at, MARGIN - 2, long);
    pen.fillStyle = DARK_COLOURS.has(colour) ? "#fff" : "#000";
    const word = groupWord(group);
    if (long > 6 + 7 * word.length) pen.fillText(word, at + long / 2, MARGIN / 2);
    if (long > 12 && word.length < 3) pen.fillText(word, MARGIN / 2 - 1, at + long / 2);
  });
  pen.strokeStyle = inkOf("ink");
  pen.strokeRect(MARGIN + .5, MARGIN + .5, side - 1, side - 1);
  if (borders.length * 6 > side) return;
  pen.beginPath();
  for (const at of borders.map((one) => Math.round(MARGIN + one * wide) + .5)) {
    pen.moveTo(at, MARGIN); pen.lineTo(at, side + MARGIN);
    pen.moveTo(MARGIN, at); pen.lineTo(side + MARGIN, at);
  }
  pen.stroke();
}

function crossHair(pen, wide, across, down) {
  const size = Math.max(wide, 8), corner = (place) => MARGIN + (place + .5) * wide - size / 2;
  for (const [ink, thick] of [["page", 4], ["ink", 2]]) {
    pen.strokeStyle = inkOf(ink);
    pen.lineWidth = thick;
    pen.strokeRect(corner(across), corner(down), size, size);
  }
}

function colourScale() {
  const canvas = made("canvas", { width: 201, height: 1 }), [low, high] = ends();
  const paint = () => {
    const pen = canvas.getContext("2d"), colour = mixer();
    for (let one = 0; one <= 200; one++) {
      pen.fillStyle = `rgb(${colour(low + (high - low) * one / 200).map(Math.round).join(" ")})`;
      pen.fillRect(one, 0, 1, 1);
    }
  };
  pictures.push(paint);
  paint();
  const words = low > 0 ? [`${decimal(low, 2)} (lowest)`, "1"] : [`${MINUS}1`, "1"];
  return made("div", { class: "scale", role: "img", "aria-label": `Colours of correlations from ${words.join(" to ")}` }, words[0], canvas, words[1]);
}
