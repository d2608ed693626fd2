"""A headless Chromium whose own developer tools are asked what they make of a file."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPEN = """(async (text) => {
  const UI = await import('./ui/legacy/legacy.js');
  const Network = await import('./panels/network/network.js');
  const Logs = await import('./models/logs/logs.js');
  for (let tries = 0; ; tries++) {
    try { await UI.ViewManager.ViewManager.instance().showView('network'); break; }
    catch (error) {
      if (tries > 200) throw error;
      await new Promise(done => setTimeout(done, 50));
    }
  }
  const panel = Network.NetworkPanel.NetworkPanel.instance();
  await panel.networkLogView.onLoadFromFile(new File([text], 'tape.har', {type: 'application/json'}));
  const found = [];
  for (const one of Logs.NetworkLog.NetworkLog.instance().requests()) {
    const body = await one.requestContentData();
    found.push({
      url: one.url(), method: one.requestMethod, status: one.statusCode, failed: one.failed,
      posted: await one.requestFormData(), error: 'error' in body ? body.error : null,
      text: 'error' in body ? null : body.isTextContent ? body.text : null,
      base64: 'error' in body || body.isTextContent ? null : body.base64,
      headers: one.responseHeaders.map(h => [h.name, h.value]), type: one.resourceType().name(),
      frames: one.frames().map(f => [f.type, f.text, f.opCode]),
    });
  }
  return JSON.stringify(found);
})(%s)"""
"""What the button `Import HAR file` of the network panel calls, and what the panel then lists."""


@contextmanager
def browser(profile: Path) -> Iterator[ClientConnection]:
    """A connection to a fresh browser (Chrome DevTools Protocol)."""
    assert PROGRAM
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    command = [PROGRAM, *switches, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr
    try:
        told = (re.search(r"ws://127\.0\.0\.1:\d+/\S+", line) for line in process.stderr)
        address = next(filter(None, told))
        with connect(address[0], max_size=None, proxy=None) as connection:
            yield connection
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


class Tools:
    """One window of developer tools, those that the browser brings along."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._count = 0
        page = {"url": "devtools://devtools/bundled/devtools_app.html"}
        target = self._call("Target.createTarget", page)["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = {"sessionId": attached["sessionId"]}
        loaded = "new Promise(r => document.readyState === 'complete' ? r() : addEventListener('load', r))"
        self._evaluate(loaded)

    def requests(self, har: str) -> list[dict[str, Any]]:
        """What the network panel lists once it has imported this HAR."""
        found: list[dict[str, Any]] = json.loads(self._evaluate(OPEN % json.dumps(har)))
        return found

    def _evaluate(self, expression: str) -> Any:
        told = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", told, self._session)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def _call(self, method: str, params: dict[str, Any], session: dict[str, str] | None = None) -> Any:
        self._count += 1
        self._connection.send(
            json.dumps({"id": self._count, "method": method, "params": params, **(session or {})})
        )
        while True:
            answer = json.loads(self._connection.recv(timeout=60))
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
