// ---- The groups as a file

function csvField(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** One line for each feature: its group, the name of the column, and what is known of the group. */
function groupsAsCsv() {
  const known = ["likeness", "weakest", "stability", "contribution", "contribution_error"].filter((name) => groups.some((group) => group[name] !== null));
  const effects = groups.some((group) => group.effects.length) ? summary.outputs : [];
  const header = ["group", "column", "feature", "sign", "names share", "best single member", "light", ...known, ...effects.map((output) => `effect on ${output}`)];
  const lines = groups.flatMap((group, number) => group.members.map((one) => [
    groupWord(number), number === rest ? "" : group.name, features[one], signs[one],
    group.shared, group.representative === null ? "" : features[group.representative], lightWord(group.stability), ...known.map((name) => group[name]), ...effects.map((_, output) => group.effects[output]),
  ]));
  return [header, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function showExport(host) {
  const save = () => {
    const link = made("a", { download: "groups.csv", href: URL.createObjectURL(new Blob([groupsAsCsv()], { type: "text/csv;charset=utf-8" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  host.append(made("button", { type: "button", onclick: save }, "Save the groups as CSV"));
}
