// Draws the flame graph. A frame is as wide as its GPU time.
const flame = data.flame;
let flameRoot = 0, flameSelected = 0, flameBoxes = [];
if (flame) {
  const n = flame.parent.length;
  flame.total = Float64Array.from(flame.value);
  flame.events = Float64Array.from(flame.count);
  flame.children = Array.from({length: n}, () => []);
  for (let i = n - 1; i > 0; --i) {
    flame.total[flame.parent[i]] += flame.total[i];
    flame.events[flame.parent[i]] += flame.events[i];
  }
  for (let i = 1; i < n; ++i) flame.children[flame.parent[i]].push(i);
}
const frameName = i => text(flame.frames[flame.frame[i]][0]);
function drawFlame() {
  if (!flame) return;
  const height = 18, width = $("flame").clientWidth - 2;
  flameBoxes = [];
  const above = [];
  for (let i = flameRoot; i !== 0; i = flame.parent[i]) above.unshift(flame.parent[i]);
  above.forEach((i, level) => flameBoxes.push({i, x: 0, w: width, level}));
  const open = [{i: flameRoot, x: 0, w: width, level: above.length}];
  let deepest = 0;
  while (open.length) {
    const box = open.pop();
    flameBoxes.push(box);
    deepest = Math.max(deepest, box.level);
    let x = box.x;
    for (const child of flame.children[box.i]) {
      const w = box.w * flame.total[child] / flame.total[box.i];
      if (w >= 0.4) open.push({i: child, x, w, level: box.level + 1});
      x += w;
    }
  }
  const p = prepare($("flame-canvas"), width, (deepest + 1) * height + 2), {c} = p;
  for (const box of flameBoxes) {
    const isFound = wanted && box.i !== 0 && wanted(frameName(box.i));
    c.fillStyle = isFound ? p.mark :
        box.i === 0       ? p.line :
                            color(frameName(box.i), [0, 4, 1, 6, 0, 5, 6, 2, 2][flame.frames[flame.frame[box.i]][1]]);
    c.fillRect(box.x, box.level * height, Math.max(0.4, box.w - 0.6), height - 1);
    if (box.w > 30) {
      c.fillStyle = isFound ? p.paper : p.ink;
      c.fillText(fit(c, frameName(box.i), box.w - 6), box.x + 3, box.level * height + height / 2);
    }
    if (box.i === flameSelected) {
      c.strokeStyle = p.mark;
      c.lineWidth = 2;
      c.strokeRect(box.x + 1, box.level * height, Math.max(2, box.w - 2), height - 1);
    }
  }
  const i = flameSelected, amount = v => flame.unit === "nanoseconds" ? time(v) : count(v);
  $("flame-said").textContent = `${frameName(i)}: ${amount(flame.total[i])}, ${
      (100 * flame.total[i] / flame.total[0]).toFixed(2)} % of all, itself ${amount(flame.value[i])}; ${
      count(flame.events[i])} operations`;
}
function listenFlame() {
  const canvas = $("flame-canvas");
  const zoomTo = i => {
    flameRoot = flameSelected = i;
    drawFlame();
  };
  canvas.addEventListener("click", event => {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left,
          level = Math.floor((event.clientY - box.top) / 18);
    const hit = flameBoxes.find(each => each.level === level && x >= each.x && x < each.x + each.w);
    if (hit) zoomTo(hit.i);
  });
  $("whole").addEventListener("click", () => zoomTo(0));
  canvas.addEventListener("keydown", event => {
    const i = flameSelected, siblings = flame.children[flame.parent[i]], at = siblings.indexOf(i);
    const next = {
      ArrowUp: flame.parent[i],
      ArrowDown: flame.children[i][0],
      ArrowLeft: siblings[at - 1],
      ArrowRight: siblings[at + 1],
      Enter: i,
      Escape: 0
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    flameSelected = next;
    if (event.key === "Enter" || event.key === "Escape" || !flameBoxes.some(box => box.i === next)) flameRoot = next;
    drawFlame();
  });
}
