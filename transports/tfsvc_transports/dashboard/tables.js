"use strict";
// Tables of whatever length: the rows that matter come first, the rest on request or by their words.

const ROWS = 60;

/** A table that keeps its words and its length while its rows change. */
class Table {
  /** columns: [heading, class, cell of a row, title]; words: the text in which a row is found. */
  constructor(box, columns, words, empty) {
    this.columns = columns;
    this.words = words;
    this.empty = empty;
    this.rows = [];
    this.most = ROWS;
    this.search = element("input", { type: "search", placeholder: "Find…", "aria-label": "Find rows by their words" });
    this.search.addEventListener("input", () => { this.most = ROWS; this.fill(); });
    this.more = element("button", { onclick: () => { this.most = this.most === ROWS ? 5000 : ROWS; this.fill(); } });
    this.body = element("tbody");
    this.note = element("span");
    this.table = element("div", { class: "table" }, element("table", {},
      element("thead", {}, element("tr", {}, ...columns.map(([heading, kind, , title]) => element("th", { scope: "col", class: kind, title: title ?? "" }, heading)))), this.body));
    this.nothing = element("p", { class: "muted" }, empty);
    this.foot = element("div", { class: "foot" }, this.search, this.note, this.more);
    box.append(this.nothing, this.table, this.foot);
  }

  /** total: how many there are where the dispatcher left some out. */
  set(rows, total = rows.length) {
    this.rows = rows;
    this.total = total;
    this.fill();
  }

  fill() {
    const said = this.search.value.trim().toLowerCase();
    const found = said ? this.rows.filter((row) => this.words(row).toLowerCase().includes(said)) : this.rows;
    const shown = found.slice(0, this.most);
    this.body.replaceChildren(...shown.map((row) => element("tr", {}, ...this.columns.map(([, kind, cell]) => {
      const made = element("td", { class: kind });
      const value = cell(row);
      made.append(value instanceof Node ? value : String(value));
      return made;
    }))));
    this.table.hidden = this.nothing.hidden = false;
    (this.rows.length ? this.nothing : this.table).hidden = true;
    this.foot.hidden = this.rows.length <= 8 && !said;
    this.more.hidden = found.length <= ROWS;
    this.more.textContent = this.most === ROWS ? `all ${found.length.toLocaleString("en")}` : "fewer";
    this.note.textContent = `${shown.length.toLocaleString("en")} of ${said ? `${found.length.toLocaleString("en")} found, ` : ""}${this.total.toLocaleString("en")}`;
  }
}

function state(text, is) { return element("span", { class: `state ${is}` }, text); }

function meter(share, is, text = percent(share)) {
  const full = element("u");
  full.style.width = `${Math.min(1, share ?? 0) * 100}%`;
  return element("div", { class: `meter ${is}` }, element("i", {}, full), element("span", {}, text));
}

function waitMeter(share) {
  return share === null ? "–" : meter(share, share > WAITS ? "bad" : share > WAITS / 2 ? "warn" : "");
}

const STATES = { live: "good", running: "good", done: "good", silent: "bad", lost: "bad", failed: "bad", draining: "warn", leaving: "warn", pending: "warn", writing: "", finished: "none" };
const TROUBLES = ["silent", "draining", "leaving"];

