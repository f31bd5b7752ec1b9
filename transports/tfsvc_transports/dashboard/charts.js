"use strict";
// Lines over the last minutes, a quarter of an hour at the most, and the cards above them.

const SPAN_S_MIN = 60, SPAN_S_MAX = 900;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value); else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function drawn(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** A line of points [seconds ago, value], with a mark where a worker was lost. */
function chart(title, points, span, show, most = 0, marks = []) {
  const width = 400, height = 92, foot = 12;
  const top = Math.max(most, ...points.map(([, value]) => value)) || 1;
  const x = (ago) => width - Math.min(ago, span) / span * width;
  const y = (value) => height - foot - value / top * (height - foot - 12);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}, now ${points.length ? show(points[points.length - 1][1]) : "unknown"}` });
  svg.append(drawn("line", { class: "base", x1: 0, x2: width, y1: height - foot, y2: height - foot }));
  if (points.length) {
    const path = points.map(([ago, value], i) => `${i ? "L" : "M"}${x(ago).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    svg.append(drawn("path", { class: "area", d: `${path}L${x(points[points.length - 1][0])} ${height - foot}L${x(points[0][0])} ${height - foot}Z` }));
    svg.append(drawn("path", { class: "line", d: path, "vector-effect": "non-scaling-stroke" }));
  }
  for (const ago of marks.filter((one) => one <= span)) svg.append(drawn("line", { class: "mark", x1: x(ago), x2: x(ago), y1: 2, y2: height - foot, "vector-effect": "non-scaling-stroke" }));
  const now = points.length ? show(points[points.length - 1][1]) : "–";
  return element("figure", {}, element("figcaption", {}, title, element("b", {}, now), `most ${points.length ? show(Math.max(...points.map(([, value]) => value))) : "–"}`), svg);
}

function showCharts(model, box) {
  const span = Math.min(SPAN_S_MAX, Math.max(SPAN_S_MIN, (model.chronicle.samples[0]?.ago_ns ?? 0) / SECOND));
  const lost = model.happenings.filter((h) => h.kind === "lost" || h.text.includes("missed its heartbeats")).map((h) => (model.at - h.at) / 1000);
  const readers = model.chronicle.samples.map((sample) => sample.readers);
  const waits = model.rate((sample) => sample.waited_ns, SECOND).map(([ago, value], i) => [ago, Math.min(1, value / Math.max(1, readers[i + 1], readers[i]))]);
  box.replaceChildren(
    chart("elements a second", model.rate((sample) => sample.elements), span, (value) => amount(value), 0, lost),
    chart("waiting, mean over consumers", waits, span, percent, 0.25, lost),
    chart("workers", model.chronicle.samples.map((sample) => [sample.ago_ns / SECOND, sample.workers]), span, (value) => amount(value), 0, lost),
  );
  return span;
}

/** A dot for each thing that happened, where it happened. */
function showStrip(model, span, box, label) {
  const recent = model.happenings.filter((h) => model.at - h.at < span * 1000).slice(0, 400);
  box.replaceChildren(...recent.map((h) => {
    const dot = element("i", { class: h.kind, title: `${new Date(h.at).toLocaleTimeString("en", { hour12: false })} ${h.text}` });
    dot.style.left = `${100 - (model.at - h.at) / span / 10}%`;
    return dot;
  }));
  label.textContent = `${duration(span * SECOND)} ago`;
}

function card(title, value, more = "", is = "") {
  return element("div", { class: `card ${is}` }, element("span", {}, title), element("b", {}, value), element("small", {}, more));
}

function showGlance(model, box) {
  const d = model.description, consumers = model.consumers();
  const states = {};
  for (const worker of d.workers) states[worker.state] = (states[worker.state] ?? 0) + 1;
  const others = Object.entries(states).filter(([state]) => state !== "live").map(([state, many]) => `${many} ${state}`).join(", ");
  const reading = consumers.filter((one) => !one.reader.at_end);
  const speed = reading.reduce((sum, one) => sum + (one.speed ?? 0), 0), flow = reading.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const worst = reading.find((one) => one.share !== null), held = d.lanes.reduce((sum, lane) => sum + lane.leased, 0);
  const missing = d.iterations.reduce((sum, one) => sum + one.splits_given_up + one.shards_lost, 0);
  box.replaceChildren(
    card("workers", amount(d.census.workers), others || (d.recommended_workers === null ? "" : `${d.recommended_workers} would do`), states.silent ? "bad" : others ? "warn" : ""),
    card("consumers", amount(d.census.readers), `${count(d.census.jobs, "job")}, ${d.census.iterations} open ${d.census.iterations === 1 ? "pass" : "passes"}`),
    card("elements a second", amount(speed), `${bytes(flow)}/s, over a minute`),
    card("longest wait", worst ? percent(worst.share) : "–", worst ? `of a minute: reader ${worst.reader.id}` : "", worst && worst.share > WAITS ? "bad" : "good"),
    card("taken", amount(d.tally.elements), bytes(d.tally.bytes)),
    card("lanes", amount(d.census.lanes), `${count(held, "split")} leased`),
    card("workers lost", amount(d.tally.workers_lost), `${count(d.tally.moves, "lane")} moved`, d.tally.workers_lost ? "warn" : ""),
    card("leased again", amount(d.tally.splits_again), "splits whose worker or reader was gone"),
    card("duplicates discarded", amount(d.tally.discarded), "never given to a trainer"),
    card("missing", amount(missing + d.tally.missed), missing || d.tally.missed ? "see what happened" : "nothing was lost", missing || d.tally.missed ? "bad" : "good"),
  );
}
