// Draws ranks × steps: a row is a rank, a column a step, the colour how much longer the rank's own part of the step is
// than that of the median rank. picture: {ranks: names, first: number of the first step, steps: steps a column,
// columns, median: ns by column, cells: row by row, in permille of the median, -1: no such step}.
function drawRanks(canvas, said, picture) {
  const rows = picture.ranks.length, columns = picture.columns;
  const tall = Math.max(1, Math.floor(640 / rows)), wide = Math.max(1, Math.floor(960 / columns));
  canvas.width = columns * wide;
  canvas.height = rows * tall;
  const context = canvas.getContext("2d");
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const value = picture.cells[row * columns + column];
      const off = Math.max(-1, Math.min(1, (value - 1000) / 300));
      const light = Math.round(245 * (1 - Math.abs(off)));
      context.fillStyle = value < 0 ? "#999" : off >= 0 ? `rgb(245,${light},${light})` : `rgb(${light},${light},245)`;
      context.fillRect(column * wide, row * tall, wide, tall);
    }
  }
  const show = (row, column) => {
    const value = picture.cells[row * columns + column], step = picture.first + column * picture.steps;
    said.textContent = picture.ranks[row] + ", step " + step +
        (picture.steps > 1 ? " to " + (step + picture.steps - 1) : "") + ": " +
        (value < 0 ? "not in the input" :
                     (value / 1000 * picture.median[column] / 1e6).toFixed(3) + " ms, " + (value / 10).toFixed(1) +
                 " % of the median rank");
  };
  canvas.addEventListener("mousemove", event => {
    const box = canvas.getBoundingClientRect();
    show(
        Math.min(rows - 1, Math.floor((event.clientY - box.top) / box.height * rows)),
        Math.min(columns - 1, Math.floor((event.clientX - box.left) / box.width * columns)));
  });
  let at = 0;
  canvas.addEventListener("keydown", event => {
    const move = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (move === undefined) return;
    event.preventDefault();
    at = Math.max(0, Math.min(rows * columns - 1, at + move));
    show(Math.floor(at / columns), at % columns);
  });
}
