// Draws a flame graph, of one run or of the difference between two. A frame is as wide as its value. The tree is in the
// script element of the section, as columns. The buttons and texts of the section have classes.
function flameGraph(section) {
  const part = name => section.querySelector("." + name), data = JSON.parse(part("data").textContent);
  const isAlone = document.querySelectorAll(".flame").length === 1;
  const kRow = 18, kinds = [
    "native", "inlined", "Python", "folded", "GPU", "call", "no symbol", "forward of", "run by", "line in kernel"
  ];
  const hues = [
    [24, 72], [40, 66], [212, 62], [0, 0], [140, 45], [276, 42], [0, 0], [330, 55], [190, 45], [100, 55]
  ];  // hue, saturation by kind
  let isDark = document.documentElement.classList.contains("dark"), tree = null, zoom = 0, chosen = 0, words = null,
      wrong = "", boxes = [];

  // A tree as it is drawn: totals, depth, and children in order of names so that equal pictures look equal. Callers of
  // leaves are in order of weight.
  function grow(parent, frame, value, before, count, heaviest = false) {
    const n = parent.length, total = Float64Array.from(value), was = Float64Array.from(before),
          events = Float64Array.from(count);
    const depth = new Int32Array(n), kids = Array.from({length: n}, () => []);
    for (let i = n - 1; i > 0; --i) {
      total[parent[i]] += total[i];
      was[parent[i]] += was[i];
      events[parent[i]] += events[i];
    }
    for (let i = 1; i < n; ++i) {
      depth[i] = depth[parent[i]] + 1;
      kids[parent[i]].push(i);
    }
    const weight = i => Math.max(total[i], was[i]), name = i => data.frames[frame[i]][0];
    for (const list of kids) list.sort((a, b) => heaviest && weight(b) - weight(a) || (name(a) < name(b) ? -1 : 1));
    return {parent, frame, value, total, was, events, depth, kids};
  }
  // Leaves become roots: who asked for the leaf, next to the leaf.
  function turned() {
    const parent = [0], frame = [0], value = [0], before = [0], count = [0], known = new Map();
    for (let i = 1; i < data.parent.length; ++i) {
      const was = data.compared ? data.before[i] : 0;
      if (!data.value[i] && !was) continue;
      let at = 0;
      for (let from = i; from !== 0; from = data.parent[from]) {
        const key = at * 4294967296 + data.frame[from];
        let next = known.get(key);
        if (next === undefined) {
          next = parent.length;
          known.set(key, next);
          parent.push(at);
          frame.push(data.frame[from]);
          value.push(0);
          before.push(0);
          count.push(0);
        }
        at = next;
      }
      value[at] += data.value[i];
      before[at] += was;
      count[at] += data.count[i];
    }
    return grow(parent, frame, value, before, count, true);
  }
  const upright = () =>
      grow(data.parent, data.frame, data.value, data.compared ? data.before : data.value.map(() => 0), data.count);

  function number(v) {
    const a = Math.abs(v);
    if (data.unit === "nanoseconds") {
      const [unit, by] = a >= 1e9 ? ["s", 1e9] : a >= 1e6 ? ["ms", 1e6] : a >= 1e3 ? ["us", 1e3] : ["ns", 1];
      return (v / by).toPrecision(4).replace(/\.?0+$/, "") + " " + unit;
    }
    if (data.unit === "bytes") {
      const [unit, by] = a >= 1e9 ? ["GB", 1e9] : a >= 1e6 ? ["MB", 1e6] : a >= 1e3 ? ["kB", 1e3] : ["B", 1];
      return (v / by).toPrecision(4).replace(/\.?0+$/, "") + " " + unit;
    }
    return v.toLocaleString("en");
  }
  const percent = (part, whole) => whole ? (100 * part / whole).toFixed(2) + " %" : "";
  const width_of = i => data.compared ? Math.max(tree.total[i], tree.was[i]) : tree.total[i];
  const matches = i => words !== null && (words(data.frames[tree.frame[i]][0]) || words(data.frames[tree.frame[i]][1]));

  // In a comparison the sum of the children's widths may exceed the parent's: they share what there is.
  function widths(node) {
    const kids = tree.kids[node], sum = kids.reduce((s, k) => s + width_of(k), 0), own = width_of(node);
    const scale = sum > own && sum > 0 ? own / sum : 1;
    return kids.map(k => own > 0 ? width_of(k) * scale / own : 0);
  }

  function color(i) {
    const dark = isDark;
    if (words !== null && matches(i)) return dark ? "hsl(312 80% 42%)" : "hsl(312 90% 72%)";
    if (data.compared) {
      const all = tree.total[0] || 1, was = tree.was[0] || 1;
      const change = tree.total[i] / all - tree.was[i] / was,
            size = Math.max(tree.total[i] / all, tree.was[i] / was) || 1;
      const strength = Math.max(-1, Math.min(1, change / size));
      const s = Math.round(85 * Math.abs(strength)), l = dark ? 34 : Math.round(90 - 22 * Math.abs(strength));
      return `hsl(${strength > 0 ? 4 : 214} ${s}% ${l}%)`;
    }
    const frame = data.frames[tree.frame[i]];
    let hash = 0;
    for (const c of frame[0] + frame[3]) hash = (hash * 31 + c.charCodeAt(0)) | 0;
    const [hue, saturation] = hues[frame[4]];
    return `hsl(${hue + (hash & 15) - 8} ${saturation}% ${(dark ? 30 : 70) + (hash >> 4 & 7)}%)`;
  }

  function draw() {
    const room = part("room"), canvas = part("graph"), up = part("view").value === "up";
    const width = room.clientWidth;
    hide_tip();
    boxes = [];
    const above = [];
    for (let i = zoom; i !== 0; i = tree.parent[i]) above.unshift(tree.parent[i]);
    above.forEach((i, level) => boxes.push({i, x: 0, w: width, level, above: true}));
    const open = [{i: zoom, x: 0, w: width, level: above.length}];
    let deepest = 0;
    while (open.length) {
      const box = open.pop();
      boxes.push(box);
      deepest = Math.max(deepest, box.level);
      let x = box.x;
      const share = widths(box.i);
      tree.kids[box.i].forEach((k, n) => {
        const w = share[n] * box.w;
        if (w >= 0.3) open.push({i: k, x, w, level: box.level + 1});
        x += w;
      });
    }
    const height = (deepest + 1) * kRow + 4;
    const {c, ink, paper, line} = prepare(canvas, width, height);
    for (const box of boxes) {
      box.y = up ? height - (box.level + 1) * kRow : box.level * kRow;
      c.globalAlpha = box.above ? 0.55 : 1;
      c.fillStyle = box.i === 0 ? line : color(box.i);
      c.fillRect(box.x, box.y, Math.max(box.w - 0.6, 0.3), kRow - 1);
      if (box.i === chosen && chosen !== zoom) {
        c.strokeStyle = getComputedStyle(document.body).color;
        c.strokeRect(box.x + 1, box.y + 1, Math.max(box.w - 3, 1), kRow - 3);
      }
      if (box.w > 26) {
        c.fillStyle = ink;
        c.fillText(fit(c, label(box.i), box.w - 8), box.x + 4, box.y + kRow / 2);
      }
    }
    c.globalAlpha = 1;
    if (up) room.scrollTop = height;
    say();
  }
  function label(i) {
    if (i === 0) return "all";
    const f = data.frames[tree.frame[i]];
    return f[2] && f[1] ? `${f[0]} (${f[1].split("/").pop()}:${f[2]})` : f[0];
  }
  function about(i) {
    const all = tree.total[0], parts = [`${number(tree.total[i])}, ${percent(tree.total[i], all)} of all`];
    if (zoom !== 0) parts.push(`${percent(tree.total[i], tree.total[zoom])} of what is shown`);
    if (tree.value[i] && tree.kids[i].length) parts.push(`itself ${number(tree.value[i])}`);
    if (tree.events[i]) parts.push(`${tree.events[i].toLocaleString("en")} events`);
    if (data.compared) {
      const change = tree.total[i] - tree.was[i];
      parts.push(`before ${number(tree.was[i])} (${change >= 0 ? "+" : ""}${number(change)})`);
    }
    return parts.join("; ");
  }
  function places(i) {  // file and line, module, kind
    const f = data.frames[tree.frame[i]];
    return i === 0 ? [] : [f[1] ? f[1] + (f[2] ? ":" + f[2] : "") : "", f[3], kinds[f[4]]].filter(x => x);
  }
  function say() {
    let text = `${data.metric}: ${label(zoom)}: ${about(zoom)}`;
    if (words !== null) {  // nodes inside a node that matches count once
      let found = 0, nodes = 0;
      const inside = new Uint8Array(tree.parent.length);
      for (let i = 1; i < tree.parent.length; ++i) {
        inside[i] = inside[tree.parent[i]];
        if (!matches(i)) continue;
        ++nodes;
        if (!inside[i]) found += tree.total[i];
        inside[i] = 1;
      }
      text += ` \u2014 found in ${nodes} nodes: ${number(found)}, ${percent(found, tree.total[0])} of all`;
    }
    if (chosen !== zoom) text += ` \u2014 selected: ${label(chosen)}: ${about(chosen)}`;
    if (wrong) text += ` \u2014 wrong expression: ${wrong}`;
    part("said").textContent = text;
    part("selected")
        .replaceChildren(
            ...[label(chosen), ...places(chosen), ...about(chosen).split("; ")].map(line => make("li", line)));
  }

  function at(event) {
    const box = part("graph").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    return boxes.find(b => y >= b.y && y < b.y + kRow && x >= b.x && x < b.x + b.w);
  }
  function remember() {
    if (location.protocol === "about:" || !isAlone) return;  // a frame of another page has no address
    const state = new URLSearchParams();
    if (zoom) state.set("zoom", zoom);
    if (part("search").value) state.set("search", part("search").value);
    if (part("view").value !== "down") state.set("view", part("view").value);
    history.replaceState(null, "", "#" + state);
  }
  function set_zoom(i) {
    zoom = chosen = i;
    remember();
    draw();
  }
  function set_words() {
    wrong = "";
    try {
      words = matcher(part("search").value);
    } catch (error) {
      words = null;
      wrong = error.message;
    }
    remember();
    draw();
  }
  function set_view() {
    tree = part("view").value === "leaf" ? turned() : upright();
    zoom = chosen = 0;
  }

  part("graph").addEventListener("keydown", e => {
    const siblings = tree.kids[tree.parent[chosen]], at = siblings.indexOf(chosen), inner = tree.kids[chosen][0],
          [above, below] = part("view").value === "up" ? [inner, tree.parent[chosen]] : [tree.parent[chosen], inner];
    const next = {
      ArrowUp: above,
      ArrowDown: below,
      ArrowLeft: siblings[at - 1],
      ArrowRight: siblings[at + 1],
      Enter: chosen
    }[e.key];
    if (next === undefined) return;
    e.preventDefault();
    chosen = next;
    if (e.key === "Enter" || !boxes.some(b => b.i === next))
      set_zoom(next);
    else
      draw();
  });
  part("graph").addEventListener("click", e => {
    const b = at(e);
    if (b) set_zoom(b.i);
  });
  part("graph").addEventListener("mousemove", e => {
    const b = at(e), tip = part("tip");
    tip.style.display = b ? "block" : "none";
    part("graph").style.cursor = b ? "pointer" : "default";
    if (!b) return;
    const where = places(b.i).join(" \u00b7 ");
    tip.replaceChildren(
        Object.assign(document.createElement("b"), {textContent: b.i === 0 ? "all" : data.frames[tree.frame[b.i]][0]}),
        Object.assign(document.createElement("span"), {textContent: where}), document.createElement("br"), about(b.i));
    tip.style.left = Math.min(e.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top =
        (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 8 : e.clientY + 18) + "px";
  });
  const hide_tip = () => {
    part("tip").style.display = "none";
  };
  part("graph").addEventListener("mouseleave", hide_tip);
  part("room").addEventListener("scroll", hide_tip);
  part("search").addEventListener("input", set_words);
  part("view").addEventListener("change", () => {
    set_view();
    remember();
    draw();
  });
  part("reset").addEventListener("click", () => {
    part("search").value = "";
    words = null;
    wrong = "";
    set_zoom(0);
  });
  section.addEventListener("keydown", e => {
    if (e.key === "Escape") part("reset").click();
  });
  addEventListener("resize", draw);
  themed.push(dark => {
    isDark = dark;
    draw();
  });
  const key = (hue, saturation, words) => {
    make("i", undefined, part("legend")).style.background = `hsl(${hue} ${saturation}% 66%)`;
    part("legend").append(words);
  };
  if (data.compared) {
    key(4, 85, "larger share than before");
    key(214, 85, "smaller");
  } else {
    for (const kind of [...new Set(data.frames.slice(1).map(f => f[4]))].sort()) key(...hues[kind], kinds[kind]);
  }
  const state = new URLSearchParams(isAlone ? location.hash.slice(1) : "");
  if (state.has("view")) part("view").value = state.get("view");
  set_view();
  const zoomed = Number(state.get("zoom"));
  if (zoomed > 0 && zoomed < tree.parent.length) zoom = chosen = zoomed;
  part("search").value = state.get("search") || "";
  set_words();
  return {tree: () => tree, widthOf: width_of};
}
