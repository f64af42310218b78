// ---- The page

function redrawAll() {
  pictures.forEach((redraw) => redraw());
}

function schemeButton() {
  const root = document.documentElement, button = document.getElementById("scheme"), system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.scheme ? root.dataset.scheme === "dark" : system.matches);
  const label = () => { button.textContent = isDark() ? "Light page" : "Dark page"; };
  button.addEventListener("click", () => { root.dataset.scheme = isDark() ? "light" : "dark"; label(); redrawAll(); });
  system.addEventListener("change", () => { label(); redrawAll(); });
  label();
  let before;
  // Print in light colours; redraw what is already drawn.
  addEventListener("beforeprint", () => { before = root.dataset.scheme; root.dataset.scheme = "light"; redrawAll(); });
  addEventListener("afterprint", () => {
    if (before) root.dataset.scheme = before;
    else delete root.dataset.scheme;
    redrawAll();
  });
}

function start() {
  const host = (name) => document.getElementById(name);
  document.documentElement.classList.add("scripted");
  view.words = fitWords();
  schemeButton();
  const openFeatures = host("features-live") ? showFeatures(host("features-live")) : null;
  if (host("groups-live")) showGroups(host("groups-live"), openFeatures);
  if (host("groups-export")) showExport(host("groups-export"));
  if (host("path-live")) showPath(host("path-live"));
  if (host("path-places") && (path.labels.length || spectrum || map)) showPlaces(host("path-places"));
  if (host("numbers-live")) showNumbers(host("numbers-live"));
  if (host("numbers-places") && (numbers.labels.length || spectrum || map)) showPlaces(host("numbers-places"));
  if (host("places-live")) showPlaces(host("places-live"));
  if (host("tree-live")) showTree(host("tree-live"));
  if (host("correlation-live")) showCorrelation(host("correlation-live"));
}

start();
