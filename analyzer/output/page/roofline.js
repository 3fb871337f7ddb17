// Draws the roofline: logarithmic axes, a dot for each row of the table, names on the five with the most time.
function addRoofline(picture) {
  const W = 900, H = 460, L = 60, R = 20, T = 16, B = 42, slope = picture.bandwidth / 1e3;
  const roofs = picture.roofs.map(([name, peak]) => ({name: text(name), peak}));
  const svg = d3.create("svg").attr("viewBox", `0 0 ${W} ${H}`).attr("width", W);
  const add = (tag, attributes, words) => {
    const element = svg.append(tag).text(words);
    for (const [key, value] of Object.entries(attributes)) element.attr(key, value);
    return element;
  };
  const scale = (values, range) => {
    const [least, most] = d3.extent(values);
    return d3.scaleLog().domain([least, Math.max(most, 2 * least)]).nice().range(range).clamp(true);
  };
  const x = scale([...picture.points.map(p => p[0]), ...roofs.map(r => slope > 0 ? r.peak / slope : 1)], [L, W - R]),
        y = scale([...picture.points.map(p => p[1]), ...roofs.map(r => r.peak)], [H - B, T]);
  add("g", {
    transform: `translate(0,${H - B})`
  }).call(d3.axisBottom(x).ticks(8, "~r").tickSize(T + B - H).tickPadding(9));
  add("g", {transform: `translate(${L},0)`}).call(d3.axisLeft(y).ticks(5, "~r").tickSize(L + R - W));
  add("text", {x: (L + W) / 2, y: H - 6, "text-anchor": "middle"}, "FLOP per byte");
  add("text", {x: 14, y: H / 2, transform: `rotate(-90 14 ${H / 2})`, "text-anchor": "middle"}, "TFLOP/s");
  const [leftmost] = x.domain(), highest = d3.max(roofs, r => r.peak);
  if (slope > 0 && highest > 0) {
    const low = Math.max(leftmost, y.domain()[0] / slope);
    add("line", {class: "roof", x1: x(low), y1: y(low * slope), x2: x(highest / slope), y2: y(highest)});
    add("text", {x: x(low) + 6, y: y(low * slope) - 8}, `${Math.round(picture.bandwidth)} GB/s`);
  }
  for (const {name, peak} of roofs) {
    add("line", {class: "roof", x1: x(slope > 0 ? peak / slope : leftmost), y1: y(peak), x2: W - R, y2: y(peak)});
    add("text", {x: W - R, y: y(peak) - 5, "text-anchor": "end"}, `${name} ${Number(peak.toPrecision(3))} TFLOP/s`);
  }
  const points = [...picture.points].sort((a, b) => b[2] - a[2]),
        hues = {compute: "#c0392b", memory: "#2b7fc4", launch: "#a3860b"};
  const size = d3.scaleSqrt().domain([0, Math.max(1, ...points.map(p => p[2]))]).range([0, 24]);
  svg.selectAll("circle")
      .data(points)
      .join("circle")
      .attr("cx", p => x(p[0]))
      .attr("cy", p => y(p[1]))
      .attr("r", p => Math.max(3, size(p[2])))
      .attr("fill", p => hues[text(p[3])] || "#888")
      .append("title")
      .text(
          p => `${text(p[4])}\n${time(p[2])}, ${Number(p[1].toPrecision(3))} TFLOP/s, ${
              Number(p[0].toPrecision(3))} FLOP/byte, bound by ${text(p[3]) || "unknown"}`);
  const lines = [];  // of names, which move down until they do not cover each other
  points.slice(0, 5).forEach(p => {
    const at = {x: x(p[0]) + 6, y: y(p[1]) - 6};
    while (lines.some(other => Math.abs(other.y - at.y) < 12 && Math.abs(other.x - at.x) < 240)) at.y += 4;
    lines.push(at);
    add("text", at, text(p[4]).slice(0, 40));
  });
  make("h3", text(picture.device), $("roofs"));
  $("roofs").append(svg.node());
  listenDots(svg.node());
  if (picture.dots > picture.points.length)
    make("p", `${count(picture.points.length)} of ${count(picture.dots)} dots are drawn; the table has all`, $("roofs"))
        .className = "soft";
}
