// Puts the page together.
themed.push(dark => {
  light = dark ? 34 : 72;
  colors = new Map();
  redraw();
  drawFlame();
});
for (const [key, value] of data.facts) {
  make("dt", text(key), $("facts"));
  make("dd", text(value), $("facts"));
}
for (const message of data.messages) make("li", text(message), $("messages"));
for (const note of run.notes) make("li", text(note), $("notes"));
const coarse = lanes.filter(lane => lane.grain > 0);
if (coarse.length)
  make(
      "li",
      `${count(coarse.length)} rows have merged pieces: what is shorter than ${
          time(Math.max(...coarse.map(
              lane =>
                  Math.min(lane.grain, Math.max(1, Math.floor(length / 4096))))))} may be merged with its neighbours`,
      $("notes"));
if (data.cut < 2000) make("li", `names are cut after ${data.cut} characters`, $("notes"));
make("li", "Click an item, or select a row with ↑ ↓ and an item with N.", $("details"));
$("coverage-line").textContent = text(data.coverage);
$("view").style.maxHeight = total + axis + 18 + "px";
startTheme();
listen();
resize();
draw();
addAdvice(data.tables[0]);
if (flame) {
  $("flame").hidden = false;
  for (const note of flame.notes) make("li", text(note), $("flame-notes"));
  listenFlame();
  drawFlame();
}
if (data.roofline.length) {
  $("roof").hidden = false;
  data.roofline.forEach(addRoofline);
}
if (data.ranks) {
  $("ranks").hidden = false;
  drawRanks($("ranks-canvas"), $("ranks-said"), {...data.ranks, ranks: data.ranks.ranks.map(text)});
}
data.tables.filter(table => table.rows || table.refused).forEach(addTable);
for (const section of document.querySelectorAll("section")) {
  if (section.hidden || section.id === "roof") continue;
  const link = make("a", section.id.replace("table-", ""), $("nav"));
  link.href = "#" + (section.id === "table-roofline" && data.roofline.length ? "roof" : section.id);
}
