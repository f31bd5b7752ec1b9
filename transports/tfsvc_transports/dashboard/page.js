"use strict";
// The page: asks its dispatcher again and again, or shows what was saved in it.

const EVERY_MS = 2000;

const at = (id) => document.getElementById(id);
const model = new Model();
const tables = new Tables(at);
const shown = new Set(Object.keys(KINDS));
let heard = 0;

function showHeading() {
  const d = model.description, where = data.live ? `page at ${location.host}, dispatcher` : `dispatcher at ${data.target},`;
  at("title").textContent = data.note || "tfsvc";
  at("facts").textContent = `${where} up for ${duration(d.up_ns)}${d.deployment_mode && d.deployment_mode !== "UNSPECIFIED" ? `, ${d.deployment_mode.toLowerCase()}` : ""}`;
  if (!data.live) at("pulse").textContent = `saved ${new Date(data.at).toLocaleString()}`;
}

function showVerdict() {
  const { is, says, why } = model.verdict(), box = at("verdict");
  if (box.dataset.says === says + why) return;
  box.dataset.says = says + why;
  box.className = is;
  box.replaceChildren(element("b", {}, says), element("p", {}, why));
}

function showKinds() {
  at("kinds").replaceChildren(...Object.entries(KINDS).map(([kind, [, title]]) => {
    const tick = element("input", { type: "checkbox", "data-kind": kind });
    tick.checked = shown.has(kind);
    tick.addEventListener("change", () => { if (tick.checked) shown.add(kind); else shown.delete(kind); showHappenings(); });
    return element("label", {}, tick, title);
  }));
}

function showHappenings() {
  const found = model.happenings.filter((h) => shown.has(h.kind)).slice(0, 500), box = at("happenings");
  const key = `${found.length} ${found.length ? `${found[0].number} ${found[0].at}` : ""} ${[...shown].join()}`;
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...found.map((h) => element("div", { class: `happening ${h.kind in KINDS ? h.kind : "note"}` },
    element("time", { title: new Date(h.at).toISOString() }, new Date(h.at).toLocaleTimeString("en", { hour12: false })),
    element("b", { class: `kind ${h.kind in KINDS ? h.kind : "note"}` }, (KINDS[h.kind] ?? [h.kind])[0]),
    element("span", {}, h.text))));
  if (!found.length) box.append(element("p", { class: "muted" }, "Nothing yet."));
  at("left-out").textContent = model.leftOut ? `${count(model.leftOut, "older one")} not kept` : "";
}

function show() {
  showHeading();
  showVerdict();
  showGlance(model, at("glance"));
  showStrip(model, showCharts(model, at("charts")), at("strip"), at("span").firstElementChild);
  showHappenings();
  tables.set(model);
  const d = model.description, live = d.workers.filter((worker) => worker.state === "live").length;
  at("workers-count").textContent = d.workers.length === d.census.workers ? `${live.toLocaleString("en")} live` : `the first ${d.workers.length.toLocaleString("en")} of ${d.census.workers.toLocaleString("en")}`;
  window.tfsvcDashboard = { looks: (window.tfsvcDashboard?.looks ?? 0) + 1, happenings: model.happenings.length };
}

async function fetchJson(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(10000) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function look() {
  try {
    const description = await fetchJson("api/description");
    const known = model.description && model.description.incarnation === description.incarnation ? model.newest : 0;
    const chronicle = await fetchJson(`api/chronicle?after=${known}`);
    heard = Date.now();
    model.take(description, chronicle, heard);
    show();
    at("pulse").className = "live";
    at("pulse").textContent = "live";
  } catch (error) {
    at("pulse").className = "gone";
    at("pulse").textContent = heard ? `no answer for ${duration((Date.now() - heard) * 1e6)}; still asking` : "no answer; still asking";
    if (!(error instanceof TypeError || error instanceof DOMException)) console.warn(String(error));
  }
}

async function watch() {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((resolve) => {
      const again = () => { clearTimeout(timer); document.removeEventListener("visibilitychange", again); resolve(); };
      const timer = setTimeout(again, EVERY_MS);
      document.addEventListener("visibilitychange", again);
    });
  }
}

showKinds();
if (data.live) watch();
else { model.take(data.description, data.chronicle, data.at); show(); }
