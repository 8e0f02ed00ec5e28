// The page: it asks which models there are, follows the one that is chosen, and draws what comes.

import { Chart, short } from "./plots.js";

const at = (id) => document.getElementById(id);
const tokenKey = "ggln-token";
let following = null, chart = {}, shown = null, last = null, drifts = [];

function headers() {
  const token = sessionStorage.getItem(tokenKey);
  return token ? { authorization: `Bearer ${token}` } : {};
}

function say(state, text) {
  at("state").dataset.state = state;
  if (at("state").textContent !== text) at("state").textContent = text;
}

async function get(path, signal) {
  const response = await fetch(path, { headers: headers(), signal });
  if (response.status === 401) { at("access").hidden = false; throw new Error("a token is needed"); }
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  at("access").hidden = true;
  return response;
}

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// Which models there are ------------------------------------------------------------------------------------------

async function watchModels() {
  for (;;) {
    try {
      const { models } = await (await get("v1/models")).json();
      const names = models.map((model) => model.name);
      at("empty").hidden = names.length > 0;
      const known = [...at("models").options].map((option) => option.value);
      if (names.join("\n") !== known.join("\n")) {
        const chosen = at("models").value || decodeURIComponent(location.hash.slice(1));
        at("models").replaceChildren(...names.map((name) => new Option(name, name)));
        if (names.includes(chosen)) at("models").value = chosen;
      }
      if (names.length && at("models").value !== shown) follow(at("models").value);
      if (!names.length) say("live", "connected");
    } catch (error) {
      say("waiting", error.message.startsWith("a token") ? error.message : "looking for the service");
    }
    await pause(3);
  }
}

// Following one of them -------------------------------------------------------------------------------------------

function follow(name) {
  if (following) following.abort();
  following = new AbortController();
  shown = name; last = null; drifts = [];
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  at("charts").replaceChildren(); at("tiles").replaceChildren(); at("policies").hidden = at("hint").hidden = true; chart = {};
  read(name, following.signal);
  document.title = `ggln: ${name}`;
}

async function read(name, signal) {
  const path = `v1/models/${encodeURIComponent(name)}`;
  for (;;) {
    try {
      const response = await get(`${path}/events`, signal);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const line = text.slice(0, end).split("\n").find((part) => part.startsWith("data: "));
          text = text.slice(end + 2);
          if (line) show(JSON.parse(line.slice(6)), path);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
    }
    say("waiting", "looking for the service");
    await pause(1);
    if (signal.aborted) return;
  }
}

// Drawing ---------------------------------------------------------------------------------------------------------

function tiles(values) {
  const list = at("tiles");
  for (const [name, value] of values) {
    const id = `tile-${name.replace(/\W+/g, "-")}`;
    let own = document.getElementById(id);
    if (!own) {
      own = document.createElement("div");
      const term = document.createElement("dt");
      term.textContent = name;
      own.append(term, Object.assign(document.createElement("dd"), { id }));
      list.append(own);
      own = document.getElementById(id);
    }
    if (own.textContent !== value) own.textContent = value;
  }
}

function draw(id, title, kind, names, data, about) {
  if (!chart[id]) chart[id] = new Chart(at("charts"), title, kind, names, about);
  chart[id].about = about;
  chart[id].update(data);
}

function speed(figures) {
  const before = last;
  last = figures;
  if (!before || figures.time <= before.time) return "–";
  return short(Math.max(0, (figures.rows - before.rows) / (figures.time - before.time)));
}

