"use strict";
// The space-time diagram: time runs to the right, a line a node, an arrow a message. Only what is in view is drawn, and
// of what falls on the same pixels one.

const GUTTER = 156, AXIS = 24, LINE = 22, TRACK = 12, TRACKS_MAX = 8, ROW_MIN = 46, ROW_ROOM = 40;
const ARROWS_MAX = 2000;
const FAULT_ROW = 15;
const FONT = "11px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

class Diagram {
  constructor(run, canvas, changed) {
    this.run = run;
    this.canvas = canvas;
    this.changed = changed;
    this.from = 0;
    this.to = run.end;
    this.cursor = 0;
    this.selected = null;
    this.show = { requests: true, answers: true, lanes: true };
    this.drawn = { events: 0, messages: 0, left: 0 };
    this.arrows = [];
    this.layout();
  }

  layout() {
    const run = this.run;
    this.faults = [];
    const free = [];
    run.spans.node.forEach((node, i) => {
      if (node >= 0) return;
      let row = free.findIndex((end) => end <= run.spans.begin[i]);
      if (row < 0) row = Math.min(free.length, 5);
      free[row] = run.spans.end[i] ?? Infinity;
      this.faults.push({ span: i, row });
    });
    // Rows share what room there is, so that arrows have some.
    const needed = run.nodes.reduce((sum, _, node) => sum + this.rowHeight(node), 0);
    const spare = Math.max(0, this.room - needed - AXIS - free.length * FAULT_ROW - 16) / Math.max(1, run.nodes.length);
    const extra = Math.min(ROW_ROOM, Math.floor(spare));
    let y = AXIS + (free.length ? Math.min(free.length, 6) * FAULT_ROW + 6 : 0);
    this.top = y;
    this.rows = run.nodes.map((_, node) => {
      const height = this.rowHeight(node) + extra;
      const row = { y, height, line: y + LINE };
      y += height;
      return row;
    });
    this.height = y + 6;
  }

  rowHeight(node) {
    const tracks = this.show.lanes ? Math.min(this.run.tracks[node], TRACKS_MAX) : 0;
    return Math.max(ROW_MIN, LINE + 12 + tracks * TRACK + 8);
  }

  get room() { return this.canvas.parentElement.clientHeight; }
  get width() { return this.canvas.clientWidth; }
  get scale() { return (this.width - GUTTER - 8) / (this.to - this.from); }
  x(at) { return GUTTER + (at - this.from) * this.scale; }
  at(x) { return this.from + (x - GUTTER) / this.scale; }

