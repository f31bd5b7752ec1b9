"use strict";
// The run: the columns as they were written, and ways to find things in them quickly.

const KINDS = ["other", "asked", "answered", "failed", "produced", "synced", "woke", "application", "life", "note"];
const KIND_COLOURS = ["#8b95a3", "#3b78d8", "#5a9bb5", "#d3313f", "#2f8f57", "#9aa4b1", "#c3cad3", "#8b45c9", "#1c2430", "#c77700"];
const FAILED = 3, LIFE = 8;
const LOST = 1, UNSEEN = 2;
const PAUSE = 0, FAULT = 1, LANE = 2, LEASE = 3;

function readRun(json) {
  const run = JSON.parse(json);
  if (run.format !== "tfsvc-recording" || run.version !== 1) {
    throw new Error(`this page draws recordings of version 1, and these are ${run.format} ${run.version}`);
  }
  run.end = Math.max(run.end, 1);
  run.text = (number) => run.texts[number];
  run.eventsOf = run.nodes.map(() => []);
  run.events.node.forEach((node, event) => run.eventsOf[node].push(event));
  run.beliefsOf = run.nodes.map(() => []);
  run.beliefs.node.forEach((node, belief) => run.beliefsOf[node].push(belief));
  run.livesOf = run.nodes.map(() => []);
  run.lives.node.forEach((node, life) => run.livesOf[node].push(life));
  run.takingsOf = run.nodes.map(() => []);
  run.takings.reader.forEach((node, taking) => run.takingsOf[node].push(taking));
  run.longest = run.messages.sent.reduce((most, sent, i) => Math.max(most, run.messages.arrived[i] - sent), 0);
  placeLanes(run);
  return run;
}

/** The first place in a sorted column whose value is at least `value`. */
function firstAt(column, value, place = (i) => i, length = column.length) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[place(middle)] < value) low = middle + 1; else high = middle;
  }
  return low;
}

/** The last of a node's rows, given by `rows`, whose time is at most `at`; -1 if there is none. */
function lastBefore(column, rows, at) {
  const place = firstAt(column, at + 1, (i) => rows[i], rows.length) - 1;
  return place < 0 ? -1 : rows[place];
}

/** Puts the lanes of each node below each other, and its leases where their lane is. */
function placeLanes(run) {
  const spans = run.spans;
  spans.track = new Array(spans.node.length).fill(0);
  run.tracks = run.nodes.map(() => 0);
  const free = run.nodes.map(() => []);
  const trackOf = new Map();
  for (let i = 0; i < spans.node.length; i++) {
    const node = spans.node[i];
    if (node < 0) continue;
    const lane = run.text(spans.text[i]).match(/^lane [\d.]+/);
    if (spans.kind[i] === LANE) {
      let track = free[node].findIndex((end) => end <= spans.begin[i]);
      if (track < 0) track = free[node].length;
      free[node][track] = spans.end[i] ?? Infinity;
      spans.track[i] = track;
      trackOf.set(`${node} ${lane}`, track);
      run.tracks[node] = Math.max(run.tracks[node], track + 1);
    } else if (spans.kind[i] === LEASE) {
      spans.track[i] = trackOf.get(`${node} ${lane}`) ?? 0;
    }
  }
}

/** What is known of a node at a moment. */
function stateAt(run, node, at) {
  const life = lastBefore(run.lives.begin, run.livesOf[node], at);
  if (life < 0) return run.livesOf[node].length ? { is: "none", says: "not there yet" } : { is: "none", says: "not recorded" };
  const number = run.lives.incarnation[life];
  const which = number < 100000 ? `life ${number}` : "alive";
  const end = run.lives.end[life];
  if (end !== null && end <= at && !run.text(run.lives.how[life])) return { is: "none", says: `recorded to ${clock(end)}` };
  if (end !== null && end <= at) return { is: "bad", says: `${run.text(run.lives.how[life])}, ${clock(end)}` };
  for (let i = 0; i < run.spans.node.length; i++) {
    if (run.spans.node[i] === node && run.spans.kind[i] === PAUSE && run.spans.begin[i] <= at && at < (run.spans.end[i] ?? Infinity)) {
      return { is: "warn", says: `${which}, paused` };
    }
  }
  return { is: "", says: which };
}

/** The events that led to an event, the newest first, itself included. */
function causes(run, event, most = 40) {
  const chain = [];
  while (event >= 0 && chain.length < most) {
    chain.push(event);
    event = run.events.cause[event] - 1;
  }
  return chain;
}

/** Where a look at the run begins: where a node that serves or reads has died first, or else at its beginning. */
function firstTrouble(run) {
  const ends = run.lives.end.filter((end, life) => end !== null && run.text(run.lives.how[life]) && run.nodes[run.lives.node[life]][1] !== "caller");
  return ends.length ? Math.min(...ends) : 0;
}

/** A time for people. */
function clock(at) {
  return at < 1e10 ? `${(at / 1e6).toFixed(3)} ms` : `${(at / 1e9).toFixed(3)} s`;
}

function ticks(from, to, most) {
  const raw = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return { step, found };
}

function tickText(at, step) {
  if (step >= 1e9) return `${(at / 1e9).toFixed(0)} s`;
  if (step >= 1e8) return `${(at / 1e9).toFixed(1)} s`;
  if (step >= 1e6) return `${(at / 1e6).toFixed(0)} ms`;
  if (step >= 1e3) return `${(at / 1e6).toFixed(3)} ms`;
  return `${(at / 1e3).toFixed(3)} µs`;
}
