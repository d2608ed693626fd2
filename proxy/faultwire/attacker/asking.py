"""Asks a model once: `python -I asking.py`, a process of its own, whose traffic is recorded as an agent's is.

A request comes as JSON on stdin (`url`, `key`, `body`, `limit_s`), the answer leaves on stdout (`status`,
`body`). Nothing but the standard library. The key is on no command line, and goes nowhere but to that URL.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request

LARGEST = 4 << 20


class Unredirected(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirect would take the key along."""

    def redirect_request(self, *_about: object) -> None:
        """None: the redirect itself is the answer."""


def main() -> None:
    """Send it, and print what comes back."""
    asked = json.load(sys.stdin)
    headers = {"content-type": "application/json", "accept": "application/json"}
    if asked["key"]:
        headers["authorization"] = f"Bearer {asked['key']}"
    request = urllib.request.Request(asked["url"], json.dumps(asked["body"]).encode(), headers)
    try:
        opener = urllib.request.build_opener(Unredirected)
        with opener.open(request, timeout=asked["limit_s"]) as response:
            found = {"status": response.status, "body": response.read(LARGEST).decode(errors="replace")}
    except urllib.error.HTTPError as error:
        found = {"status": error.code, "body": error.read(LARGEST).decode(errors="replace")}
    except OSError as error:
        found = {"status": 0, "body": type(getattr(error, "reason", error)).__name__}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
