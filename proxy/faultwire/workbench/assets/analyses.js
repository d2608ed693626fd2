// Results of searches as pages of their own: what was found, the evidence, and how to see it again.

import { get, getText } from "/api.js";
import { byId, el, viewOf } from "/dom.js";
import { duration } from "/list.js";
import { evolved, mutants } from "/mutants.js";

const VIEWS = { explore: explored, shrink: shrunk, evolve: evolved, mutations: mutants };
export const NAMES = { explore: "Explored faults", shrink: "Shrunk failure", evolve: "Evolved mutants", mutations: "Mutants of a run" };

/** The address of a result within this page. */
export const hashOf = (one) => `#/${one.kind}/${encodeURIComponent(one.id)}`;

/** Show the result that the address names, or the list where it names none. `jump` opens an exchange there. */
export async function followHash(jump) {
  const [kind, id] = location.hash.startsWith("#/") ? location.hash.slice(2).split("/") : [];
  const named = Object.hasOwn(VIEWS, kind || "") && id;
  document.body.classList.toggle("analysing", Boolean(named));
  byId("analysis").hidden = !named;
  if (!named) {
    byId("analysis-view").replaceChildren();
    return;
  }
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const path = `/api/analyses/${kind}/${id}`;
  byId("analysis-title").textContent = `${NAMES[kind]} ${decodeURIComponent(id)}`;
  byId("analysis-view").replaceChildren(el("p", { role: "status" }, "reading…"));
  let nodes;
  try {
    nodes = VIEWS[kind](await get(path), { path, jump, id: decodeURIComponent(id) });
  } catch (refused) {
    nodes = [card(el("p", { class: "banner worse" }, `${refused.message}${refused.hint ? ` (${refused.hint})` : ""}`))];
  }
  if (location.hash !== `#/${kind}/${id}`) return;
  byId("analysis-view").replaceChildren(...nodes);
  byId("analysis").scrollTop = 0;
  byId("analysis-title").focus({ preventScroll: true });
}

/** Back to the list of exchanges. */
export function closeAnalysis() {
  if (byId("analysis").hidden) return false;
  location.hash = "#/";
  byId("list").focus();
  return true;
}

// ---------------------------------------------------------------- what all of them are made of

export const card = (...children) => el("section", { class: "card" }, ...children);
export const chip = (kind, text) => el("span", { class: `chip ${kind}` }, text);
export const list = (lines, name = "ledger") => el("ul", { class: name }, ...lines.map((one) => el("li", {}, one)));
export const runs = (count) => `${count.toLocaleString("en")} ${count === 1 ? "run" : "runs"}`;
export const more = (count) => (count ? el("p", { class: "dim" }, `… ${count.toLocaleString("en")} more, in the file`) : null);

export function facts(...pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "facts" }, ...shown.map(([name, value, small]) => el("div", {}, el("dt", {}, name), el("dd", {}, value, small ? el("small", {}, small) : null))));
}

export function table(heads, rows, label) {
  return el("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": label },
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((one) => el("td", {}, one)))))));
}

/** What differs between two texts, as reports show it. */
export function change(lines) {
  const kinds = { "-": "minus", "+": "plus", "…": "gap" };
  if (!lines.length) return el("p", { class: "dim" }, "the same text");
  return el("div", { class: "diff" }, ...lines.map(([sign, text]) => el("div", { class: kinds[sign] || "" }, `${sign} ${text}`)));
}

export const folded = (title, ...children) => el("details", { class: "viewer" }, el("summary", {}, title), ...children);

/** The exchanges of a tape, read once somebody looks: each opens as it does in the list. */
export function evidence(title, path, query, jump) {
  const made = folded(title);
  made.addEventListener("toggle", async () => {
    if (!made.open || made.dataset.filled) return;
    made.dataset.filled = "yes";
    try {
      const found = await get(`${path}/exchanges?${query}`);
      made.append(...found.rows.map((row) => oneOf(row, path, query, found.open ? jump : null)));
      if (found.more) made.append(el("p", { class: "dim" }, "… and more, on the tape"));
    } catch (refused) {
      made.append(el("p", { class: "banner" }, refused.message));
    }
  });
  return made;
}

