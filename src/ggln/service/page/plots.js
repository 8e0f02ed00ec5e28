// Small charts as SVG: lines, points with bands, and bars. Each can be read with the keyboard: arrows move a cursor,
// and the line below the chart says what is there.

const SPACE = "http://www.w3.org/2000/svg";
const LEAST_WIDTH = 240, HEIGHT = 220, LEFT = 50, RIGHT = 10, TOP = 8, BOTTOM = 24;
const LETTER = 7.4, FEW = 6;
export const STYLES = [
  { colour: "var(--first)", dash: "" },
  { colour: "var(--second)", dash: "7 4" },
  { colour: "var(--third)", dash: "2 3" },
  { colour: "var(--fourth)", dash: "10 3 2 3" },
  { colour: "var(--fifth)", dash: "4 2" },
];

export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

function node(name, attributes, parent) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

function range(values, included) {
  let low = Infinity, high = -Infinity;
  for (const value of [...values, ...included]) {
    if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  }
  if (low > high) return [0, 1];
  if (low === high) return [low - 0.5, high + 0.5];
  const room = 0.06 * (high - low);
  return [included.includes(low) ? low : low - room, included.includes(high) ? high : high + room];
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9 * step; at += step) found.push(Math.abs(at) < 1e-9 * step ? 0 : at);
  return found;
}

