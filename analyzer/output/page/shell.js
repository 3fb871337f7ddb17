// What all parts of the page of `prof page` use: its data, numbers as text, colours, and a canvas that follows its
// size, the resolution and the theme. The parts are joined into one script, in the order of analyzer/CMakeLists.txt.
// The modules of D3 come first (scales, axes, zoom and brush, as `d3`), then theme.js.
// All texts come from the JSON in the element "data" and reach the page as text nodes only.
const data = JSON.parse(document.getElementById("data").textContent);
const text = number => number < 0 || number == null ? "" : data.texts[number];
const KINDS = ["kernel", "copy", "memset", "CUDA graph", "range", "call", "idle", "state of the thread", "host sample"];
const HUES = [
  [130, 42], [210, 60], [190, 50], [150, 45], [30, 62], [268, 40], [0, 0], [95, 30], [340, 40]
];  // hue, saturation by kind
const unitOf = ns => ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["us", 1e3] : ["ns", 1];
function time(ns) {
  const [unit, by] = unitOf(Math.abs(ns));
  return by === 1 ? `${Math.round(ns)} ns` : `${Number((ns / by).toPrecision(5))} ${unit}`;
}
const bytes = n => n >= 2 ** 30 ? `${(n / 2 ** 30).toFixed(2)} GiB` :
    n >= 2 ** 20 ? `${(n / 2 ** 20).toFixed(2)} MiB` :
    n >= 1024 ? `${(n / 1024).toFixed(1)} KiB` :
                `${n} B`;
const grouped = new Intl.NumberFormat("en"), count = n => grouped.format(n);
let light = 72;  // of all colours, by the theme
function color(name, kind) {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  const [hue, saturation] = HUES[kind] || HUES[4];
  return `hsl(${hue + (hash & 63) - 32} ${saturation}% ${light + (hash >> 6 & 7)}%)`;
}
