// ---- The tree of likeness, and why two features are together or apart

const MOST_NAMED_LEAVES = 80, MOST_SUGGESTED = 40, MOST_KEYS = 12;
const chosen = [null, null], unknown = [null, null];
let tellPair = () => {};

/** Two features, such as those of a cell of the heat map. */
function chooseBoth(one, other) {
  [chosen[0], chosen[1]] = [one, other];
  unknown.fill(null);
  tellPair();
}

/** One more feature: the first, then the second, and so on. */
function chooseNext(feature) {
  const place = chosen[0] === null || chosen[1] !== null ? 0 : 1;
  if (place === 0) chosen[1] = null;
  chosen[place] = feature;
  unknown.fill(null);
  tellPair();
}

function showTree(host) {
  const said = made("div", { class: "pair", role: "status" });
  const fields = [0, 1].map((place) => featureField(place, () => tellPair()));
  host.append(made("div", { class: "controls" }, fields.map((one) => one.element)), said);
  const { redraw } = dendrogram(host);
  tellPair = () => {
    fields.forEach((field, place) => field.show(chosen[place]));
    said.replaceChildren(...reasons(...chosen).map((words, place) => made("p", place ? { class: "lead" } : {}, words)));
    redraw();
  };
  tellPair();
}

/** A search field that suggests features. */
function featureField(place, changed) {
  const list = made("datalist", { id: `suggested-${place}` });
  const input = made("input", { type: "search", list: `suggested-${place}`, autocomplete: "off", spellcheck: "false" });
  const suggest = () => {
    const query = input.value.trim().toLowerCase(), found = [];
    for (let one = 0; one < features.length && found.length < MOST_SUGGESTED; one++) if (LOWER[one].includes(query)) found.push(one);
    list.replaceChildren(...found.map((one) => made("option", { value: features[one] })));
  };
  input.addEventListener("focus", suggest);
  input.addEventListener("input", () => {
    suggest();
    const words = input.value.trim(), exact = features.findIndex((name) => name === words || bare(name) === words);
    const only = list.children.length === 1 && words ? features.indexOf(list.children[0].value) : -1;
    const found = exact >= 0 ? exact : only;
    chosen[place] = found >= 0 ? found : null;
    unknown[place] = found < 0 && words ? words : null;
    changed();
  });
  const element = made("label", { class: "wide" }, place ? "Second feature" : "First feature", input, list);
  // Do not write into the field while someone types in it.
  const show = (feature) => { if (document.activeElement !== input) input.value = feature === null ? "" : features[feature]; };
  return { element, show };
}

/** The name of a feature without what was made of it: a of rank(a). */
function bare(name) {
  return name.replace(/^\w+\((.*)\)$/, "$1");
}

const PARENT = tree ? parents() : [];

function parents() {
  const above = new Array(2 * features.length - 1).fill(-1);
  tree.first.forEach((one, row) => { above[one] = above[tree.second[row]] = features.length + row; });
  return above;
}

/** The number of the merge that joins two features. */
function joint(one, other) {
  const seen = new Set();
  for (let node = one; node >= 0; node = PARENT[node]) seen.add(node);
  let node = other;
  while (!seen.has(node)) node = PARENT[node];
  return node - features.length;
}

/** The correlation of two features if the heat map has a row for each, without their signs. */
function ownCorrelation(one, other) {
  if (!correlation) return null;
  const place = (feature) => correlation.features.findIndex((own) => own.length === 1 && own[0] === feature);
  const [a, b] = [place(one), place(other)];
  return a < 0 || b < 0 ? null : signs[one] * signs[other] * correlation.thousandths[a][b] / 1000;
}

/** Sentences on why two features are together or apart. */
function reasons(one, other) {
  const strange = unknown.filter((words) => words !== null);
  if (strange.length) return strange.map((words) => `No feature is called ${quoted(words)}.`);
  if (one === null || other === null) return [one === null && other === null ? "No features are chosen yet." : `${quoted(features[one === null ? other : one])} is chosen; choose another.`];
  if (one === other) return ["These are the same feature."];
  const row = joint(one, other), words = [togetherWords(one, other), likenessWords(one, other, row)];
  const out = [one, other].filter((feature) => labels[feature] === rest);
  if (out.length) return [...words, ...out.map(leftOutWords)];
  return [...words, labels[one] === labels[other] ? mergeWords(row) : apartWords(row, one, other)];
}

function togetherWords(one, other) {
  const [a, b] = [one, other].map((feature) => quoted(features[feature]));
  if (labels[one] === rest && labels[other] === rest) return `${a} and ${b} are both left out.`;
  if (labels[one] === labels[other]) return `${a} and ${b} are together, in group ${labels[one]}.`;
  const of = (feature) => (labels[feature] === rest ? "is left out" : `is in group ${labels[feature]}`);
  return `${a} ${of(one)}, ${b} ${of(other)}.`;
}

