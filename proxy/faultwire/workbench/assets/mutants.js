// Mutants, each with its lineage: the prompt, each mutation and what it changed, and what came of it.

import { card, change, chip, evidence, facts, folded, list, more, runs, table } from "/analyses.js";
import { el } from "/dom.js";

const share = (value) => `${Math.round(value * 1000) / 10} %`;

/** The mutants of a search. */
export function evolved(found, about) {
  const failed = found.failures.length;
  return [
    card(el("p", {}, el("b", {}, failed ? `${failed} ${failed === 1 ? "mutant" : "mutants"} failed whenever asked again` : "No failure was confirmed"), `${failed ? "," : ""} in ${runs(found.runs)} with ${found.behaviours} ${found.behaviours === 1 ? "behaviour" : "behaviours"}; ${found.ended}`),
      facts(["a run is a failure where", found.failing], ["runs", `${found.runs} of ${found.budget}`], ["seed", String(found.seed)]),
      ...found.unfit.map((number) => el("p", { class: "dim" }, `Prompt ${number + 1} was left out: it does not pass as it is.`))),
    ...found.failures.map((one) => grown(one, about, true)),
    ...(found.unconfirmed.length ? [el("h3", {}, "Not confirmed: the mutant passed when it was asked again"), ...found.unconfirmed.map((one) => grown(one, about, false))] : []),
    more(found.not_shown),
    ...(found.types.length ? [el("h3", {}, "Types of mutation"),
      card(table(["type", "tried as the last step", "part of confirmed failures"], found.types.map((one) => [one.type, one.tried, one.failures]), "types of mutation"))] : []),
    ...(found.undecided.length ? [el("h3", {}, "Runs that could not be judged"), card(list(found.undecided.map(([count, reason]) => `${count}: ${reason}`)))] : []),
  ].filter(Boolean);
}

function grown(one, about, confirmed) {
  const steps = one.steps.map((step) => el("li", {}, el("b", {}, step.type), ` ${step.how}`, el("small", { class: "dim" }, ` throw ${step.throw}`), step.change ? change(step.change) : null));
  const query = one.session === null ? null : new URLSearchParams({ session: one.session }).toString();
  return card(
    el("h3", { id: `m-${one.id}` }, el("span", { class: "mono" }, one.id), ` ${one.steps.map((step) => step.type).join(" → ")}`),
    el("p", {}, chip(confirmed ? "fail" : "unknown", confirmed ? "✗ failed" : "? not confirmed"), ` ${one.failed} of ${runs(one.runs)}: ${one.reason}`),
    el("p", { class: "dim" }, `Lineage from prompt ${one.prompt}`),
    el("pre", { tabindex: 0, "aria-label": `prompt ${one.prompt}` }, one.original),
    el("ol", { class: "steps" }, ...steps),
    one.made_again
      ? el("p", { class: "dim" }, "Made again from the prompt, the types and their throws: the same text.")
      : el("p", { class: "banner" }, "These steps do not give this text here: another version of faultwire wrote the file, or it was changed. What each step changed is not known."),
    folded(`The mutant, ${one.characters.toLocaleString("en")} characters`, el("pre", { tabindex: 0, "aria-label": "the mutant" }, one.text)),
    folded("The answer", el("pre", { tabindex: 0, "aria-label": "the answer" }, one.answer || "(nothing)")),
    query === null ? null : evidence("What was exchanged", about.path, query, about.jump));
}

/** The mutants of a run's report. */
export function mutants(found, about) {
  const link = (anchor, text) => el("a", { href: `/runs/${encodeURIComponent(about.id)}/${encodeURIComponent(found.report)}#${anchor}`, target: "_blank", rel: "noopener" }, text);
  return [
    card(facts(["robustness", found.robustness === null ? "not known" : share(found.robustness)], ["mutants that passed", `${found.passed ?? 0} of ${found.total ?? 0}`], ["unknown", found.unknown ? String(found.unknown) : null]),
      ...found.notes.map((note) => el("p", { class: "dim" }, note)),
      found.report ? el("p", {}, link("mutations", "The report of this run")) : null),
    ...typesOf(found).flatMap((type) => [
      el("h3", {}, type.total === undefined ? type.type : `${type.type}: ${type.passed} of ${type.total} passed`), type.total ? interval(type) : null,
      ...found.mutants.filter((one) => one.origin === type.type).map((one) => mutant(one, found.report && link)),
    ]),
    ...(found.mutants.length ? [] : [card(el("p", { class: "dim" }, "No prompt of this run is a mutant."))]),
    more(found.not_shown),
  ].filter(Boolean);
}

/** The types with their rates, and those of mutants without one: where no verdict was reached. */
function typesOf(found) {
  const rated = new Set(found.types.map((one) => one.type));
  const others = new Set(found.mutants.map((one) => one.origin).filter((origin) => !rated.has(origin)));
  return [...found.types, ...[...others].map((type) => ({ type }))];
}

function mutant(one, link) {
  const failed = one.cells.filter((cell) => cell.verdict !== "pass");
  return card(
    el("h4", {}, el("span", { class: "mono" }, one.id), ` ${one.origin} of ${one.golden}`),
    one.change ? change(one.change) : null,
    el("ul", { class: "ledger" }, ...(failed.length ? failed : one.cells).map((cell) => el("li", {}, chip(cell.verdict, { pass: "✓ passed", fail: "✗ failed", unknown: "? unknown" }[cell.verdict]),
      ` ${cell.invariant} in ${cell.scenario}: ${cell.explanation} `, link ? link(cell.anchor, "evidence") : null))),
    folded("The mutant", el("pre", { tabindex: 0, "aria-label": "the mutant" }, one.text)));
}

function interval(type) {
  const bar = el("i");
  bar.style.left = `${type.low * 100}%`;
  bar.style.width = `${(type.high - type.low) * 100}%`;
  const at = el("b");
  if (type.rate !== null) at.style.left = `${type.rate * 100}%`;
  return el("div", { class: "interval", role: "img", "aria-label": `95 % interval of its pass rate, ${share(type.low)} to ${share(type.high)}` }, bar, type.rate === null ? null : at);
}
