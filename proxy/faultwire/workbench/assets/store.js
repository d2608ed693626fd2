// What the page holds of the tape: the rows in sight and some more, sums, and which exchanges are retries.
// All else is asked for when it comes into sight.

import { get } from "/api.js";

const KEPT = 1_500; // rows
const ASKED = 200; // rows of one request
export const NEWEST = 100; // rows at the end of the list that are sent without being asked for

export class Store {
  /** `changed` is called when rows that were asked for have come. */
  constructor(changed = () => {}) {
    this.revision = 0;
    this.count = 0;
    this.totals = null;
    this.matching = null; // places that match the filter, null without one
    this.open = new Set(); // calls whose retries are shown, by the place of their first attempt
    this.rows = new Map(); // by place, those used last at the end
    this.heads = new Map(); // the place of a retry to that of its call's first attempt
    this.calls = new Map(); // the place of a first attempt to all attempts, where there are several
    this.shown = []; // places in the order in which they stand
    this.laidOut = 0; // so many places are laid out; -1 where all are to be laid out anew
    this.wanted = new Set();
    this.asking = false;
    this.changed = changed;
  }

  /** Take what the server says has changed. */
  take(news) {
    for (const row of news.rows) this.#keep(row);
    for (const at of news.others) this.rows.delete(at);
    for (const [at, head] of news.retries) this.#group(at, head);
    this.revision = news.revision;
    this.count = news.count;
    this.totals = news.totals;
  }

  #keep(row) {
    this.rows.delete(row.at);
    this.rows.set(row.at, row);
    if (this.rows.size > KEPT) this.rows.delete(this.rows.keys().next().value);
  }

  #group(at, head) {
    if (this.heads.get(at) === head) return;
    const moved = this.calls.get(at) || [at]; // the attempts of what was a first attempt until now
    this.calls.delete(at);
    for (const one of moved) this.heads.set(one, head);
    const attempts = [...new Set([...(this.calls.get(head) || [head]), ...moved])].sort((a, b) => a - b);
    this.calls.set(head, attempts);
    if (this.open.delete(at)) this.open.add(head);
    this.#drop(at, head);
  }

  /** A place that stood by itself goes under its call; most have come just now and stand at the end. */
  #drop(at, head) {
    if (this.matching !== null || this.open.has(head)) this.laidOut = -1;
    const index = this.laidOut < 0 ? -1 : this.shown.lastIndexOf(at);
    if (index >= 0) this.shown.splice(index, 1);
  }

  /** The row at a place, null where it is not here yet: then it is asked for. */
  row(at) {
    const found = this.rows.get(at);
    if (found) {
      this.rows.delete(at);
      this.rows.set(at, found);
      return found;
    }
    this.wanted.add(at);
    if (!this.asking) this.#ask();
    return null;
  }

  /** The same, once it is here; null where it cannot be had. */
  async fetched(at) {
    if (!this.rows.has(at)) for (const row of await this.#asked([at])) this.#keep(row);
    return this.rows.get(at) || null;
  }

  /** The rows at places; none where the server refuses: that it has ended, the live stream says. */
  async #asked(places) {
    try {
      return (await get(`/api/rows?at=${places.join(",")}`)).rows;
    } catch {
      return [];
    }
  }

  async #ask() {
    this.asking = true;
    await Promise.resolve(); // all that this drawing wants
    while (this.wanted.size) {
      const places = [...this.wanted].slice(-ASKED);
      this.wanted.clear(); // what was scrolled past is not asked for
      const rows = await this.#asked(places);
      for (const row of rows) this.#keep(row);
      if (rows.length) this.changed();
    }
    this.asking = false;
  }

  /** The attempts of a place's call, itself among them. */
  attempts(at) {
    return this.calls.get(this.heads.get(at) ?? at) || [at];
  }

  /** Have all laid out anew: another filter, or retries that are shown or hidden. */
  layAnew() {
    this.laidOut = -1;
  }

  /** Lay out what is shown: places in their order. A call stands where its first attempt does. */
  layOut() {
    if (this.laidOut >= 0 && this.matching === null) {
      for (; this.laidOut < this.count; this.laidOut++) if (!this.heads.has(this.laidOut)) this.shown.push(this.laidOut);
      return this.shown;
    }
    this.shown = [];
    const places = this.matching === null ? Array.from({ length: this.count }, (_, at) => at) : [...this.matching].sort((a, b) => a - b);
    for (const at of places) {
      const attempts = this.#matching(at);
      if (attempts[0] !== at) continue;
      this.shown.push(at);
      if (this.open.has(this.heads.get(at) ?? at)) this.shown.push(...attempts.slice(1));
    }
    this.laidOut = this.count;
    return this.shown;
  }

  #matching(at) {
    const all = this.attempts(at);
    return this.matching === null ? all : all.filter((one) => this.matching.has(one));
  }

  /** What stands at an index: `{at, row, retry, attempts}`; `attempts` of what stands for its whole call. */
  item(index) {
    const at = this.shown[index];
    const attempts = this.#matching(at);
    const retry = attempts[0] !== at;
    return { at, row: this.row(at), retry, attempts: retry ? [] : attempts };
  }
}
