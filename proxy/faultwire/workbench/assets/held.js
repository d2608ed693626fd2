// What is held at a breakpoint: a line for each, and an editor for one.

import { get, post, readOnly } from "/api.js";
import { byId, el } from "/dom.js";
import { Form, area } from "/forms.js";

const WORDS = { resume: "Resume", answer: "Answer from here", cut: "Cut", retry: "Have it retried" };
let heard = 0;
let state = { held: [], interventions: [], engine: null, lost: 0 };
let current = null;

export function show(now) {
  state = now;
  heard = performance.now();
  draw();
}

const left = (one) => (one.client_left_s === null ? null : one.client_left_s - (performance.now() - heard) / 1000);
const about = (one) => `${one.at.replace("_", " ")} · ${one.model || one.tool || one.kind} · ${one.session} no. ${one.number}`;

function waits(one) {
  const seconds = left(one);
  if (seconds === null) return "its client does not say how long it waits";
  if (seconds <= 0) return `its client's ${one.client_waits_s} s are over (${one.client_says})`;
  return `its client waits ${Math.floor(seconds)} s longer (${one.client_says})`;
}

function draw() {
  const lines = state.held.map((one) => {
    const button = el("button", { type: "button", class: "primary", "data-held": one.id }, "Open");
    button.addEventListener("click", () => open(one.id));
    return el("li", {}, el("span", { class: "chip fault" }, `${one.id} held`), ` ${about(one)}; `, el("span", { class: "countdown", "data-held": one.id }, waits(one)), " ", button);
  });
  const told = state.lost ? [el("p", { class: "card banner worse" }, ending(state.lost === 1 ? "1 call was" : `${state.lost} calls were`))] : [];
  byId("held").replaceChildren(...told, ...(lines.length ? [el("ul", { class: "card holds" }, ...lines)] : []));
  if (current && !state.held.some((one) => one.id === current.id)) close(state.engine === "ended" ? "The engine has ended; the client's connection is closed." : "");
}

function ending(calls) {
  return state.engine === "ended"
    ? `The engine has ended while ${calls} held: the connections of their clients are closed.`
    : `The workbench has ended while ${calls} held. With the run their connections are closed; where it goes on, --on-ui-gone decides.`;
}

/** The workbench does not answer any more: with an engine that ends the run it may end before it can say so. */
export function lose() {
  if (!state.held.length) return;
  state = { ...state, engine: null, held: [], lost: state.held.length };
  draw();
}

setInterval(() => {
  for (const one of state.held) {
    for (const node of document.querySelectorAll(`.countdown[data-held="${one.id}"]`)) node.textContent = waits(one);
  }
}, 500);

/** Open the oldest, by a key. */
export function openFirst() {
  if (state.held.length) open(state.held[0].id);
}

async function open(ident) {
  let one;
  try {
    one = await get(`/api/held/${ident}`);
  } catch (refused) {
    byId("editor-told").textContent = refused.message;
    return;
  }
  current = { id: ident, one, parts: partsOf(one) };
  byId("editor-title").textContent = `${ident}: held at the ${about(one)}`;
  byId("editor-waits").replaceChildren(el("span", { class: "countdown", "data-held": ident }, waits(one)),
    one.kept_alive ? ". A comment is sent to it every 5 s." : ".");
  byId("editor-parts").replaceChildren(...current.parts.map((part) => part.node));
  byId("editor-told").textContent = "";
  byId("editor-acts").replaceChildren(...(readOnly ? [] : one.may.map(act)));
  if (readOnly) byId("editor-told").textContent = "This page was shared to be read: who shared it decides.";
  if (!byId("editor").open) byId("editor").showModal();
}

function close(why) {
  current = null;
  if (why) byId("editor-told").textContent = why;
  else if (byId("editor").open) byId("editor").close();
  byId("editor-acts").replaceChildren();
}

function act(what) {
  const button = el("button", { type: "button", class: what === "resume" ? "primary" : "", "data-do": what }, WORDS[what]);
  button.addEventListener("click", () => decide(what));
  return button;
}