function likenessWords(one, other, row) {
  const own = ownCorrelation(one, other), likeness = decimal(tree.likeness[row], 2);
  const pair = own === null ? "" : `Their correlation is ${decimal(own, 2)}. `;
  return tree.constant.includes(one) || tree.constant.includes(other) ? `${pair}A constant feature is like no other.`
    : !hasLikeness(tree.likeness[row]) ? pair : `${pair}In the tree, the two branches that hold them have a mean correlation of ${likeness}.`;
}

/** Branches that may not merge, and constants, are in the tree at a likeness of -1. */
function hasLikeness(likeness) {
  return likeness > -1;
}

const noPrice = (value) => !Number.isFinite(numberIn(value));

function mergeWords(row) {
  if (!tree.prices.length) return "The prices of this fit are not known.";
  if (noPrice(tree.prices[row])) return "They were merged before any price was asked: there are more features than the rows can price, and the most alike are merged first by likeness alone; or you put them together.";
  return `Merging the two branches cost ${significant(tree.prices[row])} of the variance of the target, given all other columns. The allowance, the highest price that was paid, is ${significant(tree.allowance)}.`;
}

/** Why two features whose branches the path never merges are apart: by their groups. */
function apartByGroups(one, other) {
  const both = tree.group_prices[labels[one]];
  if (!both || noPrice(both[labels[other]])) return "They are alike enough, but the target needs them apart: with fewer groups, a part of one of the branches is left out before the two would merge.";
  const cost = `${significant(both[labels[other]])} of its variance, given all other columns`, allowance = significant(tree.group_allowance);
  return numberIn(both[labels[other]]) > tree.group_allowance
    ? `They are alike enough, but the target needs them apart: with one coefficient for both groups it would lose ${cost}, more than a coefficient is allowed, ${allowance}.`
    : `They are alike enough, and with one coefficient for both groups the target would lose only ${cost} (the allowance is ${allowance}), but between them in the tree are features that the target needs apart.`;
}

function apartWords(row, one, other) {
  if (!tree.may_join.length) return "The prices of this fit are not known.";
  const floor = tree.min_correlation, square = significant(floor * floor);
  if (tree.may_join[row] === 1) return `They are too unlike to share a group, whatever the target: branches need a mean correlation of ${square}, the square of min_correlation.`;
  if (tree.may_join[row] === 2) return `Together, a member would have a correlation below ${significant(floor)} (min_correlation) with the mean of the group, or a limit that you set keeps them apart.`;
  if (noPrice(tree.prices[row])) return apartByGroups(one, other);
  const price = significant(tree.prices[row]), allowance = significant(tree.allowance);
  return numberIn(tree.prices[row]) > tree.allowance
    ? `They are alike enough, but the target needs them apart: merging the two branches would cost ${price} of its variance, given all other columns, more than the allowance, ${allowance}, the highest price that was paid.`
    : `They are alike enough, and would merge at a price of ${price} with fewer groups; the number of groups was reached before that.`;
}

function leftOutWords(feature) {
  const name = quoted(features[feature]);
  if (tree.constant.includes(feature)) return `${name} is left out because it is constant.`;
  if (!tree.exit_prices.length) return `${name} is left out: it adds nothing to the prediction, given the other columns.`;
  if (noPrice(tree.exit_prices[feature])) return `${name} is left out: alone, it and what is like it explain less of the target than the groups that the path starts from.`;
  return `${name} is left out: leaving it out, with what it was grouped with by then, cost ${significant(tree.exit_prices[feature])} of the variance of the target, given all other columns, within the allowance, ${significant(tree.allowance)}.`;
}

