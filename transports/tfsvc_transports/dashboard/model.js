"use strict";
// What is known of the cluster, and what follows from it: rates, shares, and which side is the bottleneck.

const SECOND = 1e9;
const data = JSON.parse(document.getElementById("data").textContent);
const WAITS = data.starved;
/** A consumer that waits for more than this part of its time is held up by the workers. */

const KINDS = {
  worker: ["worker", "workers that came"], lost: ["lost", "workers given up"], moved: ["moved", "work that went elsewhere"],
  again: ["again", "elements passed over"], end: ["end", "passes read to their end"], loss: ["missing", "what is missing"],
  pass: ["pass", "passes"], reader: ["reader", "readers"], warning: ["warning", "warnings"], note: ["note", "notes"],
};

class Model {
  constructor() {
    this.description = null;
    this.chronicle = { samples: [], recent: [], jobs: [] };
    this.happenings = [];
    this.leftOut = 0;
    this.at = 0;
    this.speeds = new Map();
    this._lanes = new Map();
  }

  get newest() { return this.happenings.length ? this.happenings[0].number : 0; }

  /** Takes what a dispatcher said at a time, in milliseconds; its happenings may be new ones alone. */
  take(description, chronicle, at) {
    if (this.description && this.description.incarnation !== description.incarnation) {
      this.happenings.unshift({ number: 0, at, kind: "warning", text: "the dispatcher was started again; what follows is told by its new life", job: "", worker: "" });
      this._lanes.clear();
    }
    this._measure(description, at);
    this.description = description;
    this.chronicle = chronicle;
    this.leftOut += chronicle.left_out;
    this.at = at;
    const heard = chronicle.happenings.map((h) => ({ ...h, at: at - h.ago_ns / 1e6 })).reverse();
    this.happenings = [...heard, ...this.happenings].slice(0, 2000);
  }

  /** Elements a second by worker, from how far its lanes have been taken since the last look. */
  _measure(description, at) {
    const seconds = (at - this.at) / 1000, before = this._lanes;
    const now = new Map(description.lanes.map((lane) => [lane.id, lane.taken]));
    if (seconds > 0.2 && before.size) {
      this.speeds = new Map();
      for (const lane of description.lanes) {
        const moved = Math.max(0, lane.taken - (before.get(lane.id) ?? lane.taken));
        this.speeds.set(lane.worker_address, (this.speeds.get(lane.worker_address) ?? 0) + moved / seconds);
      }
    }
    this._lanes = now;
  }

  jobOf(iteration) {
    const found = this.description.iterations.find((one) => one.id === iteration);
    return found ? this.description.jobs.find((job) => job.id === found.job_id) : undefined;
  }

  /** Every reader with what it did lately, the one first that waited most. */
  consumers() {
    const recent = new Map(this.chronicle.recent.map((one) => [one.reader_id, one]));
    const found = this.description.readers.map((reader) => {
      const last = recent.get(reader.id), whole = reader.consumption;
      const over = last ? last.over_ns : 0;
      return {
        reader, job: this.jobOf(reader.iteration_id),
        share: over ? Math.min(1, last.waited_ns / over) : null,
        speed: over ? last.elements / over * SECOND : null,
        bytes: over ? last.bytes / over * SECOND : null,
        all: whole && whole.age_ns ? Math.min(1, whole.waited_ns / whole.age_ns) : null,
      };
    });
    return found.sort((a, b) => (b.share ?? -1) - (a.share ?? -1) || a.reader.id - b.reader.id);
  }

  /** Which side is the bottleneck, in words. */
  verdict() {
    const d = this.description;
    const reading = this.consumers().filter((one) => !one.reader.at_end && one.share !== null);
    const live = d.workers.filter((worker) => worker.state === "live").length;
    if (d.stopping) return { is: "warn", says: "the service ends", why: "Its workers drain; no reader may begin any more." };
    if (!d.census.readers) return { is: "", says: "nobody reads", why: `${count(live, "worker")} ${live === 1 ? "waits" : "wait"} for a reader.` };
    if (!live) return { is: "bad", says: "no worker", why: `${count(d.census.readers, "reader")} ${d.census.readers === 1 ? "waits" : "wait"} for one. Start some, or look why they are not heard.` };
    if (d.readers.every((reader) => reader.at_end)) return { is: "", says: "nobody reads", why: `${count(d.census.readers, "reader")} had everything and ${d.census.readers === 1 ? "has" : "have"} not left yet.` };
    if (!reading.length) return { is: "", says: "nothing measured yet", why: "Readers say with each heartbeat how long they waited." };
    const worst = reading[0], waits = reading.filter((one) => one.share > WAITS);
    const who = `reader ${worst.reader.id} of ${jobName(worst.job)}`;
    if (waits.length) {
      const more = d.recommended_workers !== null && d.recommended_workers > live ? ` ${count(d.recommended_workers, "worker")} would do, and there ${live === 1 ? "is" : "are"} ${live.toLocaleString("en")}.` : "";
      return { is: "bad", says: "worker-bound: the workers cannot keep up", why: `${waits.length} of ${count(reading.length, "consumer")} waited for more than ${percent(WAITS)} of the last minute; ${who} for ${percent(worst.share)}.${more} Add workers, or make the pipeline cheaper.` };
    }
    return { is: "good", says: "reader-bound: the workers keep up", why: `No consumer waited for more than ${percent(WAITS)} of the last minute; the most was ${percent(worst.share)}, by ${who}. A faster trainer would be given more.` };
  }

  /** A value a second over time, from samples of what only grows. */
  rate(value, unit = 1) {
    const samples = this.chronicle.samples, found = [];
    for (let i = 1; i < samples.length; i++) {
      const seconds = (samples[i - 1].ago_ns - samples[i].ago_ns) / SECOND;
      if (seconds > 0) found.push([samples[i].ago_ns / SECOND, Math.max(0, value(samples[i]) - value(samples[i - 1])) / unit / seconds]);
    }
    return found;
  }
}

function jobName(job) { return !job ? "a job that is gone" : job.anonymous ? "a job without a name" : `job ${job.name}`; }

function count(number, what) { return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`; }

function percent(share) { return share === null ? "–" : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`; }

function amount(number, unit = "") {
  if (number === null || number === undefined) return "–";
  for (const [size, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (number >= size) return `${(number / (name === "k" ? 1e3 : size)).toFixed(1)} ${name}${unit}`;
  }
  return `${number >= 100 || Number.isInteger(number) ? Math.round(number).toLocaleString("en") : number.toFixed(1)}${unit ? ` ${unit}` : ""}`;
}

function bytes(number) {
  if (number === null || number === undefined) return "–";
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (number >= 1024 && at < names.length - 1) { number /= 1024; at++; }
  return `${number.toFixed(at && number < 100 ? 1 : 0)} ${names[at]}`;
}

function duration(ns) {
  if (ns === null || ns === undefined) return "–";
  const s = ns / SECOND;
  if (s < 1e-3) return `${(s * 1e6).toFixed(0)} µs`;
  if (s < 1) return `${(s * 1e3).toFixed(s < 0.01 ? 1 : 0)} ms`;
  if (s < 90) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  if (s < 5400) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;
}
