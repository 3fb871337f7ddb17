// What every HTML file that prof writes uses: elements, searches, texts cut to a width, the theme, dots that can be
// selected, and canvases. It is part of both scripts, that of `prof page` and that of tables, flame graphs, rooflines
// and comparisons.
const $ = id => document.getElementById(id);
const make = (tag, content, parent) => {
  const element = document.createElement(tag);
  if (content !== undefined) element.textContent = content;
  if (parent) parent.append(element);
  return element;
};
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
// A search for a part of a name, or /a regular expression/. Returns null for none; throws for a wrong expression.
function matcher(words) {
  const given = words.match(/^\/(.+)\/$/);
  if (!words) return null;
  if (given) return (expression => name => expression.test(name))(new RegExp(given[1], "i"));
  return (part => name => name.toLowerCase().includes(part))(words.toLowerCase());
}
// That of a field. A wrong expression is reported in `said`; the result is then undefined.
function matcherOf(field, said) {
  try {
    return matcher(field.value.trim());
  } catch (error) {
    said.textContent = `wrong expression: ${error.message}`;
  }
}
const letters = new Map();
function fit(c, words, width) {  // cut at its end
  let sum = 0, fits = 0;
  for (let n = 0; n < words.length; ++n) {
    if (sum + 10 <= width) fits = n;
    if (!letters.has(words[n])) letters.set(words[n], c.measureText(words[n]).width);
    sum += letters.get(words[n]);
    if (sum > width) return fits > 1 ? words.slice(0, fits) + "…" : "";
  }
  return words;
}

// ---- The theme is that of the system until the button is used.
const themed = [];  // what draws with colours of the theme; each is called with whether it is dark
function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "light" : "dark";
  $("theme").setAttribute("aria-label", dark ? "light colours" : "dark colours");
  for (const draw of themed) draw(dark);
}
function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let isChosen = false;
  system.addEventListener("change", () => {
    if (!isChosen) setTheme(system.matches);
  });
  $("theme").addEventListener("click", () => {
    isChosen = true;
    setTheme(!document.documentElement.classList.contains("dark"));
  });
  setTheme(system.matches);
}

// ---- Dots of a picture, the one with the most time first: a click or an arrow key selects one; a list describes it.
function listenDots(svg) {
  const dots = [...svg.querySelectorAll("circle")], list = make("ul", undefined, svg.parentNode);
  if (!dots.length) return list.remove();
  let at = -1;
  const select = next => {
    if (dots[at]) dots[at].classList.remove("selected");
    at = clamp(next, 0, dots.length - 1);
    dots[at].classList.add("selected");
    list.replaceChildren(...dots[at].querySelector("title").textContent.split("\n").map(line => make("li", line)));
  };
  svg.after(list);
  list.className = "dot";
  list.setAttribute("aria-live", "polite");
  make("li", "A click on a dot, or the arrow keys, select it.", list);
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-label", "roofline; arrow keys select a dot");
  svg.addEventListener("keydown", event => {
    const by = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    select(at + by);
  });
  dots.forEach((dot, i) => dot.addEventListener("click", () => select(i)));
}

// ---- Canvas that follows its size, the resolution and the theme.
function prepare(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  const style = getComputedStyle(document.documentElement);
  const tone = name => style.getPropertyValue(name).trim();
  return {
    c,
    paper: tone("--paper"),
    panel: tone("--panel"),
    ink: tone("--ink"),
    soft: tone("--soft"),
    line: tone("--line"),
    mark: tone("--mark")
  };
}
