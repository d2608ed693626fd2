// One exchange in parts, of which one is shown at a time.

import { el, byId, viewOf } from "/dom.js";
import { getText } from "/api.js";
import { fill } from "/lineage.js";

const NAMES = { conversation: "Conversation", events: "Events", wire: "Wire", ledger: "Ledger", lineage: "Lineage" };

export class Exchange {
  /** `jump` opens another exchange of the same session by its number. */
  constructor(jump) {
    this.at = null;
    this.row = null;
    this.jump = jump;
    this.part = "conversation";
    byId("tabs").addEventListener("keydown", (event) => this.#arrows(event));
  }

  /** Show the exchange of a row. */
  async open(row, focus = true) {
    this.at = row.at;
    this.row = row;
    byId("detail").hidden = false;
    document.body.classList.add("opened");
    byId("title").textContent = `${row.number} ${row.protocol || row.kind} ${row.tool || ""}`.trim();
    if (focus) byId("title").focus({ preventScroll: true });
    let nodes;
    try {
      nodes = viewOf(await getText(`/api/exchanges/${row.at}/view`));
    } catch (refused) {
      nodes = [el("p", { class: "banner worse" }, `${refused.code}: ${refused.message}`)];
    }
    if (this.at !== row.at) return;
    byId("view").replaceChildren(...nodes, el("section", { class: "part", "data-part": "lineage" }, el("h3", {}, "Lineage")));
    for (const details of byId("view").querySelectorAll("[data-part=wire] details")) details.open = true;
    this.#tabs();
  }

  close() {
    this.at = null;
    byId("detail").hidden = true;
    document.body.classList.remove("opened");
    byId("view").replaceChildren();
  }

  /** Show the part of this number (from 1), where it is there. */
  pick(number) {
    const part = Object.keys(NAMES)[number - 1];
    if (this.at !== null && this.#there().includes(part)) {
      this.part = part;
      this.#tabs();
    }
  }

  #there() {
    return [...byId("view").querySelectorAll("[data-part]")].map((one) => one.dataset.part);
  }

  #tabs() {
    const there = this.#there();
    const shown = there.includes(this.part) ? this.part : "conversation";
    byId("tabs").replaceChildren(...there.map((part) => {
      const tab = el("button", {
        type: "button", role: "tab", id: `tab-${part}`, "aria-controls": "view",
        "aria-selected": part === shown ? "true" : "false", tabindex: part === shown ? 0 : -1,
      }, NAMES[part], " ", el("kbd", {}, String(Object.keys(NAMES).indexOf(part) + 1)));
      tab.addEventListener("click", () => {
        this.part = part;
        this.#tabs();
        byId(`tab-${part}`).focus();
      });
      return tab;
    }));
    for (const one of byId("view").querySelectorAll("[data-part]")) one.hidden = one.dataset.part !== shown;
    if (shown === "lineage") fill(byId("view").querySelector("[data-part=lineage]"), this.at, (number) => this.jump(this.row.session, number));
    byId("view").scrollTop = 0;
  }

  #arrows(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...byId("tabs").children];
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.click();
    event.preventDefault();
  }
}