export class Chart {
  // kind: "lines", "points", "band" or "bars"; names: of the series.
  constructor(parent, title, kind, names, about) {
    this.kind = kind; this.names = names; this.about = about; this.at = null; this.data = null;
    this.card = document.createElement("section");
    this.card.className = "card";
    const heading = document.createElement("h2");
    heading.textContent = title;
    this.svg = node("svg", { role: "img", tabindex: 0, "aria-label": title });
    this.title = title;
    this.readout = document.createElement("p");
    this.card.append(heading, this.svg, ...(names.length > 1 ? [this.key()] : []), this.readout);
    parent.append(this.card);
    new ResizeObserver(() => this.draw()).observe(this.card);
    this.svg.addEventListener("keydown", (event) => this.move(event));
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => { this.at = null; this.draw(); });
    this.svg.addEventListener("blur", () => { this.at = null; this.draw(); });
  }

  key() {
    const list = document.createElement("div");
    list.className = "key";
    this.names.forEach((name, i) => {
      const item = document.createElement("span"), sample = node("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
      if (this.kind === "bars" && i === 0) node("rect", { x: 6, y: 0, width: 14, height: 10, fill: STYLES[0].colour, rx: 2 }, sample);
      else if (this.kind === "bars") node("line", { x1: 1, x2: 25, y1: 5, y2: 5, stroke: STYLES[1].colour, "stroke-width": 3 }, sample);
      else this.mark(sample, i, [[1, 5], [25, 5]], true);
      item.append(sample, document.createTextNode(name));
      list.append(item);
    });
    return list;
  }

  mark(parent, i, points, sample) {
    const { colour, dash } = STYLES[i % STYLES.length];
    if (this.kind === "points" || this.kind === "band" && i === 1) {
      for (const [x, y] of sample ? [[13, 5]] : points) node("circle", { cx: x, cy: y, r: 3, fill: "none", stroke: colour, "stroke-width": 1.7 }, parent);
      return;
    }
    if (points.length === 1) node("circle", { cx: points[0][0], cy: points[0][1], r: 3, fill: colour }, parent);
    const path = points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    if (path) node("path", { d: path, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash, "stroke-linejoin": "round" }, parent);
  }

  move(event) {
    const count = this.data ? this.data.x.length : 0;
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count };
    if (!(event.key in steps) || !count) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(count - 1, (this.at ?? count - 1) + steps[event.key]));
    this.draw();
  }

  point(event) {
    const count = this.data ? this.data.x.length : 0;
    if (!count) return;
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (this.width - LEFT - RIGHT);
    if (this.kind === "bars") this.at = Math.floor(share * count);
    else {
      const [low, high] = this.span;
      const wanted = low + share * (high - low);
      this.at = this.data.x.reduce((best, x, i) => Math.abs(x - wanted) < Math.abs(this.data.x[best] - wanted) ? i : best, 0);
    }
    this.at = Math.max(0, Math.min(count - 1, this.at));
    this.draw();
  }

  // data: x, series (values or null), and where the kind has them low and high, aim (a line), included (in the range), and
  // whether bars are ordered, so that some of their names can be left out.
  update(data) {
    this.data = data;
    if (this.at !== null && this.at >= data.x.length) this.at = null;
    this.draw();
  }

  draw() {
    this.svg.replaceChildren();
    const data = this.data, WIDTH = this.width = Math.max(this.svg.clientWidth, LEAST_WIDTH);
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    if (!data || !data.x.length) {
      node("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle" }, this.svg).textContent = "nothing yet";
      return;
    }
    const aims = data.aim === undefined ? [] : [data.aim], included = [...aims, ...(data.included || [])];
    const values = [...data.series.flat(), ...(data.low || []), ...(data.high || [])];
    const [low, high] = range(values, this.kind === "bars" ? [0, ...included] : included);
    this.span = [data.x[0], data.x[data.x.length - 1]];
    if (this.span[0] === this.span[1]) this.span = [this.span[0] - 1, this.span[1] + 1];
    const y = (value) => HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    const x = this.kind === "bars"
      ? (i) => LEFT + (i + 0.5) / data.x.length * (WIDTH - LEFT - RIGHT)
      : (i) => LEFT + (data.x[i] - this.span[0]) / (this.span[1] - this.span[0]) * (WIDTH - LEFT - RIGHT);
    for (const tick of ticks(low, high, 5)) {
      node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: "axis" }, this.svg);
      node("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, this.svg).textContent = short(tick);
    }
    this.labels(x);
    if (this.kind === "bars") this.bars(data, x, y);
    else {
      if (data.low) {
        const upper = data.high.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
        const lower = data.low.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`).reverse();
        node("polygon", { points: [...upper, ...lower].join(" "), fill: "var(--band)" }, this.svg);
      }
      data.series.forEach((series, i) => this.mark(this.svg, i,
        series.map((value, n) => [x(n), value]).filter(([, value]) => Number.isFinite(value)).map(([at, value]) => [at, y(value)]), false));
    }
    for (const aim of aims) node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(aim), y2: y(aim), class: "aim" }, this.svg);
    if (this.at !== null) node("line", { x1: x(this.at), x2: x(this.at), y1: TOP, y2: HEIGHT - BOTTOM, class: "cursor" }, this.svg);
    const text = this.describe(this.at ?? data.x.length - 1);
    this.readout.textContent = this.at === null && this.about ? this.about : text;
    this.svg.setAttribute("aria-label", `${this.title}. ${text}`);
  }

  bars(data, x, y) {
    const width = 0.7 * (this.width - LEFT - RIGHT) / data.x.length;
    data.series[0].forEach((value, i) => {
      const top = Math.min(y(0), y(value)), size = Math.abs(y(0) - y(value));
      node("rect", { x: x(i) - width / 2, y: top, width, height: Math.max(size, 1), fill: STYLES[0].colour, rx: 2 }, this.svg);
      const aim = data.series[1] && data.series[1][i];
      if (Number.isFinite(aim)) node("line", { x1: x(i) - width / 2 - 3, x2: x(i) + width / 2 + 3, y1: y(aim), y2: y(aim), stroke: STYLES[1].colour, "stroke-width": 3 }, this.svg);
    });
  }

  labels(x) {
    const names = this.data.x, bars = this.kind === "bars", each = (this.width - LEFT - RIGHT) / names.length;
    const longest = bars ? Math.min(12, Math.max(...names.map((name) => name.length))) : 0;
    const step = names.length <= FEW && !this.data.ordered ? 1 : Math.max(Math.ceil(LETTER * (longest + 1) / each), Math.ceil(names.length / 8));
    let last = -Infinity;
    const spots = bars ? names.map((_, i) => i).filter((i) => i % step === 0) : [0, Math.floor(names.length / 2), names.length - 1];
    for (const i of spots) {
      if (!bars && x(i) - last < 40) continue;
      last = x(i);
      const edge = bars ? "middle" : x(i) < LEFT + 20 ? "start" : x(i) > this.width - 40 ? "end" : "middle";
      const text = typeof names[i] === "string" ? names[i] : short(names[i]);
      const room = bars ? Math.max(4, Math.floor(step * each / LETTER)) : 20;
      const shown = text.length > room ? `${text.slice(0, room - 1)}…` : text;
      const place = bars ? Math.min(x(i), this.width - LETTER * shown.length / 2) : x(i);
      node("text", { x: place, y: HEIGHT - 7, "text-anchor": edge }, this.svg).textContent = shown;
    }
  }

  describe(i) {
    const data = this.data, place = typeof data.x[i] === "string" ? data.x[i] : `${data.unit || "row"} ${short(data.x[i])}`;
    const said = this.names.map((name, n) => `${name} ${short(data.series[n] ? data.series[n][i] : null)}`);
    if (data.low) said.push(`90 % from ${short(data.low[i])} to ${short(data.high[i])}`);
    return `${place}: ${said.join(", ")}`;
  }
}
