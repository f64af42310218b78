// ---- The number of groups of a joint fit

function showNumbers(host) {
  const steps = numbers.n_groups.map((count, place) => ({
    count, cv: numberIn(numbers.scores[place]), error: numberIn(numbers.std_errors[place]), stability: numberIn(numbers.stability[place]), labels: numbers.labels[place],
  }));
  const fit = nearest(steps.map((one) => Math.abs(Math.log(one.count / N_GROUPS)))), isScored = steps[fit].count === N_GROUPS;
  const best = nearest(steps.map((one) => -one.cv));
  let slider = null;
  const output = made("output", { "aria-live": "off", id: "number" });
  const now = () => steps[slider ? Number(slider.value) : fit];
  const tell = () => {
    const words = numberWords(now());
    slider.setAttribute("aria-valuetext", words);
    output.textContent = words;
  };
  const chart = numbersChart(made("div"), steps, [{ short: best === fit && isScored ? "best, this fit" : "best", at: steps[best].count }, ...(best === fit && isScored ? [] : [{ short: "this fit", at: N_GROUPS }])], now);
  const move = (place, isFit = false) => {
    slider.value = place;
    tell();
    chart.redraw();
    if (isFit) look(labels, N_GROUPS, fitWords());
    else if (numbers.labels.length) look(now().labels, now().count, `With ${counted(now().count, "group")}`);
  };
  slider = made("input", { type: "range", min: 0, max: steps.length - 1, value: fit, oninput: () => { output.setAttribute("aria-live", "off"); move(slider.value); } });
  const jump = (words, place, isFit) => made("button", { type: "button", onclick: () => { output.setAttribute("aria-live", "polite"); move(place, isFit); } }, words);
  const jumps = [jump("Best score", best, false), jump(isScored ? "This fit" : "This fit (nearest number)", fit, true)];
  host.append(made("div", { class: "slide" }, made("label", {}, "Number of groups, from few to many", slider), output, made("div", { class: "jumps" }, jumps)));
  host.append(chart.host, key(["curve", "cross-validated"], ["spread", "one standard error on each side"], ["curve train", "stability"]));
  tell();
}

function numberWords(step) {
  const left = step.labels ? step.labels.filter((group) => group >= step.count).length : 0;
  return `${counted(features.length, "column")} become ${step.count.toLocaleString("en")}${left ? `; ${left.toLocaleString("en")} of the ${features.length.toLocaleString("en")} ${left === 1 ? "is" : "are"} left out` : ""}. ` +
    `Cross-validated R\u00b2 ${decimal(step.cv)}${step.error > 0 ? ` (standard error ${decimal(step.error)})` : ""}; stability ${decimal(step.stability, 2)}.`;
}

function numbersChart(host, steps, marks, now) {
  const words = () => `Two lines over the number of groups, from ${steps[0].count} to ${steps[steps.length - 1].count}: the cross-validated score, at best ${decimal(Math.max(...steps.map((one) => one.cv)))}, and the stability. The table below has all numbers.`;
  const { redraw } = picture(host, words, (width) => {
    const left = 56, right = width - 14, logs = steps.map((one) => Math.log(one.count));
    const x = (count) => scaled(extent([...logs, Math.log(Math.max(N_GROUPS, 1))]), left + 8, right)(Math.log(Math.max(count, 1)));
    const flagged = flags(marks.map((mark) => ({ ...mark, tolerance: mark.at })), x, left, right, width < 480);
    const top = 10 + 16 * flagged.rows, middle = top + 150, panel = middle + 36, bottom = panel + 70, height = bottom + 42;
    const scores = extent(steps.flatMap((one) => [one.cv - (one.error || 0), one.cv + (one.error || 0)]));
    const y = scaled(scores, middle, top), s = scaled([0, 1], bottom, panel), xs = steps.map((one) => x(one.count)), at = x(now().count);
    const curve = (kind, value) => drawn("path", { class: kind, d: line(steps.map((one, place) => [xs[place], value(one)])) });
    // Numbers on the axis, as far as they do not touch.
    let last = -Infinity;
    const shown = steps.filter((one, place) => { const free = xs[place] - last > 22; if (free) last = xs[place]; return free; });
    return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      levels(ticks(scores, 4), left, right, y), levels([0, .5, 1], left, right, s),
      drawn("text", { class: "strong", x: 0, y: top - 8 }, "R\u00b2"), drawn("text", { class: "strong", x: 0, y: panel - 12 }, "Stability"),
      flagged.draw(bottom),
      drawn("path", { class: "spread", d: area(xs, steps.map((one) => y(one.cv - one.error)), steps.map((one) => y(one.cv + one.error))) }),
      curve("curve", (one) => y(one.cv)), curve("curve train", (one) => s(one.stability)),
      shown.map((one) => drawn("text", { x: x(one.count), y: bottom + 18, "text-anchor": "middle" }, String(one.count))),
      drawn("text", { x: right, y: bottom + 36, "text-anchor": "end" }, "number of groups"),
      drawn("path", { class: "cursor", d: `M${at} ${top}V${bottom}` }),
      [y(now().cv), s(now().stability)].filter(Number.isFinite).map((cy) => drawn("circle", { class: "point", cx: at, cy, r: 5 })));
  });
  return { host, redraw };
}
