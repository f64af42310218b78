// ---- The path

function showPath(host) {
  const steps = orderedSteps(), fitted = numberIn(summary.tolerance);
  const isAutomatic = !Number.isFinite(fitted);
  const nearFit = nearestStep(steps, fitted), marks = pathMarks(steps, nearFit, fitted);
  let slider = null, showsFit = true;
  // Screen readers announce the slider itself; only the effect of a button is announced here.
  const output = made("output", { "aria-live": "off", id: "step" });
  const now = () => steps[slider ? Number(slider.value) : nearFit];
  const tell = () => {
    const words = (isAutomatic && showsFit ? `${fitWords()}, by an automatic tolerance that is not on this scale. The step with the nearest number of groups, which may be other groups: ` : "") + stepWords(now());
    slider.setAttribute("aria-valuetext", words);
    output.textContent = words;
  };
  const chart = pathChart(made("div"), steps, marks, now);
  const move = (place, isFit = false) => {
    slider.value = place;
    showsFit = isFit;
    tell();
    chart.redraw();
    if (path.labels.length) look(now().labels, now().n_groups, `At tolerance ${significant(now().tolerance)}: ${counted(now().n_groups, "group")}`);
  };
  slider = made("input", { type: "range", min: 0, max: steps.length - 1, value: nearFit, oninput: () => { output.setAttribute("aria-live", "off"); move(slider.value); } });
  const jumps = marks.map((mark) => made("button", { type: "button", onclick: () => {
    output.setAttribute("aria-live", "polite");
    move(mark.place, mark.isFit);
    if (mark.isFit) look(labels, N_GROUPS, fitWords());
  } }, mark.words));
  host.append(made("div", { class: "slide" }, made("label", {}, "Tolerance, from small to large", slider), output, made("div", { class: "jumps" }, jumps)));
  host.append(chart.host, key(["curve", "cross-validated"], ["spread", "one standard error on each side"], ["curve train", "on the rows of the fit"]),
    made("p", { class: "note", hidden: !steps.some((one) => one.cv < scoreEnds(steps)[0]) }, `The lowest scores are below the plot; see the table.`));
  tell();
}

/** The step with the tolerance of the fit; for an automatic one, the step with the nearest number of groups. */
function nearestStep(steps, fitted) {
  const away = Number.isFinite(fitted)
    ? (one) => Math.abs(logOf(one.tolerance) - logOf(fitted))
    : (one) => Math.abs(one.n_groups - N_GROUPS);
  return steps.length ? nearest(steps.map(away)) : 0;
}

function fitWords() {
  return `This fit: ${counted(N_GROUPS, "group")}${rest === null ? "" : `, ${counted(groups[rest].members.length, "feature")} left out`}`;
}

function logOf(tolerance) {
  return Math.log10(Math.min(Math.max(tolerance, 1e-300), 1e300));
}

function orderedSteps() {
  const column = (name, place) => numberIn(path[name][place]);
  return path.tolerances.map((_, place) => ({
    place,
    tolerance: column("tolerances", place),
    n_groups: path.n_groups[place],
    cv: column("cv_scores", place),
    error: column("cv_std_errors", place),
    train: column("train_scores", place),
    labels: path.labels[place],
  })).sort((a, b) => a.tolerance - b.tolerance);
}

function pathMarks(steps, nearFit, fitted) {
  const at = (place) => steps.findIndex((one) => one.place === place);
  const same = path.best === path.simplest;
  const marks = [{ words: same ? "Best and simplest" : "Best score", short: same ? "best, simplest" : "best", place: at(path.best) }];
  if (!same) marks.push({ words: "Simplest within one standard error", short: "simplest", place: at(path.simplest) });
  const isAutomatic = !Number.isFinite(fitted);
  marks.push({ words: "This fit", short: isAutomatic ? "nearest to this fit" : "this fit", place: nearFit, isFit: true, ...(isAutomatic ? {} : { tolerance: fitted }) });
  return marks.map((mark) => ({ tolerance: steps[mark.place].tolerance, ...mark }));
}

function stepWords(step) {
  const cv = `${decimal(step.cv)}${Number.isFinite(step.error) ? ` (standard error ${decimal(step.error)})` : ""}`;
  return `Tolerance ${significant(step.tolerance)}: ${counted(features.length, "column")} become ${step.n_groups.toLocaleString("en")}. ` +
    `Cross-validated ${metric} ${cv}; on the training rows ${decimal(step.train)}.`;
}

