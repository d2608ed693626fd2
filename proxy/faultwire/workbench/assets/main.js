// The page: it enters, reads the rows that are there, and takes those that come.

import { enter, get, post, readOnly } from "/api.js";
import { byId, el } from "/dom.js";
import { Exchange } from "/exchange.js";
import { List } from "/list.js";
import { NEWEST, Store } from "/store.js";

// What the first rows do not need is loaded behind them.
const later = (path, name) => async (...given) => (await import(path))[name](...given);
const openFork = later("/after.js", "openFork");
const openRuns = later("/after.js", "openRuns");
const openArm = later("/arm.js", "openArm");
const showArmed = later("/arm.js", "showArmed");
const lose = later("/held.js", "lose");
const openFirst = later("/held.js", "openFirst");
const showHeld = later("/held.js", "show");
const forget = later("/searches.js", "forget");
const showSearches = later("/searches.js", "showSearches");
const openShare = later("/share.js", "openShare");
const followHash = later("/analyses.js", "followHash");
const closeAnalysis = later("/analyses.js", "closeAnalysis");
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

const store = new Store(draw);
const exchange = new Exchange(jump);
let list;
let tape = null;
let verification = null;
let drawing = false;
let filterText = "";
let filtering = null;

async function jump(session, number) {
  const { at } = await get(`/api/place?session=${encodeURIComponent(session)}&number=${number}`).catch(() => ({ at: null }));
  const row = at === null ? null : await store.fetched(at);
  if (row) exchange.open(row);
}

function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    list.show(store.layOut());
    if (byId("follow").checked && tape && tape.live) list.toEnd();
    totals();
  });
}

let said = "";

function totals() {
  const found = store.totals;
  const number = (one) => one.toLocaleString("en");
  const facts = [
    ["exchanges", number(found.exchanges), store.matching === null ? "" : `${number(store.matching.size)} match`],
    ["faults fired", number(found.fired), ""],
    ["tokens", `${number(found.tokens_in)} in, ${number(found.tokens_out)} out`, found.unread ? `${number(found.unread)} not read yet` : ""],
    ["cost", `$${Number(found.cost_usd).toFixed(6)}`, found.cost_unknown ? `${number(found.cost_unknown)} ${found.cost_unknown === 1 ? "answer" : "answers"} unpriced` : ""],
    ["verification", verification === null ? "not asked for" : verification.ok ? `verifies, ${verification.class}` : "does not verify", ""],
  ];
  const now = JSON.stringify(facts);
  if (now === said) return;
  said = now;
  byId("totals").replaceChildren(...facts.map(([name, value, small]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value, small ? el("small", {}, small) : null))));
}

function about(now) {
  tape = now;
  byId("tape").textContent = now.name;
  document.title = `faultwire · ${now.name}`;
  byId("state").textContent = now.problem ? "damaged" : now.reading ? "reading" : now.live ? "live" : "ended";
  byId("state").className = `chip ${now.problem ? "fail" : now.live ? "pass" : "quiet"}`;
  const banners = now.notes.map((note) =>
    el("p", { class: `card banner${note.bad ? " worse" : ""}` }, `${note.bad ? "bad" : "note"} on the tape: ${note.code}: ${note.text}`));
  if (now.problem) banners.push(el("p", { class: "card banner worse" }, `reading stopped: ${now.problem}. Later exchanges are not shown.`));
  if (verification !== null && verification.findings.length) banners.push(findings(verification));
  byId("banners").replaceChildren(...banners);
}

function findings(report) {
  const lines = report.findings.map((one) =>
    el("li", {}, el("span", { class: `chip ${one.note ? "unknown" : "fail"}` }, one.code), ` ${one.message}`, one.seq === null ? "" : ` (event ${one.seq})`));
  if (report.findings_not_shown) lines.push(el("li", {}, `… ${report.findings_not_shown} more`));
  return el("details", { class: `card banner${report.ok ? "" : " worse"}`, open: !report.ok },
    el("summary", {}, `${report.findings.length} ${report.findings.length === 1 ? "finding" : "findings"} of the verification`), el("ul", { class: "ledger" }, ...lines));
}

async function filter(from = 0) {
  const told = byId("filtered");
  const text = filterText;
  try {
    const places = (await get(`/api/matches?on=${encodeURIComponent(text)}&from=${from}`)).places;
    if (text !== filterText) return;
    if (places === null) store.matching = null;
    else if (from) for (const at of places) store.matching.add(at);
    else store.matching = new Set(places);
    told.textContent = "";
    byId("on").removeAttribute("aria-invalid");
  } catch (refused) {
    told.textContent = `${refused.message}${refused.hint ? ` (${refused.hint})` : ""}`;
    byId("on").setAttribute("aria-invalid", "true");
    if (!from) store.matching = null;
  }
  store.layAnew();
  draw();
}

function refilter(first) {
  if (!filterText) return;
  const from = filtering === null ? first : Math.min(filtering.from, first);
  if (filtering !== null) clearTimeout(filtering.timer);
  filtering = { from, timer: setTimeout(() => { filtering = null; filter(from); }, 250) };
}