function show(figures, path) {
  say("live", figures.watches ? `live, watches ${figures.watches}` : "live");
  at("error").hidden = !figures.error;
  at("error").textContent = figures.error ? `This model cannot learn on: ${figures.error}` : "";
  tiles([["rows", short(figures.rows)], ["rows per second", speed(figures)], ["waiting for truth", short(figures.pending)]]);
  at("hint").hidden = figures.rows > 0;
  const acting = path.replace(/[^/]*$/, encodeURIComponent(figures.watches || figures.name)); // shadows do not act themselves
  at("hint-call").textContent = `POST /${acting}/${figures.kind === "bandit" ? "decide" : "learn"}`;
  if (!figures.rows) return;
  ({ regressor: showRegressor, classifier: showClassifier, bandit: showBandit })[figures.kind](figures, path);
  if (figures.importance) {
    const sorted = Object.entries(figures.importance).sort((one, other) => other[1] - one[1]).slice(0, 12);
    draw("importance", "Which features count", "bars", ["moves predictions by"],
      { x: sorted.map(([name]) => name), series: [sorted.map(([, value]) => value)] },
      "how far predictions move when a feature is what it is on average");
  }
}

// Points of a curve joined until each is the mean of enough rows to say something.
function smooth(curve) {
  const total = curve.length ? curve[curve.length - 1][0] : 0, least = Math.max(Math.min(20, total / 8), total / 60);
  const found = [];
  let sums = null, count = 0, before = 0;
  for (const [rows, ...means] of curve) {
    const own = rows - before;
    before = rows;
    sums = sums ? sums.map((sum, i) => sum + own * means[i]) : means.map((mean) => own * mean);
    count += own;
    if (count >= least || rows === total) {
      found.push([rows, ...sums.map((sum) => sum / count)]);
      sums = null; count = 0;
    }
  }
  return found;
}

const column = (rows, i) => rows.map((row) => row[i]);

function showRegressor(figures) {
  const { scores, recent, drift } = figures, curve = smooth(figures.curve), rows = column(curve, 0);
  tiles([["RMSE", short(scores.rmse)], ["NLL in nats", short(scores.nll)],
    ["inside 90 %", scores.coverage_90 === null ? "–" : `${(100 * scores.coverage_90).toFixed(1)} %`]]);
  draw("recent", "Last predictions and truths", "band", ["predicted", "truth"], {
    x: column(recent, 0), series: [column(recent, 2), column(recent, 1)], low: column(recent, 4), high: column(recent, 5), unit: "event",
  }, "the band should hold nine of ten truths");
  draw("rmse", "Error before learning", "lines", ["RMSE"],
    { x: rows, series: [curve.map((point) => Math.sqrt(point[1]))], included: [0] }, "by rows, each predicted before it was learnt");
  draw("nll", "Negative log-likelihood before learning", "lines", ["NLL"], { x: rows, series: [column(curve, 2)] }, "less is better");
  draw("coverage", "Truths inside the 90 % interval", "lines", ["share"],
    { x: rows, series: [column(curve, 3)], aim: 0.9, included: [1] }, "dashed: 90 %");
  const total = figures.calibration.reduce((sum, count) => sum + count, 0);
  draw("calibration", "Calibration: where truths fall", "bars", ["share of truths"], {
    x: figures.calibration.map((_, i) => `${10 * i}–${10 * i + 10} %`), series: [figures.calibration.map((count) => total ? count / total : 0)], aim: 0.1, ordered: true,
  }, "each tenth of the predicted distribution should hold a tenth of the truths");
  if (drift) {
    tiles([["last change seen", drift.changed_at_row ? `row ${short(drift.changed_at_row)}` : "none"],
      ["learners kept", short(drift.learners + drift.former)]]);
    const seen = drifts[drifts.length - 1];
    if (!seen || seen[0] < figures.rows) drifts.push([figures.rows, drift.forgetting_share]);
    if (drifts.length > 300) drifts.shift();
    draw("drift", "Drift: how much is left to experts that forget", "lines", ["share"],
      { x: column(drifts, 0), series: [column(drifts, 1)], included: [0, 1] }, "since this page is open; near 0 as long as nothing changes");
  }
}

