// Elements from plain text only: nothing that came from the wire is ever parsed as markup here.

/** An element with attributes and children (strings or nodes). */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

// The markup of one exchange comes from our own server, which escapes every value; this is the only place
// that the page's policy lets make markup of a string.
const policy = globalThis.trustedTypes
  ? trustedTypes.createPolicy("faultwire-view", { createHTML: (text) => text })
  : { createHTML: (text) => text };

/** The nodes of a view; scripts in it would not run, and the policy of the page forbids them. */
export function viewOf(text) {
  const parsed = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
  return [...parsed.body.childNodes];
}