/** Positions of tolerances on a logarithmic axis; 0 and infinity are just beyond the others. */
function logAxis(steps, marks, x1, x2) {
  const positive = [...steps, ...marks].map((one) => one.tolerance).filter((one) => one > 0 && Number.isFinite(one)).map(Math.log10);
  const [low, high] = extent(positive), room = (high - low) * .06 || 1;
  const hasZero = steps.some((one) => one.tolerance === 0), hasEndless = steps.some((one) => one.tolerance === Infinity);
  const at = scaled([hasZero ? low - room : low, hasEndless ? high + room : high], x1, x2);
  const x = (tolerance) => at(tolerance <= 0 ? low - room : tolerance === Infinity ? high + room : Math.log10(tolerance));
  const every = Math.max(1, Math.ceil((high - low) / Math.max((x2 - x1) / 70, 1)));
  const powers = [];
  for (let power = Math.ceil(low - 1e-9); power <= high + 1e-9; power++) if (power % every === 0) powers.push(power);
  const marksOf = powers.map((power) => ({ at: x(10 ** power), power }));
  return { x, ticks: marksOf, ends: [hasZero ? ["0", x1] : null, hasEndless ? ["\u221e", x2] : null].filter(Boolean) };
}

function pathChart(host, steps, marks, now) {
  const words = () => `Two lines over the tolerance: the cross-validated ${metric}, best ${decimal(steps.find((one) => one.place === path.best).cv)}, and the number of groups, from ${steps[0].n_groups} down to ${steps[steps.length - 1].n_groups}. The table below has all steps.`;
  const { redraw } = picture(host, words, (width) => {
    const left = 56, right = width - 12, axis = logAxis(steps, marks, left + 6, right);
    const flagged = flags(marks, axis.x, left, right, width < 480);
    const top = 10 + 16 * flagged.rows, middle = top + 150, panel = middle + 36, bottom = panel + 90, height = bottom + 42;
    const scores = scoreEnds(steps);
    const counts = [0, extent(steps.map((one) => one.n_groups))[1]];
    const y = scaled(scores, middle, top), n = scaled(counts, bottom, panel), xs = steps.map((one) => axis.x(one.tolerance));
    const curve = (kind, value) => drawn("path", { class: kind, d: line(steps.map((one, place) => [xs[place], value(one)])) });
    const step = now(), at = axis.x(step.tolerance);
    return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      levels(ticks(scores, 4), left, right, y), levels(ticks(counts, 3).filter(Number.isInteger), left, right, n),
      drawn("text", { class: "strong", x: 0, y: top - 8 }, metric), drawn("text", { class: "strong", x: 0, y: panel - 12 }, "Number of groups"),
      // Clip what is below the panel.
      flagged.draw(bottom), drawn("svg", { class: "cut", width, height: middle, "aria-hidden": "true" },
        drawn("path", { class: "spread", d: area(xs, steps.map((one) => y(one.cv - one.error)), steps.map((one) => y(one.cv + one.error))) }),
        curve("curve train", (one) => y(one.train)), curve("curve", (one) => y(one.cv))),
      curve("curve", (one) => n(one.n_groups)),
      axis.ticks.map(({ at: place, power }) => power10(place, bottom + 18, power)),
      axis.ends.map(([word, place]) => drawn("text", { x: place, y: bottom + 18, "text-anchor": "middle" }, word)),
      drawn("text", { x: right, y: bottom + 36, "text-anchor": "end" }, "tolerance"),
      drawn("path", { class: "cursor", d: `M${at} ${top}V${bottom}` }),
      [Math.min(y(step.cv), middle), n(step.n_groups)].filter(Number.isFinite).map((cy) => drawn("circle", { class: "point", cx: at, cy, r: 5 })));
  });
  return { host, redraw };
}

/** Range of the axis of scores, without a few very low ones that would flatten the rest. */
function scoreEnds(steps) {
  const [low, high] = extent(steps.flatMap((one) => [one.cv - (one.error || 0), one.cv + (one.error || 0), one.train]));
  const means = steps.map((one) => one.cv).filter(Number.isFinite).sort((a, b) => a - b);
  const usual = means.length ? means[Math.floor(means.length / 2)] : low;
  return [Math.max(low, high - Math.max(4 * (high - usual), .05 * Math.abs(high))), high];
}

function power10(x, y, power) {
  if (power >= -3 && power <= 3) return drawn("text", { x, y, "text-anchor": "middle" }, String(Number((10 ** power).toPrecision(1))));
  return drawn("text", { x, y, "text-anchor": "middle" }, "10", drawn("tspan", { dy: -5, "font-size": 9 }, String(power).replace("-", MINUS)));
}

/** Vertical lines with labels above, on several rows if labels would overlap. */
function flags(marks, x, left, right, isNarrow) {
  const rows = [];
  const placed = [...marks].sort((a, b) => x(a.tolerance) - x(b.tolerance)).map((mark) => {
    const half = mark.short.length * 3.4, at = x(mark.tolerance), middle = Math.min(Math.max(at, left + half + (isNarrow ? 10 : 30)), right - half);
    let row = rows.findIndex((end) => end < middle - half);
    if (row < 0) row = rows.push(0) - 1;
    rows[row] = middle + half + 8;
    return { ...mark, at, middle, row };
  });
  const draw = (bottom) => placed.flatMap((mark) => [
    drawn("path", { class: "flag", d: `M${mark.at} ${16 + 16 * mark.row}V${bottom}` }),
    drawn("text", { x: mark.middle, y: 12 + 16 * mark.row, "text-anchor": "middle" }, mark.short),
  ]);
  return { rows: rows.length + 1, draw };
}
