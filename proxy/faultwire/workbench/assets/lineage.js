// The lineage of an exchange: which bytes of earlier answers it holds, and where its own went.

import { get } from "/api.js";
import { el } from "/dom.js";

/** Fill a part of the exchange at a place of the list; `jump` opens another of its session by number. */
export async function fill(part, at, jump) {
  if (part.dataset.filled) return;
  part.dataset.filled = "yes";
  let found;
  try {
    found = await get(`/api/exchanges/${at}/lineage`);
  } catch (refused) {
    part.append(el("p", { class: "banner worse" }, `${refused.code}: ${refused.message}`));
    return;
  }
  part.append(
    ...(found.unread ? [el("p", { class: "banner" }, `${found.unread}, so edges may be missing`)] : []),
    ...(found.not_traced ? [el("p", { class: "banner" }, `The last ${found.not_traced.toLocaleString("en")} exchanges of the session were not traced.`)] : []),
    el("h4", {}, "From earlier answers"), edges(found.into, found.into_not_shown, "from", jump, "No bytes of an earlier answer were found in it."),
    el("h4", {}, "Into later requests"), edges(found.out, found.out_not_shown, "to", jump, "No bytes of its answer were found in a later request."),
    el("p", { class: "dim" }, found.reached.length ? `Over any number of edges it reaches ${found.reached.length === 1 ? "exchange" : "exchanges"} ${found.reached.join(", ")}.` : "",
      " An edge says what stands where, not why."));
}

function edges(found, more, other, jump, none) {
  if (!found.length) return el("p", { class: "dim" }, none);
  const lines = found.map((one) => {
    const go = el("button", { type: "button", class: "link" }, `exchange ${one[other]}`);
    go.addEventListener("click", () => jump(one[other]));
    return el("li", {}, el("span", { class: "chip quiet" }, one.kind), ` ${one.text} `, one[other] === null ? null : go);
  });
  if (more) lines.push(el("li", { class: "dim" }, `… ${more.toLocaleString("en")} more`));
  return el("ul", { class: "edges" }, ...lines);
}
