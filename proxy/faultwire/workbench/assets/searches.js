// Searches that go on in other terminals: how far each is, and a link to what it has found.

import { hashOf } from "/analyses.js";
import { byId, el } from "/dom.js";

export function showSearches({ searches }) {
  byId("searches").hidden = !searches.length;
  byId("searches").replaceChildren(...(searches.length ? [el("ul", { class: "card holds" }, ...searches.map(line))] : []));
}

/** The workbench does not answer any more: how far they are is not known here. */
export function forget() {
  showSearches({ searches: [] });
}

function line(one) {
  const state = one.running ? el("span", { class: "chip fault" }, "running") : el("span", { class: "chip quiet" }, "ended");
  const link = one.result ? el("a", { href: hashOf(one) }, "show what it found") : null;
  return el("li", {}, state, " ", el("b", {}, one.kind), " ", el("span", { class: "mono" }, one.id), ` · ${counted(one)}`,
    one.running && one.last ? el("span", { class: "dim" }, ` · the last run ${one.last}`) : null, link ? " · " : null, link);
}

function counted(one) {
  const runs = `${one.runs.toLocaleString("en")} ${one.runs === 1 ? "run" : "runs"} of the agent`;
  if (one.failed === null) return runs;
  return `${runs}, ${one.failed.toLocaleString("en")} failed${one.unjudged ? `, ${one.unjudged.toLocaleString("en")} could not be judged` : ""}`;
}
