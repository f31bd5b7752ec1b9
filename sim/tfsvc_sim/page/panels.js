"use strict";
// The panels: what each node believed at the chosen moment, who took what, every event, and what is known of the run.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value); else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A list of any length, of which only what is in view is there. */
class LongList {
  constructor(row, height = 22) {
    this.row = row;
    this.height = height;
    this.rows = [];
    this.inner = element("div");
    this.box = element("div", { class: "list", onscroll: () => this.fill() }, this.inner);
    new ResizeObserver(() => this.fill()).observe(this.box);
  }

  set(rows) {
    this.rows = rows;
    this.inner.style.height = `${rows.length * this.height}px`;
    this.fill();
  }

  fill() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const count = Math.ceil(this.box.clientHeight / this.height) + 8;
    this.inner.replaceChildren(...this.rows.slice(first, first + count).map((item, i) => {
      const made = this.row(item);
      made.style.top = `${(first + i) * this.height}px`;
      return made;
    }));
  }

  /** Scrolls to the first row for which `reached` holds. */
  reveal(place) {
    const top = place * this.height;
    if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - this.height) {
      this.box.scrollTop = Math.max(0, top - this.box.clientHeight / 2);
    }
    this.fill();
  }
}

function eventRow(run, event, chosen, choose) {
  return element("div", { class: event === chosen ? "row on" : "row", title: run.text(run.events.text[event]), onclick: () => choose({ event }) },
    element("span", { class: "dot", style: `background:${KIND_COLOURS[run.events.kind[event]]}` }),
    element("time", {}, clock(run.events.at[event])),
    element("b", {}, run.nodes[run.events.node[event]][0]),
    element("span", {}, run.text(run.events.text[event])));
}

class MomentPanel {
  constructor(run, box, choose) {
    this.run = run;
    this.box = box;
    this.choose = choose;
  }

  show(at) {
    const run = this.run;
    this.box.replaceChildren(...run.nodes.map(([name, role], node) => this.card(name, role, node, at)));
  }

  card(name, role, node, at) {
    const run = this.run;
    const state = stateAt(run, node, at);
    const last = lastBefore(run.events.at, run.eventsOf[node], at);
    const card = element("div", { class: "card" },
      element("h3", last < 0 ? {} : { onclick: () => this.choose({ event: last }) }, name,
        element("small", {}, role === name ? "" : role), element("span", { class: `state ${state.is}` }, state.says)));
    if (last >= 0) card.append(element("div", { class: "last", title: run.text(run.events.text[last]) }, `${clock(run.events.at[last])}  ${run.text(run.events.text[last])}`));
    const rows = run.beliefsOf[node];
    const belief = lastBefore(run.beliefs.at, rows, at);
    if (belief >= 0 && state.is !== "bad" && state.is !== "none") card.append(this.beliefs(belief, rows));
    return card;
  }

  beliefs(belief, rows) {
    const run = this.run;
    const now = parsed(run.text(run.beliefs.text[belief]));
    const place = rows.indexOf(belief);
    const before = place > 0 ? parsed(run.text(run.beliefs.text[rows[place - 1]])) : now;
    return element("table", {}, ...Object.entries(now).map(([key, value]) => {
      const changed = JSON.stringify(before[key]) !== JSON.stringify(value);
      return element("tr", {}, element("th", {}, key.replaceAll("_", " ")), element("td", changed ? { class: "new", title: `changed at ${clock(run.beliefs.at[belief])}` } : {}, told(value)));
    }));
  }
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : { state: value };
  } catch {
    return { state: text };
  }
}

function told(value) {
  if (value === null) return "–";
  if (Array.isArray(value)) return value.length ? value.map(told).join(", ") : "none";
  if (typeof value === "object") {
    const items = Object.entries(value);
    return items.length ? items.map(([key, item]) => `${key}: ${Array.isArray(item) ? `(${told(item)})` : told(item)}`).join("  ·  ") : "none";
  }
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}

class LedgerPanel {
  constructor(run, box, choose) {
    const t = run.takings;
    this.run = run;
    this.at = 0;
    this.all = t.at.map((_, i) => i);
    box.classList.add("filled");
    if (!this.all.length) {
      box.append(element("p", { class: "muted" }, "Nothing was taken by any application, or no reader was recorded."));
      this.list = null;
      return;
    }
    this.list = new LongList((i) => element("div", { class: i === this.newest ? "row on" : "row", onclick: () => choose({ at: t.at[i] }), title: `job ${run.text(t.job[i])}: ${t.count[i] > 1 ? `${t.count[i]} elements` : "element"} from ${t.ordinal[i]} on of stream ${t.stream[i]}` },
      element("time", {}, clock(t.at[i])),
      element("b", {}, run.nodes[t.reader[i]][0]),
      element("b", {}, run.text(t.worker[i])),
      element("span", {}, `${t.stream[i]}:${t.ordinal[i]}${t.count[i] > 1 ? `–${t.ordinal[i] + t.count[i] - 1}` : ""}${run.text(t.text[i]) ? ` = ${run.text(t.text[i])}` : ""}`)));
    this.summary = element("div", { style: "max-height:45%;overflow:auto;flex:none" });
    const search = element("input", { type: "search", placeholder: "Find a value, a worker, a reader…" });
    search.addEventListener("input", () => this.filter(search.value.trim()));
    box.append(this.summary, search, this.list.box);
    this.show(0);
    this.filter("");
  }