/** All tables of the page; `set` shows what a model knows. */
class Tables {
  constructor(at) {
    this.readers = new Table(at("readers"), [
      ["reader", "", (one) => one.reader.native === false ? `${one.reader.id} (TensorFlow)` : one.reader.id],
      ["job", "words", (one) => jobName(one.job)],
      ["consumer", "number", (one) => one.job && one.job.num_consumers !== null ? `${one.reader.consumer_index} of ${one.job.num_consumers}` : "–"],
      ["waits, last minute", "", (one) => waitMeter(one.share), "the part of its time in which its application waited for elements"],
      ["since it began", "number", (one) => percent(one.all)],
      ["waited", "number", (one) => one.reader.consumption ? duration(one.reader.consumption.waited_ns) : "–"],
      ["elements/s", "number", (one) => amount(one.speed)],
      ["bytes/s", "number", (one) => bytes(one.bytes)],
      ["taken", "number", (one) => one.reader.consumption ? amount(one.reader.consumption.elements) : "–"],
      ["passed over", "number", (one) => one.reader.consumption ? amount(one.reader.consumption.discarded) : "–", "elements that came again and that it had already"],
      ["lanes", "number", (one) => one.reader.lanes],
      ["heard", "number", (one) => one.reader.at_end ? state("at its end", "none") : one.reader.silent_ns === null ? "not yet" : `${duration(one.reader.silent_ns)} ago`],
    ], (one) => `${one.reader.id} ${jobName(one.job)}`, "Nobody reads.");
    this.workers = new Table(at("workers"), [
      ["worker", "words", (w) => w.address],
      ["", "", (w) => state(w.state, STATES[w.state] ?? "")],
      ["tags", "words", (w) => [...w.tags, ...(w.native ? [] : ["TensorFlow's"])].join(", ")],
      ["heard", "number", (w) => w.silent_ns === null ? "not yet" : `${duration(w.silent_ns)} ago`],
      ["tasks", "number", (w) => w.tasks],
      ["lanes", "number", (w) => w.lanes],
      ["splits leased", "number", (w) => amount(w.leased)],
      ["elements/s", "number", (w) => this.speeds.size ? amount(this.speeds.get(w.address) ?? 0) : "–", "taken from its lanes"],
      ["an element takes", "number", (w) => duration(this.paces.get(w.address) ?? null)],
    ], (w) => `${w.address} ${w.state} ${w.tags.join(" ")}`, "No worker is here.");
    this.jobs = new Table(at("jobs"), [
      ["job", "words", (one) => jobName(one.job)],
      ["", "words", (one) => [one.job.sharding_policy, one.job.mode, one.job.delivery.toLowerCase().replaceAll("_", " ")].join(", ")],
      ["pass", "number", (one) => one.pass ? one.pass.repetition : "–"],
      ["", "", (one) => one.pass ? (one.pass.finished ? state("over", "none") : state("open", "good")) : state(`${count(one.job.finished, "pass").replace("passs", "passes")} read`, "none")],
      ["splits handed out", "", (one) => one.pass ? this.progress(one) : ""],
      ["again", "number", (one) => one.pass ? amount(one.pass.splits_again) : "", "splits that went to another worker"],
      ["missing", "number", (one) => one.pass ? (this.missing(one) ? state(this.missing(one), "bad") : "nothing") : ""],
      ["readers", "number", (one) => one.pass ? one.pass.readers : ""],
      ["tasks", "number", (one) => one.pass ? one.pass.tasks - one.pass.tasks_lost : ""],
      ["lanes", "number", (one) => one.pass ? one.pass.lanes : ""],
      ["an element takes", "number", (one) => one.pass && one.pass.processing_time_nsec ? duration(one.pass.processing_time_nsec) : "–", "a worker, the mean of those that told"],
      ["may take", "number", (one) => one.pass && one.pass.target_processing_time_nsec ? duration(one.pass.target_processing_time_nsec) : "–", "between two elements, so that a reader never waits"],
      ["would do", "number", (one) => one.pass && one.pass.recommended !== null ? count(one.pass.recommended, "worker") : "–"],
    ], (one) => `${jobName(one.job)} ${one.job.dataset_id}`, "No job yet.");
    this.tasks = new Table(at("tasks"), [
      ["task", "", (t) => t.id], ["worker", "words", (t) => t.worker_address], ["", "", (t) => state(t.state, STATES[t.state] ?? "")],
      ["pass", "number", (t) => t.iteration_id], ["shard", "number", (t) => t.shard], ["an element takes", "number", (t) => t.processing_time_nsec ? duration(t.processing_time_nsec) : "–"],
    ], (t) => `${t.id} ${t.worker_address} ${t.state} ${t.iteration_id}`, "No task is open.");
    this.lanes = new Table(at("lanes"), [
      ["lane", "", (l) => l.id], ["worker", "words", (l) => l.worker_address || state("waits for one", "warn")], ["reader", "number", (l) => l.reader_id || "–"],
      ["attempt", "number", (l) => l.attempt > 1 ? state(l.attempt, "warn") : l.attempt, "the how-many-th worker or reader it is with"],
      ["taken", "number", (l) => amount(l.taken)], ["leased", "number", (l) => amount(l.leased)],
    ], (l) => `${l.id} ${l.worker_address} ${l.reader_id}`, "No lane is open.");
    this.snapshots = new Table(at("snapshots"), [
      ["path", "words", (s) => s.path], ["", "", (s) => state(s.state, STATES[s.state] ?? "")], ["streams", "number", (s) => `${s.streams_done} of ${s.streams} done`],
      ["chunks", "number", (s) => amount(s.chunks)], ["elements", "number", (s) => amount(s.elements)],
      ["splits", "", (s) => s.splits_total ? meter(s.splits / s.splits_total, "plain") : amount(s.splits)], ["error", "words", (s) => s.error],
    ], (s) => `${s.path} ${s.state}`, "");
    this.datasets = new Table(at("datasets"), [
      ["dataset", "words", (d) => d.id], ["elements", "number", (d) => d.cardinality === -1 ? "no end" : d.cardinality < 0 ? "unknown" : amount(d.cardinality)],
      ["splits", "number", (d) => d.splits === null ? "–" : amount(d.splits)], ["made of", "lines", (d) => d.native ? d.operators : "TensorFlow's graph"],
    ], (d) => `${d.id} ${d.operators}`, "No dataset is registered.");
    this.tiles = at("tiles");
    this.at = at;
    this.speeds = this.paces = new Map();
  }