function showClassifier(figures) {
  const { scores, recent, labels } = figures, curve = smooth(figures.curve), rows = column(curve, 0);
  tiles([["accuracy", scores.accuracy === null ? "–" : `${(100 * scores.accuracy).toFixed(1)} %`], ["log loss", short(scores.nll)], ["classes", short(labels.length)]]);
  draw("recent", "Last events", "band", ["probability of the likeliest class", "probability of the truth"],
    { x: column(recent, 0), series: [column(recent, 4), column(recent, 2)], included: [0, 1], unit: "event" }, "a circle on the line: the likeliest class was right");
  draw("accuracy", "Accuracy before learning", "lines", ["share right"], { x: rows, series: [column(curve, 2)], included: [0, 1] }, "by rows, each predicted before it was learnt");
  draw("nll", "Log loss before learning", "lines", ["log loss"], { x: rows, series: [column(curve, 1)], included: [0] }, "less is better");
  const bins = figures.calibration.map(([count, right], i) => ({ name: `${10 * i}–${10 * i + 10} %`, share: count ? right / count : null, middle: 0.1 * i + 0.05, count }))
    .filter((bin) => bin.count);
  draw("calibration", "Calibration", "bars", ["share right", "claimed"],
    { x: bins.map((bin) => bin.name), series: [bins.map((bin) => bin.share), bins.map((bin) => bin.middle)], included: [1], ordered: true }, "bars should end at the lines");
}

function showBandit(figures, path) {
  const { scores, recent, labels } = figures, curve = smooth(figures.curve), rows = column(curve, 0), shownArms = labels.slice(0, 5);
  tiles([["mean reward", short(scores.reward)], ["if played evenly", short(scores.uniform_reward)], ["arms", short(labels.length)]]);
  draw("reward", "Reward against arms played evenly", "lines", [figures.watches ? `the policy of ${figures.watches}` : "this policy", "evenly (estimated)"],
    { x: rows, series: [column(curve, 1), column(curve, 2)] }, "mean reward per decision, by decisions");
  draw("arms", "Shares of arms", "lines", shownArms, { x: rows, series: shownArms.map((_, i) => column(curve, 3 + i)), included: [0, 1] },
    labels.length > 5 ? `the first five of ${labels.length} arms` : "share of decisions, by decisions");
  draw("played", "Decisions so far", "bars", ["decisions"], { x: Object.keys(figures.arms), series: [Object.values(figures.arms)] }, "by arm");
  draw("propensity", "Propensities of the last decisions", "points", ["propensity"],
    { x: column(recent, 0), series: [column(recent, 2)], included: [0, 1], unit: "event" }, "the probability with which the arm was played: near 1 there is nothing left to try");
  if (!showBandit.asked || Date.now() - showBandit.asked > 5000) {
    showBandit.asked = Date.now();
    get(`${path}/evaluate`).then((response) => response.json()).then(showPolicies).catch(() => {});
  }
}

function showPolicies({ policies, name }) {
  if (name !== shown || !policies) return;
  const cell = (value) => value && value.value !== null ? `${short(value.value)} (${short(value.low)} to ${short(value.high)})` : "–";
  at("policies").hidden = false;
  at("values").replaceChildren(...Object.entries(policies).map(([policy, values]) => {
    const row = document.createElement("tr");
    const parts = policy === "running" ? [`${policy} (${last?.watches || "this one"})`, cell(values.logged), "–", "–"] : [policy, cell(values.doubly_robust), cell(values.snips), cell(values.ips)];
    row.append(...parts.map((text, i) => Object.assign(document.createElement(i ? "td" : "th"), { textContent: text })));
    row.firstChild.scope = "row";
    return row;
  }));
}

at("models").addEventListener("change", () => follow(at("models").value));
addEventListener("hashchange", () => {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name !== shown && [...at("models").options].some((option) => option.value === name)) {
    at("models").value = name;
    follow(name);
  }
});
at("access").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenKey, at("token").value);
  at("token").value = "";
  if (shown) follow(shown);
});
watchModels();
