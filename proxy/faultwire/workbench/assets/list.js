// The list of exchanges. Only the rows in sight are in the document, however many there are.

import { el } from "/dom.js";

const OVERSCAN = 8;
const columns = { no: "no.", what: "what", answer: "model and answer", outcome: "outcome", tokens: "tokens", cost: "cost", took: "took", faults: "faults" };
// A browser's element can be some millions of pixels high; 10,000 rows are far below.

export class List {
  constructor(grid, { onOpen, onToggle }) {
    this.grid = grid;
    this.items = [];
    this.selected = 0;
    this.drawn = new Map();
    this.onOpen = onOpen;
    this.onToggle = onToggle;
    this.head = el("div", { role: "row", class: "line head", "aria-rowindex": 1 });
    for (const [name, text] of Object.entries(columns)) this.head.append(el("span", { role: "columnheader", class: `c-${name}` }, text));
    this.space = el("div", { class: "space", role: "rowgroup" });
    grid.append(el("div", { role: "rowgroup", class: "heads" }, this.head), this.space);
    grid.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw(true)).observe(grid);
    this.space.addEventListener("click", (event) => this.#clicked(event));
  }

  get height() {
    return matchMedia("(max-width: 720px)").matches ? 64 : 34;
  }

  show(items) {
    const keep = this.items[this.selected];
    this.items = items;
    if (keep) {
      const at = items.findIndex((one) => one.row.at === keep.row.at);
      this.selected = at >= 0 ? at : Math.min(this.selected, Math.max(0, items.length - 1));
    }
    this.grid.setAttribute("aria-rowcount", String(items.length + 1));
    this.#draw(true);
  }

  select(at) {
    if (!this.items.length) return;
    this.selected = Math.max(0, Math.min(at, this.items.length - 1));
    const top = this.selected * this.height;
    const room = this.grid.clientHeight - this.head.offsetHeight;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    else if (top + this.height > this.grid.scrollTop + room) this.grid.scrollTop = top + this.height - room;
    this.#draw(true);
  }

  get current() {
    return this.items[this.selected];
  }

  toEnd() {
    this.grid.scrollTop = this.grid.scrollHeight;
  }

  #clicked(event) {
    const line = event.target.closest(".line");
    if (!line) return;
    this.select(Number(line.dataset.index));
    if (event.target.closest(".toggle")) this.onToggle(this.current);
    else this.onOpen(this.current);
  }

  #draw(anew = false) {
    const height = this.height;
    this.space.style.height = `${this.items.length * height}px`;
    const first = Math.max(0, Math.floor(this.grid.scrollTop / height) - OVERSCAN);
    const last = Math.min(this.items.length, Math.ceil((this.grid.scrollTop + this.grid.clientHeight) / height) + OVERSCAN);
    for (const [index, line] of this.drawn) {
      if (anew || index < first || index >= last) {
        line.remove();
        this.drawn.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (this.drawn.has(index)) continue;
      const line = lineOf(this.items[index], index, index === this.selected);
      line.style.top = `${index * height}px`;
      this.drawn.set(index, line);
      this.space.append(line);
    }
    this.grid.setAttribute("aria-activedescendant", this.items.length ? `line-${this.selected}` : "");
  }
}

function lineOf({ row, retry, attempts }, index, selected) {
  const bad = row.ending !== "complete" && row.ending !== "open";
  const failed = row.status === null || row.status >= 400;
  const names = [row.protocol || row.kind, row.tool].filter(Boolean).join(" ");
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
