// Draws the timeline. Times are nanoseconds since the start of the run.
const run = data.timeline, length = run.length;
const lanes = run.lanes.map(lane => {
  if (lane.kind === 7) {
    let at = 0;
    const times = [], values = [];
    for (let i = 0; i < lane.steps.length; i += 2) {
      times.push(at = lane.steps[i]);
      values.push(lane.steps[i + 1]);
    }
    return {...lane, times, values, most: Math.max(1, ...values), count: 0, height: 44};
  }
  const n = lane.pieces.length / 3, begin = new Float64Array(n), end = new Float64Array(n), type = new Int32Array(n),
        merged = new Int32Array(n).fill(-1);
  for (let i = 0, at = 0, m = 0; i < n; ++i) {
    begin[i] = at += lane.pieces[3 * i];
    end[i] = at + lane.pieces[3 * i + 1];
    type[i] = lane.pieces[3 * i + 2];
    if (type[i] < 0) {  // of a merged piece: the type of its longest span
      merged[i] = m;
      type[i] = lane.merged[m + 2];
      m += 4;
    }
  }
  return {...lane, begin, end, type, mergedAt: merged, count: n, height: lane.kind === 0 ? 14 : 18};
});
const axis = 22;
let from = 0, to = length, selected = null, current = 0, wanted = null, matches = null, matching = [], place = -1,
    colors = new Map(), total = 0, drawing = 0;
// Rows from the top: a group has a line of its own, and the name of a lane is beside its first level.
const groups = [];
lanes.forEach((lane, i) => {
  if (i === 0 || lanes[i - 1].group !== lane.group) {
    groups.push({y: total, name: text(lane.group)});
    total += 20;
  }
  lane.y = total;
  total += lane.height;
});
let viewWidth = 0;  // kept, because reading it may cost a layout of the page
const names = () => Math.min(190, Math.round(viewWidth * 0.3));
const plot = () => Math.max(50, viewWidth - names());
// The whole run and its visible part, in pixels. The part is the state of `zoomer`, whose events set it.
const whole = d3.scaleLinear().domain([0, length]);
let xOf = whole;
const tOf = x => xOf.invert(x);
const zoomer = d3.zoom().clickDistance(4).duration(0), brush = d3.brushX(), picture = d3.select("#picture");
function firstAfter(lane, t) {  // the first piece that ends after the time
  let low = 0, high = lane.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] <= t && lane.end[middle] < length)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
function pieceColor(type) {
  if (!colors.has(type)) colors.set(type, color(text(run.types[type][0]), run.types[type][2]));
  return colors.get(type);
}
const busy = (lane, i) => lane.mergedAt[i] < 0 ?
    1 :
    clamp(lane.merged[lane.mergedAt[i] + 1] / Math.max(1, lane.end[i] - lane.begin[i]), 0, 1);