  progress(one) {
    if (one.job.sharding_policy === "OFF") return "each worker all";
    const splits = this.splits.get(one.job.dataset_id);
    return splits ? meter(one.pass.splits / splits, "plain", amount(one.pass.splits)) : amount(one.pass.splits);
  }

  missing(one) {
    const pass = one.pass, found = [];
    if (pass.shards_lost) found.push(count(pass.shards_lost, "shard"));
    if (pass.splits_given_up) found.push(count(pass.splits_given_up, "split"));
    if (one.job.sharding_policy === "OFF" && pass.tasks_lost) found.push(`the rest of ${count(pass.tasks_lost, "worker")}`);
    return found.join(", ");
  }

  set(model) {
    const d = model.description;
    this.speeds = model.speeds;
    this.paces = this._paces(d.tasks);
    this.splits = new Map(d.datasets.map((dataset) => [dataset.id, dataset.splits]));
    const rank = (worker) => TROUBLES.includes(worker.state) ? TROUBLES.indexOf(worker.state) : 9;
    const workers = [...d.workers].sort((a, b) => rank(a) - rank(b) || a.address.localeCompare(b.address, "en", { numeric: true }));
    this.readers.set(model.consumers(), d.census.readers);
    this.workers.set(workers, d.census.workers);
    const passes = d.jobs.flatMap((job) => {
      const open = d.iterations.filter((pass) => pass.job_id === job.id);
      return open.length ? open.map((pass) => ({ job, pass })) : [{ job, pass: null }];
    });
    this.jobs.set(passes.sort((a, b) => (b.pass ? b.pass.id : 0) - (a.pass ? a.pass.id : 0)), passes.length);
    this.tasks.set(d.tasks, d.census.tasks);
    this.lanes.set([...d.lanes].sort((a, b) => b.attempt - a.attempt || a.id - b.id), d.census.lanes);
    this.at("snapshots-panel").hidden = !d.snapshots.length;
    this.snapshots.set(d.snapshots, d.census.snapshots);
    this.datasets.set(d.datasets, d.census.datasets);
    this.showTiles(d.workers);
  }

  _paces(tasks) {
    const sums = new Map();
    for (const task of tasks) {
      if (!task.processing_time_nsec || task.state !== "running") continue;
      const [sum, many] = sums.get(task.worker_address) ?? [0, 0];
      sums.set(task.worker_address, [sum + task.processing_time_nsec, many + 1]);
    }
    return new Map([...sums].map(([address, [sum, many]]) => [address, sum / many]));
  }

  /** A square a worker, so that a thousand are seen at once. */
  showTiles(workers) {
    while (this.tiles.children.length > workers.length) this.tiles.lastChild.remove();
    workers.forEach((worker, i) => {
      const tile = this.tiles.children[i] ?? this.tiles.appendChild(element("div"));
      const kind = worker.state === "live" ? (worker.lanes || worker.tasks ? "busy" : "") : worker.state;
      if (tile.className !== kind) tile.className = kind;
      const title = `${worker.address}: ${worker.state}, ${count(worker.lanes, "lane")}`;
      if (tile.title !== title) tile.title = title;
    });
  }
}
