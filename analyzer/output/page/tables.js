// Fills the tables: sorted by a click on a column, filtered by a search.
function shown(value, [, , type, decimals]) {
  if (value === null) return "";
  if (type === 0) return text(value);
  if (type === 2 || type === 4) return time(value);
  return type === 3 ? value.toFixed(decimals) : count(value);
}
function addTable(table) {
  const section = make("section", undefined, $("tables"));
  section.id = "table-" + table.name;
  make("h2", `${table.name}: ${text(table.title)}`, section);
  for (const note of table.notes) make("p", text(note), section).className = "soft";
  if (!table.rows) return;
  const bar = make("div", undefined, section), filter = make("input", undefined, bar),
        said = make("output", undefined, bar);
  bar.className = "bar";
  filter.type = "search";
  filter.placeholder = "filter by text";
  filter.setAttribute("aria-label", `filter the rows of ${table.name}`);
  const scroll = make("div", undefined, section), grid = make("table", undefined, scroll),
        head = make("tr", undefined, make("thead", undefined, grid)), body = make("tbody", undefined, grid);
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  let order = null, down = true, most = 100;
  const name = table.columns.findIndex(column => ["name", "range", "finding"].includes(column[0]));
  if (name > 0)
    for (const list of [table.columns, table.cells])
      list.unshift(...list.splice(name, 1));  // what a row is about comes first
  const isLong =
      table.columns.map((column, c) => column[2] === 0 && table.cells[c].some(cell => text(cell).length > 40));
  const style = c => table.columns[c][2] === 0 ? isLong[c] ? "text long" : "text" : "";
  const fill = () => {
    let rows = Array.from({length: table.rows}, (_, i) => i);
    const fits = matcherOf(filter, said);
    if (fits === undefined) return;
    if (fits)
      rows = rows.filter(
          r => table.columns.some(
              (column, c) => column[2] === 0 && table.cells[c][r] !== null && fits(text(table.cells[c][r]))));
    if (order !== null) {
      const cells = table.cells[order], isText = table.columns[order][2] === 0;
      rows.sort(
          (a, b) => (cells[a] === null) - (cells[b] === null) ||
              (isText ? text(cells[a]).localeCompare(text(cells[b])) : cells[a] - cells[b]) * (down ? -1 : 1));
    }
    said.textContent = `${count(rows.length)} of ${count(table.rows)} rows`;
    body.replaceChildren();
    for (const r of rows.slice(0, most)) {
      const line = make("tr", undefined, body);
      table.columns.forEach((column, c) => {
        make("td", shown(table.cells[c][r], column), line).className = style(c);
      });
      if (name >= 0)
        line.addEventListener("dblclick", () => {
          $("search").value = text(table.cells[0][r]);
          search();
          goTo(1);
          $("timeline").scrollIntoView();
        });
    }
    if (rows.length > most) {
      const more =
          make("button", `${count(rows.length - most)} more`, make("td", undefined, make("tr", undefined, body)));
      more.type = "button";
      more.addEventListener("click", () => {
        most += 1000;
        fill();
      });
    }
  };
  table.columns.forEach((column, c) => {
    const cell = make("th", undefined, head), button = make("button", text(column[1]), cell);
    cell.className = style(c);
    button.type = "button";
    button.addEventListener("click", () => {
      down = order === c ? !down : column[2] !== 0;
      order = c;
      for (const each of head.children) each.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      fill();
    });
  });
  filter.addEventListener("input", fill);
  fill();
}
function addAdvice(table) {
  const column = key => table.columns.findIndex(each => each[0] === key), list = $("advice");
  for (let r = 0; r < Math.min(3, table.rows); ++r) {
    const get = key => column(key) < 0 ? "" : shown(table.cells[column(key)][r], table.columns[column(key)]);
    make(
        "li",
        `${get("finding")} — saves at most ${get("saved")}${get("evidence") ? "\n" + get("evidence") : ""}${
            get("action") ? "\n" + get("action") : ""}`,
        list);
  }
  if (table.rows) return;
  list.remove();
  make(
      "p",
      table.columns.length ? "Nothing found that would save half a percent of the wall time." : text(table.notes[0]),
      $("findings"));
}