function live() {
  const source = new EventSource(`/api/live?after=${store.revision}&newest=${NEWEST}`);
  source.addEventListener("news", (event) => {
    const news = JSON.parse(event.data);
    store.take(news);
    const first = [...news.rows.map((row) => row.at), ...news.others].reduce((one, other) => Math.min(one, other), Infinity);
    if (Number.isFinite(first)) refilter(first);
    const again = news.rows.find((row) => row.at === exchange.at && row.read);
    if (again) exchange.open(again, false);
    else if (news.others.includes(exchange.at)) reopen(exchange.at);
    draw();
  });
  source.addEventListener("searches", (event) => showSearches(JSON.parse(event.data)));
  source.addEventListener("control", (event) => control(JSON.parse(event.data)));
  source.addEventListener("tape", (event) => { about(JSON.parse(event.data)); draw(); });
  source.addEventListener("error", () => {
    source.close(); // a browser would go on from the first revision
    byId("state").textContent = "not connected";
    byId("state").className = "chip unknown";
    setTimeout(() => get("/api/tape").then((now) => { about(now); live(); }, gone), 1000);
  });
}

function control(now) {
  showHeld(now);
  showArmed(now);
}

function gone(refused) {
  if (refused.code === "ui.gone") {
    lose();
    forget();
    for (const id of ["control", "past", "share", "verify", "forks"]) byId(id).hidden = true; // nobody would answer
  }
  const card = byId("closed");
  card.hidden = false;
  card.replaceChildren(el("p", {}, el("b", {}, refused.message)), el("p", {}, refused.hint), el("p", { class: "dim" }, refused.code));
}

/** The exchange that is open has changed, and stands far up in the list. */
async function reopen(at) {
  const row = await store.fetched(at);
  if (row && row.read && exchange.at === at) exchange.open(row, false);
}

async function openCurrent() {
  const item = list.current;
  const row = item && (item.row || (await store.fetched(item.at)));
  if (row) exchange.open(row);
}

function fork() {
  if (exchange.at !== null) openFork(exchange.row, tape.path);
}

function toggle(item) {
  if (!item || item.attempts.length < 2) return;
  const head = store.heads.get(item.at) ?? item.at;
  if (!store.open.delete(head)) store.open.add(head);
  store.layAnew();
  draw();
}

async function back() {
  if (!byId("analysis").hidden && (await closeAnalysis())) return;
  exchange.close();
  byId("list").focus();
}

const keys = {
  j: () => list.select(list.selected + 1), ArrowDown: () => list.select(list.selected + 1),
  k: () => list.select(list.selected - 1), ArrowUp: () => list.select(list.selected - 1),
  PageDown: () => list.select(list.selected + 15), PageUp: () => list.select(list.selected - 15),
  g: () => list.select(0), Home: () => list.select(0),
  G: () => list.select(list.length - 1), End: () => list.select(list.length - 1),
  Enter: openCurrent, x: () => toggle(list.current), Escape: back,
  b: () => { if (!byId("control").hidden) openArm(); }, h: openFirst,
  r: openRuns, F: fork, s: () => { if (!readOnly) openShare(); },
  "/": () => byId("on").focus(), f: () => byId("follow").click(), "?": () => byId("help").showModal(),
  1: () => exchange.pick(1), 2: () => exchange.pick(2), 3: () => exchange.pick(3), 4: () => exchange.pick(4), 5: () => exchange.pick(5),
};
const ofTheList = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "Enter"]);

const ofAnyView = new Set(["Escape", "b", "h", "r", "s", "?"]);

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, select, textarea") && event.key !== "Escape") return;
  if (ofTheList.has(event.key) && event.target !== byId("list")) return; // keys that the page itself has a use for
  const act = keys[event.key];
  if (!act || (!byId("analysis").hidden && !ofAnyView.has(event.key))) return;
  event.preventDefault();
  if (["j", "k", "g", "G"].includes(event.key)) byId("follow").checked = false;
  act();
}

async function start() {
  try {
    await enter();
  } catch (refused) {
    gone(refused);
    return;
  }
  byId("main").hidden = false;
  byId("share").hidden = byId("verify").hidden = readOnly;
  byId("reads").hidden = !readOnly;
  list = new List(byId("list"), store, { onOpen: openCurrent, onToggle: toggle });
  const first = await get(`/api/start?newest=${NEWEST}`);
  verification = first.verification;
  about(first.tape);
  store.take(first.news);
  draw();
  byId("list").focus();
  if (location.hash === "") await painted(); // else another view is wanted, and not the list
  // What a live page needs at its end is there before: nobody answers then.
  await Promise.all(["/held.js", "/searches.js"].map((path) => import(path)));
  control(first.control);
  live();
  await followHash(jump);
  addEventListener("hashchange", () => followHash(jump));
  document.body.dataset.ready = String(Math.round(performance.now()));
}

document.addEventListener("keydown", pressed);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("on").addEventListener("input", () => {
  filterText = byId("on").value.trim();
  if (filtering !== null) clearTimeout(filtering.timer);
  filtering = { from: 0, timer: setTimeout(() => { filtering = null; filter(); }, 150) };
});
byId("back").addEventListener("click", back);
byId("analysis-back").addEventListener("click", back);
byId("past").addEventListener("click", openRuns);
byId("forks").addEventListener("click", fork);
byId("control").addEventListener("click", openArm);
byId("share").addEventListener("click", openShare);
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("verify").addEventListener("click", async () => {
  byId("verify").disabled = true;
  try {
    verification = await post("/api/verification", {});
    about(tape);
    totals();
  } catch (refused) {
    gone(refused);
  }
  byId("verify").disabled = false;
});
start();
