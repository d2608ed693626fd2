// Requests to our own server. A refusal is an Error with its code and what to do.

let csrf = "";
/** Was this page shared to be read? */
export let readOnly = false;

function take(session) {
  csrf = session.csrf;
  readOnly = Boolean(session.read_only);
}

export class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint || "";
  }
}

async function asked(method, path, body) {
  const headers = { "x-faultwire-csrf": csrf };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused(0, { code: "ui.gone", message: "the workbench does not answer", hint: "it has ended; `faultwire ui` starts it again" });
  }
  if (!response.ok) {
    const told = await response.json().catch(() => ({ error: { code: "ui.status", message: `status ${response.status}` } }));
    throw new Refused(response.status, told.error);
  }
  return response;
}

export const get = async (path) => (await asked("GET", path)).json();
export const getText = async (path) => (await asked("GET", path)).text();
export const del = async (path) => (await asked("DELETE", path)).json();
export const post = async (path, body) => (await asked("POST", path, body)).json();

/** Exchange the one-time token of the link for a session, or go on with the one that is there. */
export async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) {
    take(await get("/api/session"));
    return;
  }
  history.replaceState(null, "", location.pathname); // the token stays in no history entry and no bookmark
  try {
    take(await post("/api/session", { token }));
  } catch (refused) {
    try {
      take(await get("/api/session")); // the link was used before, in this browser
    } catch {
      throw refused;
    }
  }
}