/** The tree, with leaves from top to bottom and correlations from left to right. */
function dendrogram(host) {
  const n = features.length, isNamed = n <= MOST_NAMED_LEAVES, row = isNamed ? 18 : 440 / n;
  const place = new Array(2 * n - 1), group = [...labels];
  tree.order.forEach((feature, at) => { place[feature] = at; });
  tree.first.forEach((one, merge) => {
    place[n + merge] = (place[one] + place[tree.second[merge]]) / 2;
    group.push(group[one] === group[tree.second[merge]] ? group[one] : null);
  });
  const low = Math.min(extent(tree.likeness.filter(hasLikeness))[0], .999);
  const describe = () => `Tree of ${counted(n, "feature")} by likeness, coloured by group. ${fitWords()}`;
  const { frame, redraw } = picture(host, describe, (width) => {
    const left = isNamed ? Math.min(190, width * .42) : 12, top = 6, bottom = top + n * row;
    const [canvas, pen] = sharpCanvas(width, bottom + 40);
    const x = likenessScale(low, left + 14, width - 8), y = (node) => top + (place[node] + .5) * row;
    treeStrip(pen, left, top, row);
    if (isNamed) leafNames(pen, left, y);
    // What has no likeness, such as constants, joins just beyond the others.
    const at = (node) => (node < n ? x(1) : Math.min(x(tree.likeness[node - n]), width - 2));
    const soft = inkOf("soft"), faint = inkOf("line");
    pen.lineWidth = isNamed ? 1.6 : .6;
    tree.first.forEach((one, merge) => {
      const other = tree.second[merge], own = group[n + merge];
      pen.strokeStyle = own === null ? soft : own === rest ? faint : COLOURS[COLOUR_OF[own]];
      pen.beginPath();
      pen.moveTo(at(one), y(one));
      pen.lineTo(at(n + merge), y(one));
      pen.lineTo(at(n + merge), y(other));
      pen.lineTo(at(other), y(other));
      pen.stroke();
    });
    treeAxis(pen, x, low, width, top, bottom);
    if (!isNamed) leafMarks(pen, left, y);
    return canvas;
  });
  frame.addEventListener("click", (event) => {
    const at = Math.floor((event.clientY - frame.getBoundingClientRect().top - 6) / row);
    if (at >= 0 && at < n) chooseNext(tree.order[at]);
  });
  if (!isNamed) host.append(treeKey());
  return { redraw };
}

/** Where a likeness is: near 1, where branches of spectra are, there is more room than near 0. */
function likenessScale(low, start, end) {
  const across = scaled([0, Math.cbrt(1 - low)], start, end);
  return (likeness) => across(Math.cbrt(1 - likeness));
}

const LIKENESS_TICKS = [1, .99999, .9999, .999, .99, .95, .9, .8, .7, .5, .3, 0, -.5, -1];

/** The ticks that have room, from left to right. */
function likenessTicks(low, x, room) {
  const kept = [];
  for (const value of LIKENESS_TICKS.filter((one) => one >= low)) if (!kept.length || x(value) - x(kept[kept.length - 1]) >= room) kept.push(value);
  return kept;
}

/** The colours of the largest groups, where leaves have no names. */
function treeKey() {
  const largest = [...groups.keys()].sort((a, b) => (a === rest) - (b === rest) || groups[b].members.length - groups[a].members.length);
  const shown = largest.slice(0, MOST_KEYS), entries = rest === null || shown.includes(rest) ? shown : [...shown, rest];
  return made("ul", { class: "key" }, entries.map((group) => made("li", {}, chip(group, COLOUR_OF[group]), ` ${counted(groups[group].members.length, "feature")}`)));
}

/** A triangle at each chosen feature. */
function leafMarks(pen, left, y) {
  pen.fillStyle = inkOf("ink");
  chosen.filter((feature) => feature !== null).forEach((feature) => {
    pen.beginPath();
    pen.moveTo(left - 1, y(feature));
    pen.lineTo(left - 10, y(feature) - 5);
    pen.lineTo(left - 10, y(feature) + 5);
    pen.fill();
  });
}

function treeStrip(pen, left, top, row) {
  tree.order.forEach((feature, at) => {
    pen.fillStyle = COLOURS[COLOUR_OF[labels[feature]]];
    pen.fillRect(left, top + at * row, 9, Math.max(row, .5) + .3);
  });
}

function leafNames(pen, left, y) {
  const [ink, soft] = ["ink", "soft"].map(inkOf);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  tree.order.forEach((feature) => {
    const name = (signs[feature] < 0 ? MINUS : "") + shortened(features[feature]), isChosen = chosen.includes(feature);
    pen.font = `${isChosen ? "700 " : ""}12px system-ui, sans-serif`;
    pen.fillStyle = labels[feature] === rest && !isChosen ? soft : ink;
    pen.fillText(fitted(pen, name, left - 6), left - 5, y(feature));
  });
}

/** A text without its middle, if it is too wide. */
function fitted(pen, text, most) {
  let keep = text.length;
  while (keep > 3 && pen.measureText(cut(text, keep)).width > most) keep--;
  return cut(text, keep);
}

function cut(text, keep) {
  return text.length <= keep ? text : `${text.slice(0, Math.ceil(keep / 2))}\u2026${text.slice(text.length - Math.floor(keep / 2))}`;
}

function treeAxis(pen, x, low, width, top, bottom) {
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = inkOf("soft");
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  likenessTicks(low, x, 46).forEach((value) => pen.fillText(String(value), x(value), bottom + 16));
  pen.textAlign = "right";
  pen.fillText("mean correlation of two branches", width - 4, bottom + 34);
  if (!tree.min_correlation) return;
  pen.strokeStyle = inkOf("ink");
  pen.setLineDash([2, 3]);
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x(tree.min_correlation ** 2), top);
  pen.lineTo(x(tree.min_correlation ** 2), bottom);
  pen.stroke();
  pen.setLineDash([]);
}