function drawLane(p, lane, y, number) {
  const {c} = p, left = names(), right = left + plot(), base = y + lane.height - 1;
  if (lane.kind === 7) {
    c.fillStyle = color("memory", 1);
    c.beginPath();
    c.moveTo(left, base);
    let height = 0;
    for (let i = 0; i < lane.times.length; ++i) {
      const x = clamp(xOf(lane.times[i]), left, right);
      c.lineTo(x, base - height);
      height = lane.values[i] / lane.most * (lane.height - 4);
      c.lineTo(x, base - height);
    }
    c.lineTo(right, base - height);
    c.lineTo(right, base);
    c.fill();
    return;
  }
  let drawn = -1;  // what is less than half a pixel after the last piece is below it
  for (let i = firstAfter(lane, from); i < lane.count && lane.begin[i] <= to; ++i) {
    const x = Math.max(left, xOf(lane.begin[i])), end = Math.min(right, xOf(lane.end[i])), width = Math.max(1, end - x);
    const isFound = matches && matches.has(lane.type[i]);
    if (x + width < drawn + 0.5 && !isFound) continue;
    drawn = x + width;
    c.globalAlpha = (matches && !isFound ? 0.25 : 1) * (0.35 + 0.65 * busy(lane, i));
    c.fillStyle = isFound ? p.mark : pieceColor(lane.type[i]);
    c.fillRect(x, y + 1, width > 3 ? width - 0.5 : width, lane.height - 2);
    c.globalAlpha = 1;
    if (width > 34 && lane.kind !== 0) {
      c.fillStyle = isFound ? p.paper : p.ink;
      const label =
          lane.mergedAt[i] < 0 ? text(run.types[lane.type[i]][0]) : `${count(lane.merged[lane.mergedAt[i]])} merged`;
      c.fillText(fit(c, label, width - 6), x + 3, y + lane.height / 2);
    }
  }
  if (selected && selected.lane === number) {
    const i = selected.piece, x = xOf(lane.begin[i]), end = xOf(lane.end[i]);
    c.strokeStyle = p.mark;
    c.lineWidth = 2;
    c.strokeRect(
        clamp(x, left, right), y + 1, Math.max(2, clamp(end, left, right) - clamp(x, left, right)), lane.height - 2);
  }
}
function draw() {
  drawing = 0;
  const view = $("view"), width = viewWidth, height = Math.max(80, Math.min(view.clientHeight, total + axis));
  const p = prepare($("canvas"), width, height), {c} = p, left = names(), top = view.scrollTop;
  c.fillStyle = p.paper;
  c.fillRect(0, 0, width, height);
  for (const group of groups) {
    const y = axis + group.y - top;
    if (y < -20 || y > height) continue;
    c.fillStyle = p.panel;
    c.fillRect(0, y, width, 20);
    c.fillStyle = p.ink;
    c.fillText(fit(c, group.name, width - 12), 6, y + 11);
  }
  lanes.forEach((lane, i) => {
    const y = axis + lane.y - top;
    if (y + lane.height < axis || y > height) return;
    if (i === current) {
      c.fillStyle = p.panel;
      c.fillRect(0, y, width, lane.height);
    }
    drawLane(p, lane, y, i);
    c.fillStyle = i === current ? p.ink : p.soft;
    if (lane.level === 0)
      c.fillText(fit(c, text(lane.name), left - 12), 8, y + (lane.kind === 7 ? 13 : lane.height / 2));
    if (lane.kind === 7) c.fillText(fit(c, `at most ${bytes(lane.most)}`, left - 12), 8, y + 31);
  });
  c.fillStyle = p.paper;
  c.fillRect(0, 0, width, axis);
  const ticks = Math.max(2, plot() / 110), [unit, by] = unitOf(to),
        digits = d3.precisionFixed(d3.tickStep(from, to, ticks) / by);
  const label = t => xOf(t) > width - 30 ? "" : `${(t / by).toFixed(digits)} ${unit}`;  // else it is cut
  d3.select("#axis").call(d3.axisTop(xOf).ticks(ticks).tickFormat(label).tickSize(axis - height));
  if (!document.documentElement.dataset.drawn) document.documentElement.dataset.drawn = Math.round(performance.now());
}
const redraw = () => {
  if (!drawing) drawing = requestAnimationFrame(draw);
};
function show(begin, end) {
  const width = clamp(end - begin, Math.min(20, length), length), start = clamp(begin, 0, length - width),
        k = length / width;
  picture.call(zoomer.transform, d3.zoomIdentity.translate(names() - k * whole(start), 0).scale(k));
}
const zoom = by => picture.call(zoomer.scaleBy, by);
const move = by => show(from + by * (to - from), to + by * (to - from));
function resize() {
  viewWidth = $("view").clientWidth;
  $("tall").style.height = total + axis + "px";
  const ends = [names(), names() + plot()];
  whole.range(ends);
  zoomer.extent(ends.map(x => [x, 0])).translateExtent([[ends[0], -Infinity], [ends[1], Infinity]]);
  d3.select("#brush").call(brush.extent([[ends[0], axis], [ends[1], Math.max(80, total + axis)]]));
  show(from, to);
}