  look(from, to) {
    const span = Math.min(Math.max(to - from, 50), this.run.end * 1.04);
    const middle = (from + to) / 2;
    this.from = Math.max(-this.run.end * 0.02, Math.min(middle - span / 2, this.run.end * 1.02 - span));
    this.to = this.from + span;
    this.changed();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.look(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(by) { this.look(this.from + by, this.to + by); }

  reveal(at) {
    if (at < this.from || at > this.to) this.look(at - (this.to - this.from) / 2, at + (this.to - this.from) / 2);
  }

  draw() {
    const { canvas, run } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = this.width;
    canvas.style.height = `${this.height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(this.height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.pen = pen;
    this.style = getComputedStyle(document.documentElement);
    this.colours = {};
    pen.font = FONT;
    pen.textBaseline = "middle";
    this.drawGround(width);
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER - 6, 0, width - GUTTER + 6, this.height);
    pen.clip();
    this.drawFaults();
    run.nodes.forEach((_, node) => this.drawNode(node));
    this.drawMessages();
    run.nodes.forEach((_, node) => this.drawEvents(node));
    this.drawSelected();
    this.drawCursor();
    pen.restore();
    this.drawNames();
  }

  colour(name) {
    if (!(name in this.colours)) this.colours[name] = this.style.getPropertyValue(`--${name}`).trim();
    return this.colours[name];
  }

  drawGround(width) {
    const pen = this.pen;
    this.rows.forEach((row, i) => {
      if (i % 2) { pen.fillStyle = this.colour("stripe"); pen.fillRect(0, row.y, width, row.height); }
      pen.fillStyle = this.colour("line");
      pen.fillRect(0, row.y + row.height - 1, width, 1);
    });
    const { step, found } = ticks(this.from, this.to, Math.max(2, width / 110));
    for (const at of found) {
      if (at < 0 || at > this.run.end) continue;
      const x = Math.round(this.x(at));
      pen.fillStyle = this.colour("line");
      pen.fillRect(x, AXIS - 5, 1, this.height - AXIS);
      pen.fillStyle = this.colour("soft");
      pen.textAlign = "center";
      pen.fillText(tickText(at, step), x, AXIS / 2);
    }
    pen.textAlign = "left";
  }

  drawFaults() {
    const { pen, run } = this;
    for (const { span, row } of this.faults) {
      const begin = run.spans.begin[span], end = run.spans.end[span] ?? run.end;
      if (end < this.from || begin > this.to) continue;
      const x = Math.max(this.x(begin), GUTTER - 4), right = Math.min(this.x(end), this.width);
      pen.globalAlpha = 0.35;
      pen.fillStyle = this.colour("fault");
      pen.fillRect(x, this.top, Math.max(1, right - x), this.height - this.top);
      pen.globalAlpha = 1;
      const y = AXIS + row * FAULT_ROW;
      pen.fillStyle = this.colour("fault");
      pen.fillRect(x, y, Math.max(2, right - x), FAULT_ROW - 2);
      pen.fillStyle = this.colour("fault-edge");
      pen.fillRect(x, y, 2, FAULT_ROW - 2);
      this.label(run.text(run.spans.text[span]), x + 6, y + 7, right - x - 8, "bad");
    }
  }

  label(text, x, y, room, colour) {
    if (room < 24) return;
    const pen = this.pen;
    pen.fillStyle = this.colour(colour);
    if (pen.measureText(text).width > room) {
      let length = Math.floor((text.length * room) / pen.measureText(text).width) - 1;
      if (length < 3) return;
      text = `${text.slice(0, length)}…`;
    }
    pen.fillText(text, x, y);
  }

  drawNode(node) {
    const { pen, run } = this;
    const { line, y } = this.rows[node];
    pen.fillStyle = this.colour("line");
    pen.fillRect(GUTTER - 4, line, this.width, 1);
    for (const life of run.livesOf[node]) {
      const begin = run.lives.begin[life], end = run.lives.end[life];
      const x = this.x(begin), right = this.x(end ?? run.end);
      pen.fillStyle = this.colour("row");
      pen.fillRect(Math.max(x, GUTTER - 4), line - 2, Math.min(right, this.width) - Math.max(x, GUTTER - 4), 5);
      if (end !== null && run.text(run.lives.how[life])) this.cross(right, line, 5, this.colour("bad"), 2);
      if (x >= GUTTER - 4) { pen.fillStyle = this.colour("good"); pen.fillRect(x - 1.5, line - 7, 3, 15); }
    }
    this.drawSpans(node, y);
    this.drawTakings(node);
  }

  drawSpans(node, y) {
    const { pen, run } = this;
    const { line, height } = this.rows[node];
    const marks = new Set(), lanes = [];
    for (let i = 0; i < run.spans.node.length; i++) {
      if (run.spans.node[i] !== node) continue;
      const begin = run.spans.begin[i], end = run.spans.end[i] ?? run.end, kind = run.spans.kind[i];
      if (end < this.from || begin > this.to) continue;
      const x = Math.max(this.x(begin), GUTTER - 4), right = Math.min(this.x(end), this.width + 4);
      const top = line + 12 + Math.min(run.spans.track[i], TRACKS_MAX - 1) * TRACK;
      if (kind === PAUSE) {
        pen.fillStyle = this.colour("pause");
        pen.globalAlpha = 0.45;
        pen.fillRect(x, y + 3, Math.max(2, right - x), height - 7);
        pen.globalAlpha = 1;
        this.label("paused", x + 5, y + 9, right - x - 6, "soft");
      } else if (kind === LANE && this.show.lanes) {
        pen.fillStyle = this.colour("lane");
        pen.fillRect(x, top, Math.max(2, right - x), TRACK - 2);
        pen.fillStyle = this.colour("lane-edge");
        pen.fillRect(x, top, 2, TRACK - 2);
        if (run.spans.end[i] !== null) pen.fillRect(right - 2, top, 2, TRACK - 2);
        lanes.push([run.text(run.spans.text[i]), x + 8, top + 5.5, right - x - 12]);
      } else if (kind === LEASE && this.show.lanes) {
        const at = Math.round(this.x(begin)), key = `${at} ${top}`;
        if (marks.has(key)) continue;
        marks.add(key);
        pen.fillStyle = this.colour("lease");
        pen.beginPath();
        pen.moveTo(at, top + 1);
        pen.lineTo(at + 6, top + 5);
        pen.lineTo(at, top + 9);
        pen.fill();
      }
    }
    pen.font = "9.5px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    for (const [text, x, middle, room] of lanes) if (room > 50) this.label(text, x, middle, room, "soft");
    pen.font = FONT;
  }

  drawTakings(node) {
    const { pen, run } = this;
    const rows = run.takingsOf[node];
    if (!rows.length) return;
    const { line } = this.rows[node];
    const bins = new Map();
    let i = firstAt(run.takings.at, this.from, (k) => rows[k], rows.length);
    for (; i < rows.length && run.takings.at[rows[i]] <= this.to; i++) {
      const x = Math.round(this.x(run.takings.at[rows[i]]) / 3);
      bins.set(x, (bins.get(x) || 0) + run.takings.count[rows[i]]);
    }
    const most = Math.max(1, ...bins.values());
    pen.fillStyle = this.colour("taken");
    for (const [x, count] of bins) pen.fillRect(x * 3 - 1, line + 10, 2, 4 + 8 * (count / most));
  }

  drawEvents(node) {
    const { pen, run } = this;
    const rows = run.eventsOf[node];
    const { line } = this.rows[node];
    let i = firstAt(run.events.at, this.from, (k) => rows[k], rows.length);
    if (!node) this.drawn.events = 0;
    const last = new Float64Array(KINDS.length).fill(-9);
    // Where they lie close, a stroke stands for all that fall on it, and those that one looks for have their own.
    const crowded = firstAt(run.events.at, this.to, (k) => rows[k], rows.length) - i > this.width;
    for (; i < rows.length && run.events.at[rows[i]] <= this.to; i++) {
      const x = this.x(run.events.at[rows[i]]), kind = run.events.kind[rows[i]];
      const lane = crowded && kind !== LIFE && kind !== FAILED ? 0 : kind;
      if (x - last[lane] < (crowded ? 2.5 : 1.2)) continue;
      last[lane] = x;
      this.drawn.events++;
      pen.fillStyle = kind === LIFE ? this.colour("ink") : KIND_COLOURS[kind];
      if (crowded) { pen.fillRect(x - 1, line - 2, 2, 5); continue; }
      pen.beginPath();
      pen.arc(x, line + 0.5, kind === 6 || kind === 5 ? 2 : 3, 0, 7);
      pen.fill();
    }
  }

  drawMessages() {
    const { run } = this;
    const { sent, arrived, asks, source, target, heard, again } = run.messages;
    this.arrows = [];
    const seen = new Set();
    let left = 0;
    const first = firstAt(sent, this.from - run.longest), end = firstAt(sent, this.to + 1);
    // Of very many, every so-many-th is drawn, and more of those that did not go well.
    const stride = Math.ceil((end - first) / ARROWS_MAX);
    for (let i = first; i < end; i++) {
      if (stride > 1 && i % (heard[i] && !again[i] ? stride : Math.ceil(stride / 8))) { left++; continue; }
      if (arrived[i] < this.from || !(asks[i] ? this.show.requests : this.show.answers)) continue;
      const arrow = this.arrow(i);
      // Those whose ends fall on the same pixels are drawn once.
      const key = `${source[i]} ${target[i]} ${Math.round(arrow.x / 2)} ${Math.round(arrow.right / 2)} ${arrow.colour}`;
      if (seen.has(key)) continue;
      seen.add(key);
      this.arrows.push(arrow);
    }
    this.drawn.messages = this.arrows.length;
    this.drawn.left = left;
    const crowded = this.arrows.length > 600;
    for (const arrow of this.arrows) this.drawArrow(arrow, crowded ? 0.25 : 0.9, !crowded);
  }

  arrow(i) {
    const m = this.run.messages;
    let colour = m.asks[i] ? "request" : "answer";
    if (m.fate[i] === LOST) colour = "lost";
    else if (m.again[i]) colour = "again";
    else if (m.fate[i] !== UNSEEN && !m.heard[i]) colour = "unheard";
    const y = this.rows[m.source[i]].line, bottom = this.rows[m.target[i]].line;
    let x = this.x(m.sent[i]), right = this.x(m.arrived[i]);
    if (m.fate[i] === LOST) right = Math.max(right, x + 10);
    return { message: i, x, y, right, bottom, colour, lost: m.fate[i] === LOST, unseen: m.fate[i] === UNSEEN };
  }

  drawArrow(arrow, alpha, heads, thick = 1) {
    const pen = this.pen;
    let { x, y, right, bottom } = arrow;
    const vivid = arrow.colour !== "request" && arrow.colour !== "answer";
    if (arrow.lost) { right = x + (right - x) * 0.55; bottom = y + (bottom - y) * 0.55; }
    pen.globalAlpha = vivid ? 1 : alpha;
    pen.strokeStyle = pen.fillStyle = this.colour(arrow.colour);
    pen.lineWidth = vivid ? Math.max(1.4, thick) : thick;
    pen.setLineDash(arrow.lost || arrow.unseen ? [4, 3] : []);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(right, bottom);
    pen.stroke();
    pen.setLineDash([]);
    if (arrow.lost) this.cross(right, bottom, 4, this.colour("lost"), 1.8);
    else if (heads || vivid) {
      const angle = Math.atan2(bottom - y, right - x), size = 6;
      const tipY = bottom - Math.sign(bottom - y) * 3, tipX = right - (3 * Math.cos(angle)) / Math.max(0.3, Math.abs(Math.sin(angle)));
      pen.beginPath();
      pen.moveTo(tipX, tipY);
      pen.lineTo(tipX - size * Math.cos(angle - 0.4), tipY - size * Math.sin(angle - 0.4));
      pen.lineTo(tipX - size * Math.cos(angle + 0.4), tipY - size * Math.sin(angle + 0.4));
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  cross(x, y, size, colour, width) {
    const pen = this.pen;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x - size, y - size); pen.lineTo(x + size, y + size);
    pen.moveTo(x - size, y + size); pen.lineTo(x + size, y - size);
    pen.stroke();
  }

  drawSelected() {
    const { pen, run, selected } = this;
    if (!selected) return;
    if (selected.message !== undefined) this.drawArrow(this.arrow(selected.message), 1, true, 3);
    if (selected.event === undefined) return;
    pen.strokeStyle = this.colour("cursor");
    pen.lineWidth = 1.5;
    const chain = causes(run, selected.event);
    chain.forEach((event, i) => {
      const x = this.x(run.events.at[event]), y = this.rows[run.events.node[event]].line + 0.5;
      pen.globalAlpha = i ? 0.6 : 1;
      pen.beginPath();
      pen.arc(x, y, i ? 5 : 7, 0, 7);
      pen.stroke();
      if (i) {
        const next = chain[i - 1];
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(this.x(run.events.at[next]), this.rows[run.events.node[next]].line + 0.5);
        pen.stroke();
      }
    });
    pen.globalAlpha = 1;
  }

  drawCursor() {
    const x = this.x(this.cursor);
    this.pen.fillStyle = this.colour("cursor");
    this.pen.fillRect(x - 0.5, AXIS - 8, 1.2, this.height);
  }

  drawNames() {
    const { pen, run } = this;
    run.nodes.forEach(([name, role], node) => {
      const row = this.rows[node];
      const state = stateAt(run, node, this.cursor);
      pen.fillStyle = this.colour(state.is === "bad" ? "bad" : state.is === "warn" ? "warn" : state.is === "none" ? "line" : "good");
      pen.beginPath();
      pen.arc(14, row.line - 3, 3.5, 0, 7);
      pen.fill();
      pen.font = "600 12px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
      this.label(name, 24, row.line - 3, GUTTER - 34, "ink");
      pen.font = FONT;
      if (role !== name) this.label(role, 24, row.line + 11, GUTTER - 34, "soft");
    });
    if (this.faults.length) this.label("faults", 24, AXIS + 7, GUTTER - 34, "soft");
  }

  /** What lies at a place of the canvas: an event, a message, a span, or nothing. */
  hit(x, y) {
    const run = this.run;
    const node = this.rows.findIndex((row) => y >= row.y && y < row.y + row.height);
    if (x < GUTTER - 6) return node >= 0 ? { node } : null;
    if (node >= 0 && Math.abs(y - this.rows[node].line) < 8) {
      const rows = run.eventsOf[node];
      const place = firstAt(run.events.at, this.at(x - 6), (k) => rows[k], rows.length);
      let best = null, gap = 7;
      for (let i = place; i < rows.length && i < place + 200; i++) {
        const away = Math.abs(this.x(run.events.at[rows[i]]) - x);
        if (away < gap) { gap = away; best = rows[i]; }
      }
      if (best !== null) return { event: best };
    }
    let found = null, near = 5;
    for (const arrow of this.arrows) {
      const away = distance(x, y, arrow);
      if (away < near) { near = away; found = { message: arrow.message }; }
    }
    return found ?? this.hitSpan(x, y, node);
  }

  hitSpan(x, y, node) {
    const { spans } = this.run;
    for (const { span, row } of this.faults) {
      const top = AXIS + row * FAULT_ROW;
      if (y >= top && y < top + FAULT_ROW && x >= this.x(spans.begin[span]) && x <= this.x(spans.end[span] ?? this.run.end)) return { span };
    }
    let found = null;
    for (let i = 0; node >= 0 && i < spans.node.length; i++) {
      const top = this.rows[node].line + 12 + Math.min(spans.track[i], TRACKS_MAX - 1) * TRACK;
      if (spans.node[i] !== node || spans.kind[i] === PAUSE || y < top || y > top + TRACK) continue;
      const begin = this.x(spans.begin[i]);
      if (spans.kind[i] === LEASE ? Math.abs(x - begin - 2) < 5 : !found && x >= begin && x <= this.x(spans.end[i] ?? this.run.end)) {
        found = { span: i };
      }
    }
    return found;
  }
}

function distance(x, y, { x: x1, y: y1, right: x2, bottom: y2 }) {
  const dx = x2 - x1, dy = y2 - y1;
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}