/** What can be edited, each with `read`, which gives what is to be sent, or nothing where nothing was changed. */
function partsOf(one) {
  const { shown } = one;
  const parts = [];
  (shown.calls || []).forEach((call, at) => parts.push(callPart(call, at)));
  (shown.results || []).forEach((result, at) => parts.push(textPart(`result of ${result.tool}`, result.text, (text) => ({ texts: { [at]: text } }))));
  if (shown.text !== undefined) parts.push(textPart("what the event says", shown.text, (text) => ({ text })));
  (shown.texts || []).forEach((one, at) => parts.push(textPart(`${one.role}${one.new ? "" : ", earlier"}`, one.text, (text) => ({ texts: { [at]: text } }), !one.new)));
  if (shown.head) parts.push(headPart(shown.head));
  if (shown.event !== undefined) parts.push(textPart("the event, raw", shown.event, (raw) => ({ raw }), shown.text !== undefined, 6));
  if (shown.body !== undefined && !shown.results) parts.push(textPart("the body, raw", shown.body, (raw) => ({ raw }), Boolean(shown.texts || shown.calls), 10));
  if (!parts.length) parts.push({ node: el("p", { class: "dim" }, "It is too long, or in no text, to be edited here. It can go on as it is."), read: () => ({}) });
  if (one.may.includes("answer")) parts.push(answerPart(one));
  return parts;
}

function folded(title, content, shut) {
  return el("details", { open: !shut, class: "part-edit" }, el("summary", {}, title), content);
}

function textPart(title, text, made, shut = false, rows = null) {
  const id = `edit-${title.replace(/[^a-z]+/gi, "-")}-${Math.random().toString(36).slice(2, 7)}`;
  const input = area(id, text, rows);
  input.setAttribute("aria-label", title);
  return { node: folded(title, input, shut), read: () => (input.value === text ? {} : made(input.value)) };
}

function callPart(call, at) {
  let values = null;
  try {
    values = JSON.parse(call.arguments || "{}");
  } catch { /* arguments that are no JSON are edited as text */ }
  if (values === null || typeof values !== "object" || Array.isArray(values)) {
    return textPart(`arguments of ${call.name}`, call.arguments, (text) => ({ calls: [{ at, arguments: text }] }));
  }
  const form = new Form(call.properties, { values });
  const before = JSON.stringify(form.values());
  return {
    node: folded(`call of ${call.name}`, form.node, false),
    read: () => {
      const now = form.values();
      if (JSON.stringify(now) === before) return {};
      const members = Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(values[name])));
      return { calls: [{ at, members }] };
    },
  };
}

function headPart(head) {
  const status = el("input", { type: "number", min: 200, max: 599, value: head.status, "aria-label": "status" });
  const text = head.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  const fields = area("head-fields", text, Math.min(10, head.headers.length + 1));
  fields.setAttribute("aria-label", "header fields, one a line");
  return {
    node: folded("status and header fields", el("div", { class: "fields" }, status, fields), false),
    read: () => ({
      ...(Number(status.value) === head.status ? {} : { status: Number(status.value) }),
      ...(fields.value === text ? {} : { headers: fields.value.split("\n").filter((one) => one.includes(":")).map((one) => [one.slice(0, one.indexOf(":")).trim(), one.slice(one.indexOf(":") + 1).trim()]) }),
    }),
  };
}

function answerPart(one) {
  const stream = one.at === "event";
  const input = area("answer-text", "", 3);
  input.setAttribute("aria-label", "the answer");
  const how = el("select", { "aria-label": "how it is meant" }, ...(stream ? ["raw events"] : ["text that the model says", "body as it is (JSON)"]).map((text) => el("option", {}, text)));
  const status = el("input", { type: "number", min: 200, max: 599, value: 200, "aria-label": "status of the answer" });
  return {
    answer: () => (stream ? { raw: input.value } : how.selectedIndex === 0 ? { say: input.value } : { raw: input.value, status: Number(status.value) }),
    node: folded("answer from here", el("div", { class: "fields" }, how, stream ? null : status, input), true),
    read: () => ({}),
  };
}

async function decide(what) {
  const told = byId("editor-told");
  const { id, parts } = current;
  let message = { do: what };
  try {
    if (what === "answer") message = { ...message, ...parts.find((part) => part.answer).answer() };
    if (what === "resume") for (const part of parts) message = joined(message, part.read());
    const done = await post(`/api/held/${id}`, message);
    byId("last").textContent = `${done.id} ${done.done}`;
    current = null;
    byId("editor").close();
    state = { ...state, held: state.held.filter((one) => one.id !== id) };
    draw();
  } catch (refused) {
    told.textContent = `${refused.message}${refused.hint ? ` (${refused.hint})` : ""}`;
  }
}

function joined(message, more) {
  const both = { ...message, ...more };
  if (message.calls && more.calls) both.calls = [...message.calls, ...more.calls];
  if (message.texts && more.texts) both.texts = { ...message.texts, ...more.texts };
  return both;
}
