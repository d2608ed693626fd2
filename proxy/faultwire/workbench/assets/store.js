// The rows of the tape, and which of them are shown: those that match, retries under their call.

export class Store {
  constructor() {
    this.rows = [];
    this.revision = 0;
    this.matching = null; // places that match the filter, null without one
    this.open = new Set(); // calls whose retries are shown
    this.shown = [];
    this.calls = new Map(); // the places of each logical call
  }

  take(revision, rows) {
    for (const row of rows) {
      const known = this.rows[row.at];
      this.rows[row.at] = row;
      if (row.read && !(known && known.read)) this.#group(row);
    }
    this.revision = revision;
  }

  #group(row) {
    if (!row.call) return;
    const key = `${row.session}\n${row.call}`;
    row.group = key;
    const found = this.calls.get(key) || [];
    if (!found.includes(row.at)) found.push(row.at);
    found.sort((a, b) => a - b);
    this.calls.set(key, found);
  }

  /** The attempts of a row's call, itself among them. */
  attempts(row) {
    return (row.call && this.calls.get(`${row.session}\n${row.call}`)) || [row.at];
  }

  /** Lay out what is shown: `{row, retry, attempts}`. A call stands where its first attempt does. */
  layOut() {
    this.shown = [];
    for (const row of this.rows) {
      if (!row) continue;
      const all = this.attempts(row);
      const matches = (at) => this.matching === null || this.matching.has(at);
      const attempts = all.filter(matches);
      if (!attempts.length || attempts[0] !== row.at) continue;
      this.shown.push({ row, retry: false, attempts });
      if (this.open.has(row.at)) {
        for (const at of attempts.slice(1)) this.shown.push({ row: this.rows[at], retry: true, attempts: [] });
      }
    }
    return this.shown;
  }

  totals() {
    const found = { exchanges: 0, calls: 0, fired: 0, input: 0, output: 0, cost: 0, unknown: 0, unread: 0 };
    for (const row of this.rows) {
      if (!row) continue;
      found.exchanges += 1;
      found.fired += row.fired.length;
      if (!row.read) found.unread += 1;
      if (row.counted_elsewhere) continue;
      found.input += row.tokens_in || 0;
      found.output += row.tokens_out || 0;
      if (row.cost_usd) found.cost += Number(row.cost_usd);
      if (row.cost_unknown) found.unknown += 1;
    }
    return found;
  }
}