  filter(words) {
    const t = this.run.takings, run = this.run;
    const keep = (i) => run.text(t.text[i]).split(" ").includes(words) || run.text(t.worker[i]) === words || run.nodes[t.reader[i]][0] === words || run.text(t.job[i]) === words;
    this.list.set(words ? this.all.filter(keep) : this.all);
  }

  show(at) {
    if (!this.list) return;
    const run = this.run, t = run.takings;
    const jobs = new Map();
    for (let i = 0; i < t.at.length; i++) {
      const job = run.text(t.job[i]), key = `${run.nodes[t.reader[i]][0]}\u0000${run.text(t.worker[i])}`;
      if (!jobs.has(job)) jobs.set(job, new Map());
      const entry = jobs.get(job).get(key) ?? { all: 0, now: 0, first: t.at[i], last: 0 };
      entry.all += t.count[i];
      if (t.at[i] <= at) entry.now += t.count[i];
      entry.last = Math.max(entry.last, t.until[i]);
      jobs.get(job).set(key, entry);
    }
    this.summary.replaceChildren(...[...jobs].flatMap(([job, entries]) => {
      const total = [...entries.values()].reduce((sum, entry) => sum + entry.all, 0);
      const now = [...entries.values()].reduce((sum, entry) => sum + entry.now, 0);
      return [element("p", { style: "margin:0 0 4px" }, element("b", {}, `job ${job}`), `: ${now.toLocaleString("en")} of ${total.toLocaleString("en")} elements taken by ${clock(at)}`),
        element("table", { style: "margin-bottom:8px" }, element("thead", {}, element("tr", {}, ...["taken by", "made by", "so far", "in all", "from", "to"].map((h) => element("th", {}, h)))),
          ...[...entries].sort().map(([key, entry]) => {
            const [reader, worker] = key.split("\u0000");
            return element("tr", {}, ...[reader, worker, entry.now, entry.all, clock(entry.first), clock(entry.last)].map((cell) => element("td", {}, String(cell))));
          }))];
    }));
    this.newest = firstAt(t.at, at + 1) - 1;
    const place = this.list.rows === this.all ? this.newest : this.list.rows.indexOf(this.newest);
    if (place >= 0) this.list.reveal(place); else this.list.fill();
  }
}

class EventsPanel {
  constructor(run, box, choose) {
    this.run = run;
    this.chosen = -1;
    this.hidden = new Set([6]);
    this.words = "";
    box.classList.add("filled");
    this.list = new LongList((event) => eventRow(run, event, this.chosen, choose));
    const search = element("input", { type: "search", placeholder: "Words that an event or its node holds…" });
    search.addEventListener("input", () => { this.words = search.value.toLowerCase(); this.filter(); });
    this.count = element("p", { class: "muted", style: "margin:0" });
    const kinds = element("div", {}, ...KINDS.map((kind, i) => {
      const tick = element("input", { type: "checkbox" });
      tick.checked = !this.hidden.has(i);
      tick.addEventListener("change", () => { if (tick.checked) this.hidden.delete(i); else this.hidden.add(i); this.filter(); });
      return element("label", {}, tick, element("span", { class: "dot", style: `background:${KIND_COLOURS[i]}` }), kind);
    }));
    box.append(kinds, search, this.count, this.list.box);
    this.filter();
  }

  filter() {
    const { at, kind, node, text } = this.run.events;
    const found = [];
    for (let i = 0; i < at.length; i++) {
      if (this.hidden.has(kind[i])) continue;
      if (this.words && !`${this.run.nodes[node[i]][0]} ${this.run.text(text[i])}`.toLowerCase().includes(this.words)) continue;
      found.push(i);
    }
    this.count.textContent = `${found.length.toLocaleString("en")} of ${at.length.toLocaleString("en")} events`;
    this.list.set(found);
  }

  show(event) {
    this.chosen = event;
    const place = this.list.rows.indexOf(event);
    if (place >= 0) this.list.reveal(place); else this.list.fill();
  }
}

function fillRun(run, box) {
  const table = element("table", {}, ...run.facts.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value))));
  const counts = [["nodes", run.nodes.length], ["events", run.events.at.length], ["messages", run.messages.sent.length],
    ["lost messages", run.messages.fate.filter((fate) => fate === LOST).length], ["second copies", run.messages.again.filter(Boolean).length]];
  for (const [name, value] of counts) table.append(element("tr", {}, element("th", {}, name), element("td", {}, value.toLocaleString("en"))));
  box.append(table);
  for (const [heading, lines] of [["What is wrong", run.problems], ["Left out here", run.left_out]]) {
    if (lines.length) box.append(element("h3", {}, heading), element("ul", {}, ...lines.map((line) => element("li", {}, line))));
  }
}
