// The list of exchanges. Only the rows in sight are in the document, however many there are.

import { el } from "/dom.js";

const OVERSCAN = 8;
const columns = { no: "no.", what: "what", answer: "model and answer", outcome: "outcome", tokens: "tokens", cost: "cost", took: "took", faults: "faults" };
// Chromium's elements end at 33,554,428 px, some 980,000 rows. A longer list is as high as this, and what is
// scrolled by in it stands for as much more.
const HIGHEST = 15_000_000;

export class List {
  /** `store` says what stands where. */
  constructor(grid, store, { onOpen, onToggle }) {
    this.grid = grid;
    this.store = store;
    this.length = 0;
    this.selected = 0;
    this.selectedPlace = null;
    this.drawn = new Map();
    this.above = 0;
    this.onOpen = onOpen;
    this.onToggle = onToggle;
    this.head = el("div", { role: "row", class: "line head", "aria-rowindex": 1 });
    for (const [name, text] of Object.entries(columns)) this.head.append(el("span", { role: "columnheader", class: `c-${name}` }, text));
    this.space = el("div", { class: "space", role: "rowgroup" });
    this.heads = el("div", { role: "rowgroup", class: "heads" }, this.head);
    grid.append(this.heads, this.space);
    grid.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(grid);
    this.space.addEventListener("click", (event) => this.#clicked(event));
  }

  get height() {
    return matchMedia("(max-width: 720px)").matches ? 64 : 34;
  }

  show(places) {
    if (places[this.selected] !== this.selectedPlace && this.selectedPlace !== null) {
      const at = places.indexOf(this.selectedPlace);
      this.selected = at >= 0 ? at : Math.min(this.selected, Math.max(0, places.length - 1));
    }
    this.length = places.length;
    this.selectedPlace = this.length ? places[this.selected] : null;
    this.grid.setAttribute("aria-rowcount", String(this.length + 1));
    this.#draw();
  }

  select(at) {
    if (!this.length) return;
    this.selected = Math.max(0, Math.min(at, this.length - 1));
    this.selectedPlace = this.store.shown[this.selected];
    const top = this.selected * this.height;
    const room = this.grid.clientHeight - this.heads.offsetHeight;
    const now = this.grid.scrollTop * this.#stretch();
    // Browsers scroll by whole pixels, each of which may stand for many: rounded so that the row is whole in sight.
    if (top < now) this.grid.scrollTop = Math.floor(top / this.#stretch());
    else if (top + this.height > now + room) this.grid.scrollTop = Math.ceil((top + this.height - room) / this.#stretch());
    this.#draw();
  }

  /** What is selected, null in an empty list. */
  get current() {
    return this.length ? this.store.item(this.selected) : null;
  }

  toEnd() {
    this.grid.scrollTop = this.grid.scrollHeight;
  }

  /** For how many pixels of the list one stands that is scrolled by: 1, unless the list is too high. */
  #stretch() {
    const whole = this.length * this.height;
    if (whole <= HIGHEST) return 1;
    const unseen = this.heads.offsetHeight - this.grid.clientHeight;
    return (whole + unseen) / (HIGHEST + unseen);
  }

  #clicked(event) {
    const line = event.target.closest(".line");
    if (!line) return;
    this.select(Number(line.dataset.index));
    if (event.target.closest(".toggle")) this.onToggle(this.current);
    else this.onOpen(this.current);
  }

  /** Lines that say what they said stay; only others are made. */
  #draw() {
    const height = this.height;
    const whole = `${Math.min(HIGHEST, this.length * height)}px`;
    if (this.space.style.height !== whole) this.space.style.height = whole;
    const top = this.grid.scrollTop * this.#stretch();
    const first = Math.max(0, Math.floor(top / height) - OVERSCAN);
    const last = Math.min(this.length, Math.ceil((top + this.grid.clientHeight) / height) + OVERSCAN);
    const before = this.above;
    this.above = Math.round(top - this.grid.scrollTop); // what is scrolled by without a pixel of its own
    for (const [index, { line }] of this.drawn) {
      if (index >= first && index < last) {
        if (this.above !== before) line.style.top = `${index * height - this.above}px`;
        continue;
      }
      line.remove();
      this.drawn.delete(index);
    }
    for (let index = first; index < last; index++) this.#line(index, height);
    this.grid.setAttribute("aria-activedescendant", this.length ? `line-${this.selected}` : "");
  }

  #line(index, height) {
    const item = this.store.item(index);
    const selected = index === this.selected;
    const old = this.drawn.get(index);
    if (old && old.height === height && old.at === item.at && old.row === item.row && old.selected === selected && old.retry === item.retry && old.many === item.attempts.length) return;
    const line = item.row ? lineOf(item, index, selected) : waiting(index, selected);
    line.style.top = `${index * height - this.above}px`;
    if (old) old.line.replaceWith(line);
    else this.space.append(line);
    this.drawn.set(index, { line, height, at: item.at, row: item.row, selected, retry: item.retry, many: item.attempts.length });
  }
}

/** A row that was asked for. */
function waiting(index, selected) {
  const line = el("div", { role: "row", id: `line-${index}`, class: `line${selected ? " selected" : ""}`, "aria-rowindex": index + 2, "aria-selected": selected ? "true" : "false" },
    el("span", { role: "gridcell", class: "c-no" }), el("span", { role: "gridcell", class: "c-what dim" }, "…"));
  line.dataset.index = String(index);
  return line;
}

function lineOf({ row, retry, attempts }, index, selected) {
  const bad = row.ending !== "complete" && row.ending !== "open";
  const failed = row.status === null || row.status >= 400;
  const names = row.method === "CONNECT" ? "tunnel" : [row.protocol || row.kind, row.tool].filter(Boolean).join(" ");
  const cell = (name, ...children) => el("span", { role: "gridcell", class: `c-${name}` }, ...children);
  const outcome = row.ending === "open" ? "waiting" : `${row.status ?? "no response"}${bad ? ` · ${row.ending.replace("_", " ")}` : ""}`;
  const line = el("div", {
    role: "row", id: `line-${index}`, class: `line${retry ? " retry" : ""}${selected ? " selected" : ""}`,
    "aria-rowindex": index + 2, "aria-selected": selected ? "true" : "false",
  });
  line.dataset.index = String(index);
  const more = attempts.length > 1
    ? el("button", { type: "button", class: "toggle", tabindex: -1, "aria-label": `${attempts.length} attempts`, title: `${attempts.length} attempts (x)` }, `${attempts.length}×`) : null;
  line.append(
    cell("no", `${row.number}`),
    cell("what", retry ? `↳ retry ${row.attempt || ""} ` : "", el("b", {}, names), more),
    cell("answer", row.model ? el("span", {}, `${row.model} `) : null, el("span", { class: "dim" }, row.gist || `${row.method} ${row.host}${row.path}`)),
    cell("outcome", el("span", { class: `chip ${row.ending === "open" ? "quiet" : failed || bad ? "fail" : "pass"}` }, outcome)),
    cell("tokens", row.tokens_in === null || row.tokens_in === undefined ? "" : `${row.tokens_in} → ${row.tokens_out}`),
    cell("cost", row.cost_usd ? `$${row.cost_usd}` : row.cost_unknown ? "unknown" : ""),
    cell("took", row.ending === "open" ? "" : duration(row.duration_ms)),
    cell("faults", ...row.fired.map((id) => el("span", { class: "chip fault" }, `⚡ ${id}`))),
  );
  return line;
}

export function duration(ms) {
  return ms >= 10000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
