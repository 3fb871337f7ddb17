// Which piece of the timeline is selected, and what is searched: mouse, keys and the text below the timeline.
function describe(lane, i) {
  const lines = [], kind = run.types[lane.type[i]], name = text(kind[0]), detail = text(kind[1]), m = lane.mergedAt[i];
  if (m >= 0) {
    const [n, sum, , longest] = lane.merged.slice(m, m + 4);
    lines.push(
        `${count(n)} merged: ${time(sum)} in all`, `the longest: ${name}, ${time(longest)}`,
        "zooming does not split them; the tables are exact");
  } else {
    lines.push(lane.kind === 0 ? `idle: ${name}` : name);
    if (lane.kind !== 0) lines.push(KINDS[kind[2]]);
    if (detail) lines.push(lane.kind === 0 ? `by: ${detail}` : detail);
  }
  lines.push(`${m >= 0 ? "from the first to the last" : "duration"}: ${time(lane.end[i] - lane.begin[i])}`);
  lines.push(`start: ${time(lane.begin[i] + run.begin)} after the first record`);
  if (m < 0 && lane.kind === 1 && lane.delays[i] >= 0)
    lines.push(`started ${time(lane.delays[i])} after its launch was entered`);
  lines.push(`on: ${text(lane.group)}, ${text(lane.name)}${lane.level ? `, level ${lane.level + 1}` : ""}`);
  lines.push(`row: ${count(lane.spans)} items, ${time(lane.sum)} in all`);
  return lines;
}
function select(number, piece, visible) {
  const lane = lanes[number];
  selected = {lane: number, piece};
  current = number;
  $("details").replaceChildren(...describe(lane, piece).map(line => make("li", line)));
  if (visible) {
    const width = to - from, middle = (lane.begin[piece] + lane.end[piece]) / 2;
    if (lane.end[piece] < from || lane.begin[piece] > to) show(middle - width / 2, middle + width / 2);
    reveal(lane);
  }
  redraw();
}
function reveal(lane) {
  const view = $("view");
  if (lane.y < view.scrollTop) view.scrollTop = lane.y;
  if (lane.y + lane.height + axis > view.scrollTop + view.clientHeight)
    view.scrollTop = lane.y + lane.height + axis - view.clientHeight + 4;
}
function itemAt(x, y) {
  const at = y - axis + $("view").scrollTop,
        number = lanes.findIndex(lane => at >= lane.y && at < lane.y + lane.height);
  if (number < 0 || y < axis) return null;
  const lane = lanes[number], t = tOf(x), near = 3 * (to - from) / plot();
  if (lane.kind === 7) return {number, piece: -1, t};
  const i = firstAfter(lane, t);
  for (const each of [i, i - 1]) {
    if (each >= 0 && each < lane.count && lane.begin[each] <= t + near && lane.end[each] >= t - near)
      return {number, piece: each};
  }
  return {number, piece: -1};
}
function step(by) {
  const lane = lanes[current];
  if (!lane || !lane.count) return;
  const start = selected && selected.lane === current ? selected.piece + by :
      by > 0                                          ? Math.min(firstAfter(lane, from), lane.count - 1) :
                                                        firstAfter(lane, to) - 1;
  select(current, clamp(start, 0, lane.count - 1), true);
}

// ---- Search: pieces by name, and frames of the flame graph. A merged piece is found by its longest span.
function search() {
  const said = $("found");
  matches = wanted = null;
  matching = [];
  place = -1;
  said.textContent = "";
  try {
    const fits = matcher($("search").value.trim());
    if (fits) {
      wanted = fits;
      matches = new Set();
      run.types.forEach((type, i) => {
        if (fits(text(type[0])) || fits(text(type[1]))) matches.add(i);
      });
      let sum = 0, spans = 0;
      lanes.forEach((lane, number) => {
        for (let i = 0; i < lane.count; ++i) {
          if (!matches.has(lane.type[i])) continue;
          matching.push([number, i]);
          const m = lane.mergedAt[i];
          if (m < 0) {
            sum += lane.end[i] - lane.begin[i];
            ++spans;
          }
        }
      });
      said.textContent = `found ${count(matching.length)}: ${count(spans)} single items, ${time(sum)}` +
          (matching.length > spans ? `, and ${count(matching.length - spans)} merged pieces` : "");
    }
  } catch (error) {
    said.textContent = `wrong expression: ${error.message}`;
  }
  redraw();
  drawFlame();
}
function goTo(by) {
  if (!matching.length) return;
  place = (place + by + matching.length + (place < 0 && by < 0 ? 1 : 0)) % matching.length;
  select(...matching[place], true);
}