function oneOf(row, path, query, jump) {
  const title = `${row.number} ${row.tool || row.model || `${row.method} ${row.host}${row.path}`}: ${row.status ?? "no response"}, ${row.ending.replace("_", " ")}, ${duration(row.duration_ms)}`;
  const made = folded(title);
  if (row.gist) made.querySelector("summary").append(el("span", { class: "dim" }, row.gist));
  for (const id of row.fired) made.querySelector("summary").append(chip("fault", id));
  made.addEventListener("toggle", async () => {
    if (!made.open || made.dataset.filled) return;
    made.dataset.filled = "yes";
    const rest = new URLSearchParams(query);
    rest.set("session", row.session);
    if (jump) {
      const go = el("button", { type: "button" }, "Open in the list");
      go.addEventListener("click", () => { location.hash = "#/"; jump(row.session, row.number); });
      made.append(go);
    }
    try {
      made.append(el("div", { class: "shown" }, ...viewOf(await getText(`${path}/exchanges/${row.number}?${rest}`))));
    } catch (refused) {
      made.append(el("p", { class: "banner worse" }, refused.message));
    }
  });
  return made;
}

// ---------------------------------------------------------------- faults: explored, shrunk

function explored(found, { path, jump }) {
  const failed = found.failures.length;
  return [
    card(el("p", {}, el("b", {}, failed ? `${failed} ${failed === 1 ? "set" : "sets"} of faults with which the agent fails` : "No failure was found"),
      ...(found.ended === "done" ? [] : [" ", chip("unknown", `? ended: ${found.ended.replace("_", " ")}`)])),
      facts(["a run is a failure where", found.failing], ["runs", found.runs.toLocaleString("en"), `${found.seconds.toLocaleString("en")} s`])),
    ...found.failures.flatMap((one, at) => [el("h3", {}, `Failure ${at + 1}: ${one.cause}`), find(one, at + 1, path, jump)]),
    more(found.failures_not_shown),
    ...(found.flaky.length ? [el("h3", {}, "Failed once, and not again"), card(list(found.flaky))] : []),
    ...(found.claim ? [el("h3", {}, "What is claimed"), claim(found.claim)] : []),
  ].filter(Boolean);
}

function find(one, number, path, jump) {
  return card(
    el("ul", { class: "ledger" }, ...one.faults.map((fault) => el("li", {}, chip("fault", fault.entry), ` on ${fault.call}`))),
    el("p", {}, `failed ${one.failed} of ${runs(one.runs)}: ${one.reason}`),
    ...(one.repro ? repro(one.repro, path, `repro=${number}`, jump, one.repro.failed_there) : [el("p", { class: "dim" }, "No folder shows it: none was written, or it did not fail once more.")]));
}

function claim(one) {
  return card(
    el("p", {}, chip(one.holds ? "pass" : "unknown", one.holds ? "✓ holds" : "? none"), " ", one.sentence),
    ...one.reasons.map((reason) => folded(reason.words, list(reason.sets), more(reason.sets_not_shown || 0))));
}

function shrunk(found, { path, jump }) {
  if (found.problem) return [card(el("p", { class: "banner worse" }, found.problem))];
  const many = found.decisions.length + found.decisions_not_shown;
  return [card(el("p", {}, el("b", {}, `The agent failed with ${many === 1 ? "this decision" : `these ${many} decisions`}`)), ...repro(found, path, "", jump))];
}

/** A repro folder: its decisions, how to see the failure, and what was exchanged. */
function repro(found, path, query, jump, failed) {
  if (found.problem) return [el("p", { class: "banner" }, found.problem)];
  const seen = failed === undefined ? null : failed ? "it failed there" : "it did not fail there";
  return [
    list(found.decisions), more(found.decisions_not_shown),
    facts(["comes in", `${Math.round(found.rate * 100)} % of runs`, `seen within ${runs(found.runs)}`], ["seed", String(found.seed)], ["for one run", `${found.timeout_s} s`], ["judged by", found.oracle], ["prompt", found.prompt]),
    el("p", {}, "To see it, where the agent starts", seen ? ` (${seen})` : "", ":"),
    el("pre", { tabindex: 0, "aria-label": "the command" }, `sh ${found.folder}/run.sh${found.command ? "" : " COMMAND"}`),
    found.command ? el("p", { class: "dim" }, `It runs: ${found.command.join(" ")}`) : null,
    found.contract ? folded("The invariant that fails", el("pre", { tabindex: 0, "aria-label": "the invariant" }, found.contract)) : null,
    evidence("What was exchanged", path, query, jump),
  ].filter(Boolean);
}
