// Breakpoints and faults by hand: two forms, and what is armed.

import { del, get, post, readOnly } from "/api.js";
import { byId, el } from "/dom.js";
import { Form } from "/forms.js";

const PLACES = { request: "the request", response: "the response's head", event: "a stream's event", tool_call: "a tool call", tool_result: "a tool's result" };
let faults = null;
let form = null;

export async function openArm() {
  if (faults === null) {
    faults = (await get("/api/faults")).faults;
    byId("arm-fault").replaceChildren(...faults.map((one) => el("option", { value: one.name }, one.name)));
    pick();
  }
  if (!byId("arm").open) byId("arm").showModal();
}

function pick() {
  const fault = faults.find((one) => one.name === byId("arm-fault").value);
  byId("arm-about").textContent = fault.summary;
  form = new Form(fault.schema.properties || {}, { required: fault.schema.required || [], definitions: fault.schema.$defs || {} });
  byId("arm-settings").replaceChildren(form.node);
}

export function showArmed(state) {
  byId("control").hidden = state.engine === null || readOnly;
  byId("armed").replaceChildren(...state.interventions.slice().reverse().map((one) => {
    const armed = one.state === "armed";
    const end = el("button", { type: "button", disabled: !armed, "aria-label": `end ${one.id}` }, "End");
    end.addEventListener("click", () => told(() => del(`/api/interventions/${one.id}`)));
    const what = one.at ? `breakpoint at ${PLACES[one.at]}` : one.faults.map((id) => id.slice(id.indexOf("/") + 1)).join(", ");
    return el("li", {}, el("span", { class: `chip ${armed ? "fault" : "quiet"}` }, one.id), ` ${what}: `,
      armed ? `armed, fired on ${one.fired}` : `ended: ${one.why}`, armed ? end : null);
  }));
  const count = state.interventions.filter((one) => one.state === "armed").length;
  byId("control").querySelector("span").textContent = count ? ` (${count})` : "";
}

async function told(act) {
  const place = byId("arm-told");
  try {
    const done = await act();
    place.textContent = done.id ? `${done.id} is ${done.state === "disarmed" ? "ended" : "armed"}` : "";
  } catch (refused) {
    place.textContent = `${refused.message}${refused.hint ? ` (${refused.hint})` : ""}`;
  }
}

byId("break-at").addEventListener("change", () => { byId("break-event-field").hidden = byId("break-at").value !== "event"; });
byId("break-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const times = Number(byId("break-times").value);
  told(() => post("/api/breaks", {
    at: byId("break-at").value, on: byId("break-on").value, session: byId("break-session").value,
    event: byId("break-at").value === "event" ? Number(byId("break-event").value) || 1 : undefined,
    times: times || undefined,
  }));
});
byId("arm-fault").addEventListener("change", pick);
byId("arm-form").addEventListener("submit", (event) => {
  event.preventDefault();
  told(() => post("/api/interventions", {
    fault: byId("arm-fault").value, settings: form.values(), on: byId("arm-on").value,
    scope: byId("arm-scope").value, session: byId("arm-session").value,
    for_s: Number(byId("arm-for").value) || undefined,
  }));
});
