// A link for somebody who only reads.

import { post } from "/api.js";
import { byId } from "/dom.js";

export async function openShare() {
  const link = byId("shared-link");
  const told = byId("shared-told");
  try {
    const { token, seconds } = await post("/api/shares", {});
    link.textContent = `${location.origin}/#token=${token}`;
    told.textContent = `It must be opened within ${Math.round(seconds / 60)} minutes.`;
  } catch (refused) {
    link.textContent = "";
    told.textContent = `${refused.message}${refused.hint ? ` (${refused.hint})` : ""}`;
  }
  if (!byId("shared").open) byId("shared").showModal();
}
