"""A tab of a headless Chromium that notes whatever a page does besides being read."""

from __future__ import annotations

import json
from typing import Any

from websockets.sync.client import ClientConnection

DEEDS = (
    "Network.requestWillBeSent",
    "Page.javascriptDialogOpening",
    "Page.frameRequestedNavigation",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Target.targetCreated",
)


class Tab:
    """One page. `deeds` are the events by which a page betrays that it ran, loaded or went anywhere."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._count = 0
        self.deeds: list[tuple[str, str]] = []
        self._loaded = False
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        self.deeds.clear()

    def open(self, url: str) -> float:
        """Open a page; how long until it was loaded and laid out, in milliseconds."""
        self.deeds.clear()
        self._loaded = False
        self.call("Page.navigate", {"url": url})
        while not self._loaded:
            self._heard(json.loads(self._connection.recv(timeout=60)))
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.deeds.remove(("Network.requestWillBeSent", url))
        timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
        return float(self.ask(f"Math.max({timing}, performance.now())"))

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        given = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", given)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """Make the window so large."""
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", given)

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """A command of the DevTools protocol, to this tab."""
        return self._call(method, params or {}, {"sessionId": self._session})

    def _call(self, method: str, params: dict[str, Any], session: dict[str, str] | None = None) -> Any:
        self._count += 1
        wanted = self._count
        told = {"id": wanted, "method": method, "params": params, **(session or {})}
        self._connection.send(json.dumps(told))
        while True:
            answer = json.loads(self._connection.recv(timeout=60))
            if answer.get("id") == wanted:
                assert "error" not in answer, answer
                return answer["result"]
            self._heard(answer)

    def _heard(self, event: dict[str, Any]) -> None:
        method, params = event.get("method", ""), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        if method == "Page.javascriptDialogOpening":
            self._count += 1
            answer = {"id": self._count, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            self._connection.send(json.dumps({**answer, "sessionId": self._session}))
        if method in DEEDS:
            what = params.get("request", {}).get("url") or params.get("url") or params.get("message") or ""
            self.deeds.append((method, what))
