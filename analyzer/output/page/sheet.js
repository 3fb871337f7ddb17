// The script of tables, flame graphs, rooflines and comparisons: rows can be sorted and filtered, and pictures used
// with the keyboard. theme.js comes before it. Everything is on the page without it, except the flame graph.

// The number that a cell begins with, in the smallest unit; null if there is none.
function amount(words) {
  const units = {ns: 1, us: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40};
  const found = words.match(/^([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?) ?([a-zA-Z]*)/);
  return found && Number(found[1].replaceAll(",", "")) * (units[found[2]] || 1);
}
function sortBy(grid, column, cell) {
  const isText = cell.classList.contains("text"), order = cell.getAttribute("aria-sort"),
        down = isText ? order === "ascending" : order !== "descending";
  for (const each of grid.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...grid.tBodies[0].rows].map(row => {
    const words = row.cells[column].textContent;
    return {row, key: isText ? words : amount(words), isEmpty: words === ""};
  });
  rows.sort((a, b) => a.isEmpty - b.isEmpty || (isText ? a.key.localeCompare(b.key) : a.key - b.key) * (down ? -1 : 1));
  grid.tBodies[0].replaceChildren(...rows.map(each => each.row));
}
function listenTable(grid) {
  [...grid.tHead.rows[0].cells].forEach((cell, column) => {
    const button = make("button", cell.textContent);
    button.type = "button";
    button.addEventListener("click", () => sortBy(grid, column, cell));
    cell.replaceChildren(button);
  });
  const rows = grid.tBodies[0].rows, bar = make("div"), filter = make("input", undefined, bar),
        said = make("output", undefined, bar);
  if (rows.length < 2) return;
  bar.className = "bar";
  filter.type = "search";
  filter.placeholder = "filter by text";
  filter.setAttribute("aria-label", "filter the rows");
  filter.addEventListener("input", () => {
    const fits = matcherOf(filter, said);
    if (fits === undefined) return;
    let shown = 0;
    for (const row of rows) {
      row.hidden = fits !== null && ![...row.cells].some(cell => fits(cell.textContent));
      shown += !row.hidden;
    }
    said.textContent = `${shown} of ${rows.length} rows`;
  });
  grid.parentNode.before(bar);
}
document.querySelectorAll(".scroll > table").forEach(listenTable);
document.querySelectorAll("svg").forEach(listenDots);
if ($("steps-canvas")) drawRanks($("steps-canvas"), $("said"), JSON.parse($("steps-data").textContent));
startTheme();
const flames = [...document.querySelectorAll(".flame")].map(flameGraph);
const sections = document.querySelectorAll("section");
if (sections.length > 1) {
  for (const section of sections) make("a", section.id, $("nav")).href = "#" + section.id;
}
document.addEventListener("keydown", event => {
  const search = document.querySelector("input[type=search]");
  if (event.key !== "/" || !search || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  search.focus();
});