function listen() {
  const element = $("picture"), view = $("view");
  const point = event => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  // The wheel zooms, except over the names, where the browser scrolls, and with Shift or sideways, where it moves.
  const isSideways = event => event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const isOnBars = event => point(event)[0] >= names() || event.ctrlKey;
  let grabbed = null;  // by the mouse or a finger: where the view and the transform were
  zoomer.scaleExtent([1, Math.max(1, length / 20)])
      .filter(() => {
        const event = d3.event;
        return event.type === "wheel" ? isOnBars(event) && !isSideways(event) : !event.shiftKey && !event.button;
      })
      .wheelDelta(() => -clamp(d3.event.deltaY, -300, 300) / 280)
      .on("start",
          () => {
            grabbed = {y: d3.event.transform.y, top: view.scrollTop};
          })
      .on("zoom", () => {
        const {transform, sourceEvent} = d3.event;
        xOf = transform.rescaleX(whole);
        [from, to] = xOf.domain();
        if (sourceEvent && sourceEvent.type === "mousemove") view.scrollTop = grabbed.top + grabbed.y - transform.y;
        redraw();
      });
  // Dragging with Shift zooms to the part.
  brush.filter(() => d3.event.shiftKey && !d3.event.button).on("end", () => {
    if (!d3.event.selection) return;
    const [begin, end] = d3.event.selection.map(tOf);
    d3.select("#brush").call(brush.move, null);
    show(begin, end);
  });
  d3.select("#brush").call(brush);
  picture.call(zoomer);
  element.addEventListener("wheel", event => {
    if (!isOnBars(event) || !isSideways(event)) return;
    event.preventDefault();
    move((event.deltaX || event.deltaY) / 1000);
  }, {passive: false});
  element.addEventListener("mousemove", event => {
    const item = itemAt(...point(event));
    element.title =
        item && item.piece >= 0 ? describe(lanes[item.number], item.piece).slice(0, 3).join("\n").slice(0, 300) : "";
  });
  element.addEventListener("click", event => {
    const item = itemAt(...point(event));
    if (item && item.piece >= 0)
      select(item.number, item.piece, false);
    else if (item) {
      current = item.number;
      redraw();
    }
    if (item && item.t !== undefined) describeMemory(lanes[item.number], item.t);
  });
  const keys = {
    "+": () => zoom(2),
    "=": () => zoom(2),
    w: () => zoom(2),
    "-": () => zoom(0.5),
    s: () => zoom(0.5),
    ArrowLeft: () => move(-0.2),
    a: () => move(-0.2),
    ArrowRight: () => move(0.2),
    d: () => move(0.2),
    ArrowUp: () => row(-1),
    ArrowDown: () => row(1),
    n: () => step(1),
    p: () => step(-1),
    "0": () => show(0, length),
    Home: () => show(0, to - from),
    End: () => show(length - (to - from), length),
    Escape: () => {
      $("search").value = "";
      search();
    },
    Enter: () => {
      if (!selected) return;
      const lane = lanes[selected.lane], b = lane.begin[selected.piece], e = lane.end[selected.piece],
            margin = Math.max(20, (e - b) * 0.3);
      show(b - margin, e + margin);
    }
  };
  const row = by => {
    current = clamp(current + by, 0, lanes.length - 1);
    if (lanes[current]) reveal(lanes[current]);
    redraw();
  };
  element.addEventListener("keydown", event => {
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    $("search").focus();
  });
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", event => {
    if (event.key === "Enter") goTo(event.shiftKey ? -1 : 1);
  });
  for (const [id, act] of [
           ["next", () => goTo(1)], ["previous", () => goTo(-1)], ["in", () => zoom(2)], ["out", () => zoom(0.5)],
           ["all", () => show(0, length)]])
    $(id).addEventListener("click", act);
  view.addEventListener("scroll", redraw);
  new ResizeObserver(() => {
    resize();
    drawFlame();
  }).observe(view);
}
function describeMemory(lane, t) {
  let i = lane.times.findLastIndex(each => each <= t);
  $("details").replaceChildren(...[`${text(lane.name)}: ${i < 0 ? "0 B" : bytes(lane.values[i])} in use`,
                                   `at ${time(t + run.begin)}`, `most: ${bytes(lane.most)}`]
                                   .map(line => make("li", line)));
}
