// Earlier runs: their reports, and one beside this tape. And how to fork from an exchange.

import { hashOf } from "/analyses.js";
import { get } from "/api.js";
import { byId, el } from "/dom.js";
import { duration } from "/list.js";

export async function openRuns() {
  const { runs, analyses, results } = await get("/api/runs");
  byId("runs-list").replaceChildren(...(runs.length ? runs.map(line) : [el("p", { class: "dim" }, "There are no runs in this folder.")]));
  byId("analyses").replaceChildren(...(analyses.length || results.length ? [el("h3", {}, "Analyses"), ...[...results, ...analyses].sort((one, other) => (one.written_at < other.written_at ? 1 : -1)).map(analysis)] : []));
  byId("comparison").replaceChildren();
  if (!byId("runs").open) byId("runs").showModal();
}

const chip = (gate) => el("span", { class: `chip ${gate === "pass" ? "pass" : gate === "fail" ? "fail" : "quiet"}` }, gate || "not judged");

function line(run) {
  const compare = run.here ? el("span", { class: "dim" }, "shown here")
    : el("button", { type: "button", disabled: !run.tape, "aria-label": `compare with ${run.id}` }, "Compare");
  if (!run.here) compare.addEventListener("click", () => show(run.id));
  const score = run.score === null ? "" : ` ${Math.round(run.score * 1000) / 10} of 100`;
  return el("div", { class: "run" }, el("span", { class: "mono" }, run.id), el("span", {}, `${run.command}, ${run.status}`),
    el("span", {}, run.gate || run.score !== null ? chip(run.gate) : "", score),
    el("span", { class: "links" }, ...run.reports.map((name) => el("a", { href: `/runs/${encodeURIComponent(run.id)}/${encodeURIComponent(name)}`, target: "_blank", rel: "noopener" }, name.replace(".html", ""))), compare));
}

function analysis(one) {
  const link = one.name
    ? el("a", { href: `/analyses/${[one.kind, one.id, one.name].map(encodeURIComponent).join("/")}`, target: "_blank", rel: "noopener" }, "page")
    : el("a", { href: hashOf(one) }, "show");
  return el("div", { class: "run" }, el("span", { class: "mono" }, one.id), el("span", {}, one.kind), el("span", {}, `${one.written_at.slice(0, 16).replace("T", " ")} UTC`), el("span", { class: "links" }, link));
}

async function show(ident) {
  const place = byId("comparison");
  place.replaceChildren(el("p", { role: "status" }, "reading…"));
  let found;
  try {
    found = await get(`/api/runs/${encodeURIComponent(ident)}/comparison`);
  } catch (refused) {
    place.replaceChildren(el("p", { class: "card banner worse" }, refused.message));
    return;
  }
  const lines = found.lines.filter((one) => one.difference !== null);
  place.replaceChildren(
    el("h3", {}, `This tape beside ${found.with}`),
    el("p", { role: "status" }, `${found.same} the same, ${found.different} not.`),
    lines.length ? el("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "what differs" },
      el("table", { class: "compare" }, el("thead", {}, el("tr", {}, ...["what differs", "here", "there"].map((text) => el("th", { scope: "col" }, text)))),
        el("tbody", {}, ...lines.slice(0, 500).map((one) => el("tr", {}, el("th", { scope: "row" }, one.difference), cell(one.one), cell(one.other)))))) : null);
}

function cell(one) {
  if (one === null) return el("td", { class: "dim" }, "—");
  return el("td", {}, el("b", {}, `${one.session} no. ${one.number}`), ` ${one.status ?? "no response"}, ${one.ending.replace("_", " ")}, ${duration(one.duration_ms)}`,
    el("div", { class: "dim" }, one.gist || `${one.method} ${one.host}${one.path}`),
    one.fired.length ? el("div", {}, ...one.fired.map((id) => el("span", { class: "chip fault" }, id))) : null);
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** How to go on from an exchange with another answer: the command, as it is typed. */
export function openFork(row, tape) {
  const draw = () => {
    const how = byId("fork-how").value;
    const said = byId("fork-text").value;
    const set = how === "drop" ? "--drop" : how === "fault" ? `--fault ${quoted(said || "status: {code: 503}")}` : `--set ${quoted(`${how}=${how === "text" ? JSON.stringify(said) : said || "503"}`)}`;
    byId("fork-command").textContent = `faultwire fork ${quoted(tape)} --at ${quoted(`${row.session}#${row.number}`)} ${set} -- YOUR AGENT`;
    byId("fork-text").disabled = how === "drop";
  };
  byId("fork-title").textContent = `Fork from ${row.session} no. ${row.number}`;
  byId("fork-how").onchange = draw;
  byId("fork-text").oninput = draw;
  draw();
  byId("fork").showModal();
}
