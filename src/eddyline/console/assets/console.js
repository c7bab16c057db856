"use strict";
// Fetches the parts of the page that are in view, and sends statements. The server makes the HTML.

const PERIOD_MS = 2000;
const ANSWER_MS = 5000;
const CHECK_MS = 350;
const byId = (id) => document.getElementById(id);
const part = (name) => document.querySelector(`[data-part="${name}"]`);

let view = "plan";
let query = "";
let page = 1;
let round = 0; // of refreshing: what an earlier one fetches is not shown
let answerAt = 0;

takeToken();
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token-text").value.trim());
  start();
});
window.addEventListener("hashchange", () => { takeToken(); show(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
byId("search").addEventListener("input", () => { page = 1; later(refresh, 200); });
byId("order").addEventListener("change", () => { page = 1; refresh(); });
byId("before").addEventListener("click", () => { page = Math.max(1, page - 1); refresh(); });
byId("next").addEventListener("click", () => { page += 1; refresh(); });
byId("answer").addEventListener("toggle", () => { answerAt = 0; refresh(); });
byId("sql").addEventListener("input", () => later(check, CHECK_MS));
byId("add-form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
document.addEventListener("click", (event) => {
  const name = event.target.dataset ? event.target.dataset.drop : undefined;
  if (name !== undefined && confirm(`Drop query ${name}?`)) drop(name);
});
start();

function takeToken() { // which stays in this tab
  if (location.hash.startsWith("#token=")) {
    sessionStorage.setItem("token", decodeURIComponent(location.hash.slice(7)));
    history.replaceState(null, "", location.pathname + "#plan");
  }
}

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function start() {
  const response = await reach("settings");
  if (response === null) return later(start, PERIOD_MS);
  byId("token").hidden = response.status !== 401;
  if (!response.ok) return;
  byId("add-link").hidden = !(await response.json()).can_change;
  show();
  if (!start.ticking) {
    start.ticking = true;
    setInterval(() => { if (!document.hidden) refresh(); }, PERIOD_MS);
  }
}

function show() {
  const [name, ...rest] = (location.hash.slice(1) || "plan").split("/");
  const known = ["plan", "queries", "streams", "health", "query", "add"];
  view = known.includes(name) ? name : "plan";
  const next = decodeURIComponent(rest.join("/"));
  if (view === "query" && next !== query) {
    for (const each of ["query", "plan-of", "changes", "answer", "explain"]) put(part(each), "");
    byId("answer").open = false;
  }
  query = next;
  for (const each of known) byId(each).hidden = each !== view;
  for (const link of document.querySelectorAll("nav a"))
    link.classList.toggle("here", link.hash === `#${view}`);
  refresh();
}

async function refresh() {
  const mine = (round += 1);
  const name = encodeURIComponent(query);
  const wanted = [["head", byId("head"), "parts/head"]];
  if (view === "plan") wanted.push(["plan", part("plan"), "parts/plan"]);
  if (view === "streams" || view === "health") wanted.push([view, part(view), `parts/${view}`]);
  if (view === "queries") wanted.push(["queries", part("queries"), listPath()]);
  if (view === "query") {
    for (const each of ["query", "changes", "explain"])
      wanted.push([each, part(each), `parts/${each}?name=${name}`]);
    wanted.push(["plan-of", part("plan-of"), `parts/plan?query=${name}`]);
    if (byId("answer").open && Date.now() - answerAt > ANSWER_MS) {
      answerAt = Date.now();
      wanted.push(["answer", part("answer"), `parts/answer?name=${name}`]);
    }
  }
  await Promise.all(wanted.map(async ([what, place, path]) => {
    const response = await reach(path);
    if (response === null) return;
    if (response.status === 401) { byId("token").hidden = false; return; }
    const text = await response.text();
    if (mine === round || what === "answer") put(place, text);
    if (what === "queries") takePages();
  }));
}

function listPath() {
  const asked = { search: byId("search").value, order: byId("order").value, page };
  return `parts/queries?${new URLSearchParams(asked)}`;
}

function takePages() {
  const pages = part("queries").querySelector(".pages");
  if (pages === null) return;
  page = Number(pages.dataset.page);
  byId("before").disabled = page <= 1;
  byId("next").disabled = page >= Number(pages.dataset.pages);
}

function put(place, html) { // only what has changed, so that a selection stays
  if (place.shown === html) return;
  place.shown = html;
  const scrolled = [place.scrollLeft, place.scrollTop];
  place.innerHTML = html;
  [place.scrollLeft, place.scrollTop] = scrolled;
}

async function check() {
  const sql = byId("sql").value;
  if (!sql.trim()) return report("", "");
  const response = await send("check", sql);
  if (response === null || sql !== byId("sql").value) return;
  const found = await outcome(response);
  report(found.error ? "wrong" : "right", found.error ? found.error.text : "no errors");
}

async function run() {
  const response = await send("statements", byId("sql").value);
  if (response === null) return;
  const found = await outcome(response);
  if (found.error) return report("wrong", found.error.text);
  report("right", `done: ${found.done.join(", ")}`);
  if (found.done.length) location.hash = `#query/${encodeURIComponent(found.done.at(-1))}`;
}

async function drop(name) {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const response = await send("statements", `DROP QUERY ${quoted}`);
  if (response === null) return;
  const found = await outcome(response);
  problem(found.error ? found.error.text : "");
  if (!found.error && view === "query") location.hash = "#queries";
  else refresh();
}

async function outcome(response) {
  const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
  return isJson ? response.json() : { error: { text: await response.text() } };
}

function report(kind, text) {
  const [message, ...place] = text.split("\n"); // then the line, and a mark below the wrong word
  const made = [["p", message], ["pre", place.join("\n")]].filter((each) => each[1]);
  byId("checked").className = kind;
  byId("checked").replaceChildren(...made.map(([name, content]) => {
    const element = document.createElement(name);
    element.textContent = content;
    return element;
  }));
}

function problem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

function send(path, sql) {
  const sent = { ...headers(), "Content-Type": "application/json" };
  return reach(path, { method: "POST", headers: sent, body: JSON.stringify({ sql }) });
}

async function reach(path, options = { headers: headers() }) {
  try {
    const response = await fetch(path, { ...options, cache: "no-store" });
    if (reach.failed) problem("");
    reach.failed = false;
    return response;
  } catch {
    reach.failed = true;
    problem("There is no connection: it may have ended.");
    return null;
  }
}

function later(act, ms) { // once, after the last call
  clearTimeout(act.timer);
  act.timer = setTimeout(act, ms);
}
