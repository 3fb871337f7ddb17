// Draws the roofline: logarithmic axes, a dot for each row of the table, names on the five with the most time.
function addRoofline(picture) {
  const W = 900, H = 460, L = 60, R = 20, T = 16, B = 42, space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const add = (tag, attributes, words) => {
    const element = document.createElementNS(space, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (words !== undefined) element.textContent = words;
    svg.append(element);
    return element;
  };
  const roofs = picture.roofs.map(([name, peak]) => ({name: text(name), peak}));
  const xs =
            [
              ...picture.points.map(p => p[0]),
              ...roofs.map(r => picture.bandwidth > 0 ? r.peak / picture.bandwidth * 1e3 : 1)
            ],
        ys = [...picture.points.map(p => p[1]), ...roofs.map(r => r.peak)];
  const scale = (values, a, b) => {
    const first = Math.floor(Math.log10(Math.min(...values))),
          last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
    return {first, last, at: v => a + clamp((Math.log10(v) - first) / (last - first), 0, 1) * (b - a)};
  };
  const x = scale(xs, L, W - R), y = scale(ys, H - B, T);
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("width", W);
  for (let e = x.first; e <= x.last; ++e) {
    add("line", {class: "grid", x1: x.at(10 ** e), x2: x.at(10 ** e), y1: T, y2: H - B});
    add("text", {x: x.at(10 ** e), y: H - B + 16, "text-anchor": "middle"}, String(10 ** e));
  }
  for (let e = y.first; e <= y.last; ++e) {
    add("line", {class: "grid", x1: L, x2: W - R, y1: y.at(10 ** e), y2: y.at(10 ** e)});
    add("text", {x: L - 6, y: y.at(10 ** e) + 4, "text-anchor": "end"}, String(Number((10 ** e).toPrecision(1))));
  }
  add("text", {x: (L + W) / 2, y: H - 6, "text-anchor": "middle"}, "FLOP per byte");
  add("text", {x: 14, y: H / 2, transform: `rotate(-90 14 ${H / 2})`, "text-anchor": "middle"}, "TFLOP/s");
  const slope = picture.bandwidth / 1e3, highest = Math.max(0, ...roofs.map(r => r.peak));
  if (slope > 0 && highest > 0) {
    const low = Math.max(10 ** x.first, 10 ** y.first / slope);
    add("line", {class: "roof", x1: x.at(low), y1: y.at(low * slope), x2: x.at(highest / slope), y2: y.at(highest)});
    add("text", {x: x.at(low) + 6, y: y.at(low * slope) - 8}, `${Math.round(picture.bandwidth)} GB/s`);
  }
  for (const roof of roofs) {
    add("line", {
      class: "roof",
      x1: x.at(slope > 0 ? roof.peak / slope : 10 ** x.first),
      y1: y.at(roof.peak),
      x2: W - R,
      y2: y.at(roof.peak)
    });
    add("text", {x: W - R, y: y.at(roof.peak) - 5, "text-anchor": "end"},
        `${roof.name} ${Number(roof.peak.toPrecision(3))} TFLOP/s`);
  }
  const longest = Math.max(1, ...picture.points.map(p => p[2])),
        points = [...picture.points].sort((a, b) => b[2] - a[2]);
  const hues = {compute: "#c0392b", memory: "#2b7fc4", launch: "#a3860b"};
  points.forEach(p => {
    const dot = add("circle", {
      cx: x.at(p[0]),
      cy: y.at(p[1]),
      r: Math.max(3, 24 * Math.sqrt(p[2] / longest)),
      fill: hues[text(p[3])] || "#888"
    });
    const title = document.createElementNS(space, "title");
    title.textContent = `${text(p[4])}\n${time(p[2])}, ${Number(p[1].toPrecision(3))} TFLOP/s, ${
        Number(p[0].toPrecision(3))} FLOP/byte, bound by ${text(p[3]) || "unknown"}`;
    dot.append(title);
  });
  const lines = [];  // of names, which move down until they do not cover each other
  points.slice(0, 5).forEach(p => {
    const at = {x: x.at(p[0]) + 6, y: y.at(p[1]) - 6};
    while (lines.some(other => Math.abs(other.y - at.y) < 12 && Math.abs(other.x - at.x) < 240)) at.y += 4;
    lines.push(at);
    add("text", at, text(p[4]).slice(0, 40));
  });
  make("h3", text(picture.device), $("roofs"));
  $("roofs").append(svg);
  if (picture.dots > picture.points.length)
    make("p", `${count(picture.points.length)} of ${count(picture.dots)} dots are drawn; the table has all`, $("roofs"))
        .className = "soft";
}
