"use strict";
// The page: what is chosen, and who is told of it.

(function start() {
  const get = (id) => document.getElementById(id);
  const run = readRun(get("data").textContent);
  const canvas = get("diagram"), overview = get("overview"), tip = get("tip");
  let due = false;
  const diagram = new Diagram(run, canvas, later);
  const moment = new MomentPanel(run, get("moment"), choose);
  const ledger = new LedgerPanel(run, get("ledger"), choose);
  const events = new EventsPanel(run, get("events"), choose);

  function later() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      diagram.draw();
      drawOverview();
      get("note").textContent = diagram.drawn.left ? `${diagram.drawn.left.toLocaleString("en")} more messages here: zoom in to see them` : "";
      window.tfsvcPage = { drawn: { ...diagram.drawn }, cursor: diagram.cursor, from: diagram.from, to: diagram.to };
    });
  }

  function choose(what) {
    diagram.selected = what.event === undefined && what.message === undefined ? null : what;
    if (what.event !== undefined) moveTo(run.events.at[what.event]);
    else if (what.message !== undefined) moveTo(run.messages.sent[what.message]);
    else if (what.at !== undefined) moveTo(what.at);
    tell(what);
    if (what.event !== undefined) events.show(what.event);
    later();
  }

  function moveTo(at) {
    diagram.cursor = at;
    diagram.reveal(at);
    get("clock").textContent = clock(at);
    moment.show(at);
    ledger.show(at);
    later();
  }

  function tell(what) {
    const box = get("detail");
    const name = (node) => run.nodes[node][0];
    if (what.event !== undefined) {
      const { at, node, kind, text } = run.events;
      const chain = causes(run, what.event).slice(1);
      box.replaceChildren(element("h2", {}, `${name(node[what.event])}: ${run.text(text[what.event])}`),
        element("p", {}, `event ${what.event + 1}, ${KINDS[kind[what.event]]}, at ${clock(at[what.event])}${chain.length ? "; what led to it, newest first:" : ""}`),
        element("ol", {}, ...chain.map((event) => element("li", {}, eventRow(run, event, -1, choose)))));
    } else if (what.message !== undefined) {
      const m = run.messages, i = what.message;
      const fate = ["arrived", "was lost", "its other end was not recorded"][m.fate[i]];
      const more = [m.again[i] ? "second copy" : "", m.fate[i] === 0 && !m.heard[i] ? "nobody heard it" : "", m.fate[i] === 0 ? `took ${clock(m.arrived[i] - m.sent[i])}` : ""].filter(Boolean);
      const ends = [["said in", m.said[i]], ["heard in", m.heard[i]]].filter(([, event]) => event);
      box.replaceChildren(element("h2", {}, `${name(m.source[i])} → ${name(m.target[i])}: ${run.text(m.text[i])}`),
        element("p", {}, `${m.asks[i] ? "request" : "answer"} sent at ${clock(m.sent[i])}, ${[fate, ...more].join(", ")}`),
        element("ol", {}, ...ends.map(([, event]) => element("li", {}, eventRow(run, event - 1, -1, choose)))));
    } else if (what.span !== undefined) {
      const s = run.spans, i = what.span;
      box.replaceChildren(element("h2", {}, `${s.node[i] < 0 ? "fault" : name(s.node[i])}: ${run.text(s.text[i])}`),
        element("p", {}, `from ${clock(s.begin[i])} ${s.end[i] === null ? "on" : `to ${clock(s.end[i])}`}`));
    } else {
      box.replaceChildren(element("p", {}, "Click an event or a message to see what led to it, or anywhere to choose a moment. Drag to pan, turn the wheel to zoom, ← and → step from event to event."));
    }
  }

  function step(by) {
    const { at, kind } = run.events;
    const from = diagram.selected?.event ?? (by > 0 ? firstAt(at, diagram.cursor) - 1 : firstAt(at, diagram.cursor));
    for (let i = from + by; i >= 0 && i < at.length; i += by) {
      if (kind[i] !== 6) { choose({ event: i }); return; }
    }
  }

  const actions = {
    in: () => diagram.zoom(0.5, Math.min(Math.max(diagram.cursor, diagram.from), diagram.to)), out: () => diagram.zoom(2), all: () => diagram.look(0, run.end),
    previous: () => step(-1), next: () => step(1),
  };

  function describe(what) {
    if (what.event !== undefined) return `${clock(run.events.at[what.event])}  ${run.text(run.events.text[what.event])}`;
    if (what.message !== undefined) {
      const m = run.messages, i = what.message;
      return `${run.nodes[m.source[i]][0]} → ${run.nodes[m.target[i]][0]}: ${run.text(m.text[i])}${m.fate[i] === LOST ? " (lost)" : m.again[i] ? " (second copy)" : ""}`;
    }
    return what.span === undefined ? "" : run.text(run.spans.text[what.span]);
  }

  // --- the pointer ---

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, from: diagram.from, to: diagram.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const by = event.offsetX - held.x;
      if (Math.abs(by) > 3) { held.moved = true; canvas.classList.add("dragging"); }
      if (held.moved) diagram.look(held.from - by / diagram.scale, held.to - by / diagram.scale);
      return;
    }
    const what = diagram.hit(event.offsetX, event.offsetY);
    const text = what ? describe(what) : "";
    tip.hidden = !text;
    if (text) {
      tip.textContent = text;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - 10 - tip.offsetHeight : event.clientY + 16}px`;
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const dragged = held?.moved;
    held = null;
    canvas.classList.remove("dragging");
    if (dragged) return;
    const what = diagram.hit(event.offsetX, event.offsetY) ?? {};
    choose(what.event === undefined && what.message === undefined ? { ...what, at: clamp(diagram.at(event.offsetX)) } : what);
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  get("scroll").addEventListener("wheel", (event) => {
    if (event.shiftKey) return; // scrolls the nodes
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) diagram.pan(event.deltaX / diagram.scale);
    else diagram.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200), diagram.at(event.offsetX));
  }, { passive: false });

  function clamp(at) { return Math.max(0, Math.min(run.end, Math.round(at))); }

  // --- the overview ---

  function drawOverview() {
    const width = overview.clientWidth, height = overview.clientHeight, ratio = window.devicePixelRatio || 1;
    overview.width = width * ratio;
    overview.height = height * ratio;
    const pen = overview.getContext("2d");
    pen.scale(ratio, ratio);
    const x = (at) => (at / run.end) * width;
    if (!drawOverview.bins || drawOverview.width !== width) {
      drawOverview.width = width;
      drawOverview.bins = new Float64Array(Math.ceil(width / 2) + 1);
      for (const at of run.events.at) drawOverview.bins[Math.floor(x(at) / 2)]++;
      drawOverview.most = drawOverview.bins.reduce((most, count) => Math.max(most, count), 1);
    }
    pen.fillStyle = diagram.colour("fault");
    for (const { span } of diagram.faults) pen.fillRect(x(run.spans.begin[span]), 0, Math.max(2, x(run.spans.end[span] ?? run.end) - x(run.spans.begin[span])), height);
    pen.fillStyle = diagram.colour("answer");
    drawOverview.bins.forEach((count, i) => { if (count) pen.fillRect(i * 2, height, 1.5, -(3 + (height - 8) * Math.sqrt(count / drawOverview.most))); });
    run.lives.end.forEach((end, life) => {
      if (end !== null && run.text(run.lives.how[life])) { pen.fillStyle = diagram.colour("bad"); pen.fillRect(x(end) - 1, 0, 2, height); }
    });
    pen.fillStyle = diagram.colour("accent");
    pen.globalAlpha = 0.13;
    pen.fillRect(x(diagram.from), 0, x(diagram.to - diagram.from), height);
    pen.globalAlpha = 1;
    pen.fillRect(x(diagram.from) - 1, 0, 2, height);
    pen.fillRect(x(diagram.to) - 1, 0, 2, height);
    pen.fillStyle = diagram.colour("cursor");
    pen.fillRect(x(diagram.cursor), 0, 1.5, height);
  }

  let brushing = null;
  overview.addEventListener("pointerdown", (event) => { brushing = event.offsetX; overview.setPointerCapture(event.pointerId); });
  overview.addEventListener("pointermove", (event) => {
    if (brushing === null || Math.abs(event.offsetX - brushing) < 4) return;
    const at = (x) => (x / overview.clientWidth) * run.end;
    diagram.look(Math.min(at(brushing), at(event.offsetX)), Math.max(at(brushing), at(event.offsetX)));
  });
  overview.addEventListener("pointerup", (event) => {
    if (brushing !== null && Math.abs(event.offsetX - brushing) < 4) choose({ at: clamp((event.offsetX / overview.clientWidth) * run.end) });
    brushing = null;
  });

  // --- everything else ---

  document.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", () => actions[button.dataset.do]()));
  document.querySelectorAll("[data-show]").forEach((tick) => tick.addEventListener("change", () => {
    diagram.show[tick.dataset.show] = tick.checked;
    diagram.layout();
    later();
  }));
  document.querySelectorAll("[data-tab]").forEach((button) => button.addEventListener("click", () => {
    document.querySelectorAll("[data-tab]").forEach((other) => other.classList.toggle("on", other === button));
    document.querySelectorAll(".tab").forEach((tab) => { tab.hidden = tab.id !== button.dataset.tab; });
    ledger.show(diagram.cursor);
    events.show(diagram.selected?.event ?? -1);
  }));
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input")) return;
    const action = { "+": "in", "=": "in", "-": "out", 0: "all", ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (action) { event.preventDefault(); actions[action](); }
  });
  new ResizeObserver(() => { diagram.layout(); later(); }).observe(get("scroll"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);

  get("title").textContent = run.title;
  get("facts").append(...run.facts.filter(([name]) => name !== "trace hash" && name !== "scenario").slice(0, 6).flatMap(([name, value], i) => [i ? "  ·  " : "", `${name} `, element("b", {}, value)]));
  if (run.problems.length) {
    get("verdict").hidden = false;
    get("verdict").append(...run.problems.slice(0, 5).map((problem) => element("div", {}, problem)));
  }
  const line = (colour, extra = "", cross = false) => `<svg width="26" height="10"><path d="M1 5h20" stroke="var(--${colour})" stroke-width="1.6" ${extra}/>${cross ? `<path d="M18 1l7 8M25 1l-7 8" stroke="var(--${colour})" stroke-width="1.6"/>` : `<path d="M25 5l-6-3v6z" fill="var(--${colour})"/>`}</svg>`;
  const box = (colour) => `<svg width="14" height="10"><rect width="14" height="8" y="1" fill="var(--${colour})"/></svg>`;
  for (const [picture, text] of [[line("request"), "request"], [line("answer"), "answer"], [line("lost", 'stroke-dasharray="4 3"', true), "lost"],
    [line("again"), "second copy"], [line("unheard"), "arrived, not heard"], [line("answer", 'stroke-dasharray="4 3"'), "peer not recorded"],
    [box("lane-edge"), "lane"], ['<svg width="8" height="10"><path d="M1 1l6 4-6 4z" fill="var(--lease)"/></svg>', "lease of splits"],
    [box("taken"), "elements taken"], [box("pause"), "paused"], [box("fault-edge"), "fault"]]) {
    const entry = element("span");
    entry.innerHTML = picture;
    entry.append(text);
    get("legend").append(entry);
  }
  fillRun(run, get("run"));
  tell({});
  moveTo(firstTrouble(run));
})();
