// ---- Lists with search, sorting and pages

function listing(host, { label, sorts, size, keep, draw, last = (items) => items }) {
  const search = made("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const order = made("select", {}, Object.keys(sorts).map((name) => made("option", {}, name)));
  const status = made("span", { role: "status" });
  const content = made("div");
  const back = made("button", { type: "button", onclick: () => turn(-1) }, "Previous");
  const next = made("button", { type: "button", onclick: () => turn(1) }, "Next");
  let page = 0, found = [];
  const show = () => {
    const end = Math.max(Math.ceil(found.length / size) - 1, 0);
    page = Math.min(Math.max(page, 0), end);
    const start = page * size, items = found.slice(start, start + size);
    draw(content, items, search.value.trim().toLowerCase());
    const range = items.length ? `${(start + 1).toLocaleString("en")}${DASH}${(start + items.length).toLocaleString("en")} of ` : "";
    status.textContent = range + (found.length ? found.length.toLocaleString("en") : "Nothing found");
    back.disabled = page === 0;
    next.disabled = page === end;
    back.hidden = next.hidden = end === 0;
  };
  const turn = (by) => {
    page += by;
    show();
    // A disabled button loses the focus.
    if (by > 0 && next.disabled) back.focus({ preventScroll: true });
    if (by < 0 && back.disabled) next.focus({ preventScroll: true });
    host.scrollIntoView({ block: "start" });
  };
  const find = () => {
    page = 0;
    found = last(sorts[order.value](keep(search.value.trim().toLowerCase())));
    show();
  };
  search.addEventListener("input", find);
  order.addEventListener("change", find);
  host.append(
    made("div", { class: "controls" }, made("label", { class: "wide" }, label, search), made("label", {}, "Order", order)),
    content,
    made("div", { class: "turn" }, back, next, status),
  );
  find();
  return { find, search, clear: () => { search.value = ""; find(); } };
}

function by(value) {
  return (items) => {
    const of = new Map(items.map((one) => [one, value(one)]));
    return [...items].sort((a, b) => {
      const x = of.get(a), y = of.get(b);
      // Missing values come last.
      return Number.isNaN(x) - Number.isNaN(y) || (x < y ? -1 : x > y ? 1 : a - b);
    });
  };
}

const LOWER = features.map((name) => name.toLowerCase());
const collator = new Intl.Collator("en", { numeric: true });

function byName(name) {
  return (items) => [...items].sort((a, b) => collator.compare(name(a), name(b)) || a - b);
}

// ---- Groups

const LARGEST = summary.outputs.map((_, output) => extent(groups.map((group) => Math.abs(numberIn(group.effects[output]))))[1] || 1);
// Classes share a scale; targets may have different units.
const MOST_EFFECT = summary.task === "regression" || summary.task === "counts" ? LARGEST : LARGEST.map(() => Math.max(...LARGEST));

function largestEffect(group) {
  const sizes = groups[group].effects.map((one, output) => Math.abs(numberIn(one)) / MOST_EFFECT[output]).filter(Number.isFinite);
  return sizes.length ? Math.max(...sizes) : NaN;
}

// From this stability on, a group is firm or fair; below, it is loose.
const LIGHTS = ["firm", "fair"].map((word) => [word, Number(document.getElementById("groups")?.dataset[word])]);

function lightWord(stability) {
  // As it is shown, with two digits.
  const share = Number(numberIn(stability).toFixed(2));
  if (Number.isNaN(share)) return "";
  return (LIGHTS.find(([, least]) => share >= least) || ["loose"])[0];
}

function light(stability) {
  const word = lightWord(stability);
  return word ? [made("span", { class: `light ${word}` }, word), ` ${decimal(stability, 2)}`] : [DASH];
}

function groupSorts() {
  const all = {
    "Size, largest first": by((one) => -groups[one].members.length),
    "Effect, largest first": by((one) => -largestEffect(one)),
    "Lost without it, largest first": by((one) => -numberIn(groups[one].contribution)),
    "Likeness, lowest first": by((one) => numberIn(groups[one].likeness)),
    "Stability, lowest first": by((one) => numberIn(groups[one].stability)),
    Name: byName((one) => groups[one].name),
    Number: by((one) => one),
  };
  const has = (name) => groups.some((group) => !Number.isNaN(numberIn(group[name])));
  if (!groups.some((group) => group.effects.length)) delete all["Effect, largest first"];
  if (!has("contribution")) delete all["Lost without it, largest first"];
  if (!has("likeness")) delete all["Likeness, lowest first"];
  if (!has("stability")) delete all["Stability, lowest first"];
  return all;
}

function showGroups(host, openFeatures) {
  host.append(repeatNote());
  const lower = groups.map((group) => group.name.toLowerCase());
  const all = [...groups.keys()];
  const has = (group, query) => lower[group].includes(query) || groups[group].members.some((one) => LOWER[one].includes(query));
  listing(host, {
    label: "Find a feature or a group",
    sorts: groupSorts(),
    size: CARDS,
    keep: (query) => (query ? all.filter((group) => has(group, query)) : all),
    last: (items) => [...items.filter((group) => group !== rest), ...items.filter((group) => group === rest)],
    draw: (content, items, query) => {
      content.replaceChildren(made("ul", { class: "cards" }, items.map((group) => card(group, query, openFeatures))));
    },
  });
}

function card(number, query, openFeatures) {
  const group = groups[number];
  const heading = made("h3", {}, chip(number, COLOUR_OF[number]), " ", number === rest ? "" : named(group.name, query), " ",
    made("span", { class: "size" }, counted(group.members.length, "feature")));
  return made("li", { class: "card" }, heading, whereabouts(number), query && group.members.length > 1 ? matching(group, query) : null,
    made("div", { class: "body" }, groupFacts(group), groupEffects(group)),
    made("div", { class: "more" },
      group.members.length > 1 ? memberList(number, query, openFeatures) : null,
      group.merges.length ? mergeList(group) : null));
}

const AT = spectrum ? spectrum.positions.map(numberIn) : [...features.keys()];

/** The positions of the members in the table, or along the axis. */
function whereabouts(number) {
  const [low, high] = extent(AT), wide = Math.max((high - low) / Math.max(features.length - 1, 1), (high - low) / 400) || 1;
  const place = scaled([low - wide / 2, high + wide / 2], 0, 1000), blocks = [];
  for (const at of groups[number].members.map((one) => AT[one]).filter(Number.isFinite).sort((a, b) => a - b)) {
    const last = blocks[blocks.length - 1];
    if (last && at - last[1] < 1.01 * wide) last[1] = at;
    else blocks.push([at, at]);
  }
  const d = blocks.map(([from, to]) => `M${place(from - wide / 2).toFixed(1)} 0H${place(to + wide / 2).toFixed(1)}V10H${place(from - wide / 2).toFixed(1)}z`).join("");
  return drawn("svg", { class: "where", viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { class: "ground", width: 1000, height: 2, y: 4 }), drawn("path", { d, fill: COLOURS[COLOUR_OF[number]] }));
}

function matching(group, query) {
  const found = group.members.filter((one) => LOWER[one].includes(query));
  if (!found.length) return null;
  const more = found.length > 10 ? made("li", {}, `and ${(found.length - 10).toLocaleString("en")} more`) : null;
  return made("ul", { class: "members", "aria-label": "Members that match" },
    found.slice(0, 10).map((one) => made("li", {}, signed(one, query))), more);
}

function groupFacts(group) {
  const told = ["likeness", "weakest"].filter((name) => group[name] !== null).map((name) => [name, decimal(group[name], 2)]);
  if (group.stability !== null) told.push(["stability", light(group.stability)]);
  if (group.weights.length === 1) told.push(["weight", significant(group.weights[0])]);
  if (group.contribution !== null) told.push(["lost without it", withError(group.contribution, group.contribution_error)]);
  if (group.shared) told.push(["names share", named(group.shared)]);
  if (group.representative !== null && group.members.length > 1) told.push(["best single member", named(features[group.representative])]);
  return made("dl", {}, told.map(([term, said]) => made("div", {}, made("dt", {}, term), made("dd", {}, said))));
}

function withError(value, error) {
  return decimal(value, 4) + (error === null ? "" : ` ${PLUS_MINUS} ${decimal(error, 4)}`);
}

function groupEffects(group) {
  const size = (one) => Math.abs(numberIn(group.effects[one]));
  const ranked = [...group.effects.keys()].sort((a, b) => size(b) - size(a)), several = ranked.length > 1;
  const rows = (places) => places.flatMap((one) => [
    made("span", {}, several ? "" : "effect on ", named(summary.outputs[one])),
    effectBar(numberIn(group.effects[one]), MOST_EFFECT[one]),
    made("span", {}, significant(group.effects[one]) + (several ? ` (${significant(group.weights[one])})` : "")),
  ]);
  const head = several ? ["effect on", "", "effect (weight)"].map((word) => made("span", { class: "head" }, word)) : [];
  const shown = ranked.slice(0, MOST_OUTPUTS).sort((a, b) => a - b);
  const rest = ranked.length > MOST_OUTPUTS ? lazily(`${ranked.length - MOST_OUTPUTS} smaller effects`, () =>
    made("div", { class: "effects" }, rows(ranked.slice(MOST_OUTPUTS)))) : null;
  return made("div", {}, shown.length ? made("div", { class: "effects" }, head, rows(shown)) : null, rest);
}

function effectBar(effect, most) {
  const long = Number.isFinite(effect) ? 50 * Math.abs(effect) / most : 0;
  return drawn("svg", { "aria-hidden": "true" },
    drawn("rect", { class: effect < 0 ? "down" : "up", x: `${effect < 0 ? 50 - long : 50}%`, width: `${long}%`, y: "15%", height: "70%" }),
    drawn("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: "100%" }));
}

/** A details element whose content is created when it is first opened. */
function lazily(words, content) {
  const details = made("details", {}, made("summary", {}, words));
  details.addEventListener("toggle", () => { if (details.children.length < 2) details.append(content()); }, { once: true });
  return details;
}

function memberList(number, query, openFeatures) {
  const { members } = groups[number];
  const turned = members.filter((one) => signs[one] < 0).length;
  const words = counted(members.length, "member") + (turned ? `, ${turned.toLocaleString("en")} with a minus sign` : "");
  return lazily(words, () => made("div", {},
    made("ul", { class: "members" }, members.slice(0, MOST_MEMBERS).map((one) => made("li", {}, signed(one, query)))),
    members.length > MOST_MEMBERS ? made("p", { class: "note" }, `These are the first ${MOST_MEMBERS}.`) : null,
    made("button", { type: "button", class: "plain", onclick: () => openFeatures(number) }, "Show them in the table of features")));
}

function mergeList(group) {
  const refused = group.refused ? `, ${group.refused.toLocaleString("en")} refused` : "";
  return lazily(`Prices: ${counted(group.merges.length, "merge")}${refused}`, () => {
    const host = made("div");
    requestAnimationFrame(() => {
      mergeChart(host, group);
      host.append(key(["dots", "price"], ["curve allowance", "allowance"]), lazily("As a table", () => mergeTable(group)));
    });
    return host;
  });
}

function mergeChart(host, group) {
  const prices = group.merges.map((merge) => numberIn(merge.price)), allowances = group.merges.map((merge) => numberIn(merge.allowance));
  const ends = extent([0, ...prices, ...allowances]);
  const words = `Prices of ${counted(prices.length, "merge")} in the order of joining, from ${significant(extent(prices)[0])} to ${significant(extent(prices)[1])}; each is at most its allowance.`;
  picture(host, () => words, (width) => {
    const height = 150, left = 64, x = scaled([0, Math.max(prices.length - 1, 1)], left + 8, width - 10), y = scaled(ends, height - 26, 10);
    const at = (values) => values.map((value, place) => [x(place), y(value)]);
    return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, levels(ticks(ends, 3), left, width, y),
      drawn("path", { class: "curve allowance", d: line(at(prices.length > 1 ? allowances : [allowances[0], allowances[0]])) }),
      drawn("path", { class: "dots", d: at(prices).filter(([, one]) => Number.isFinite(one)).map(([one, other]) => `M${one.toFixed(1)} ${other.toFixed(1)}h.01`).join("") }),
      drawn("text", { x: left, y: height - 4 }, "first to join"),
      drawn("text", { x: width, y: height - 4, "text-anchor": "end" }, "last"));
  });
}

function mergeTable(group) {
  const rows = group.merges.slice(0, MOST_MERGES).map((merge) => [signed(merge.feature), significant(merge.price), significant(merge.allowance)]);
  const words = group.merges.length > MOST_MERGES ? `The first ${MOST_MERGES} merges, in order` : "Merges, in order";
  return tableOf(words, ["Feature", "Price", "Allowance"], rows);
}

function tableOf(caption, header, rows) {
  const kind = (place) => (place ? "number" : "text");
  return made("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, made("table", {}, made("caption", {}, caption),
    made("thead", {}, made("tr", {}, header.map((word, place) => made("th", { scope: "col", class: kind(place) }, word)))),
    made("tbody", {}, rows.map((cells) => made("tr", {}, cells.map((cell, place) =>
      (place ? made("td", { class: kind(place) }, cell) : made("th", { scope: "row" }, cell))))))));
}

// ---- Features

function joining() {
  const merges = new Array(features.length).fill(null);
  groups.forEach((group) => group.merges.forEach((merge, place) => { merges[merge.feature] = { place: place + 1, price: merge.price, allowance: merge.allowance }; }));
  return merges;
}

function showFeatures(host) {
  const merges = joining(), all = [...features.keys()];
  const priceOf = (one) => (merges[one] ? numberIn(merges[one].price) : NaN);
  let only = null;
  const release = made("button", { type: "button", hidden: true, onclick: () => { choose(null); list.search.focus({ preventScroll: true }); } });
  host.append(release);
  const list = listing(host, {
    label: "Find a feature",
    sorts: {
      "As in the table": (items) => items,
      Name: byName((one) => features[one]),
      Group: by((one) => labels[one]),
      "Price, highest first": by((one) => -priceOf(one)),
    },
    size: ROWS,
    keep: (query) => all.filter((one) => (only === null || labels[one] === only) && LOWER[one].includes(query)),
    draw: (content, items, query) => content.replaceChildren(featureTable(items, query, merges)),
  });
  const choose = (group) => {
    only = group;
    release.hidden = group === null;
    release.textContent = `Only ${groupWords(group)} ${TIMES}`;
    release.setAttribute("aria-label", `Only ${groupWords(group)} is shown: show all features`);
    list.clear();
  };
  return (group) => {
    choose(group);
    host.scrollIntoView({ block: "start" });
    release.focus({ preventScroll: true });
  };
}

function featureTable(items, query, merges) {
  const rows = items.map((one) => [
    tree ? [made("button", { type: "button", class: "plain", title: "Choose for: why together, why apart?", onclick: () => chooseNext(one) }, signed(one, query))] : signed(one, query),
    [chip(labels[one], COLOUR_OF[labels[one]])],
    merges[one] ? String(merges[one].place) : labels[one] === rest ? DASH : groups[labels[one]].members.length > 1 ? "start" : "alone",
    merges[one] ? significant(merges[one].price) : DASH,
    merges[one] ? significant(merges[one].allowance) : DASH,
  ]);
  return tableOf("Features, their groups and the prices of their merges", ["Feature", "Group", "Joined", "Price", "Allowance"], rows);
}
