"""Does a proxy live, and does it take traffic: answered by HTTP for whoever supervises it.

A listener of its own beside the proxy's: probes are no traffic, need no token, and come on no tape. It knows
two paths and says nothing of the traffic.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError
from faultwire.mitm.engine.control_client import ControlClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

ENGINE_S = 2.0
"""How long the engine may take to answer; a probe of Kubernetes waits 1 s where nothing else is set."""
CLIENT_S = 2.0
"""How long a client may take to ask."""
AT_ONCE = 16
"""Probes under way at a time; more are hung up on."""


@dataclass(frozen=True)
class Condition:
    """What is known of a proxy: has it `started`, is it `ending`, why its engine does not answer, and why
    it refuses traffic; both empty where it does."""

    started: bool = False
    ending: bool = False
    silent: str = ""
    refusing: str = ""


def answer(path: str, condition: Condition) -> tuple[int, str]:
    """The status and the text of a probe."""
    if path not in ("/healthz", "/readyz"):
        return 404, "found another path, expected /healthz or /readyz"
    if condition.silent:
        return 503, f"the engine does not answer: {condition.silent}"
    if path == "/healthz":
        return 200, "ok"
    if condition.ending:
        return 503, "ending"
    if not condition.started:
        return 503, "starting"
    if condition.refusing:
        return 503, f"refuses traffic: {condition.refusing}"
    return 200, "ok"


class Health:
    """What the command says of itself, and what its engine says when it is asked."""

    def __init__(self) -> None:
        self.ending = False
        self._controls: Callable[[], Sequence[Path]] | None = None
        self._engines: dict[Path, ControlClient] = {}

    def started(self, controls: Callable[[], Sequence[Path]]) -> None:
        """The proxy takes traffic; its engines listen at `controls`, as many as there are at the time."""
        self._controls = controls

    def condition(self) -> Condition:
        """Asks every engine, if there is one yet."""
        if self._controls is None:
            return Condition(ending=self.ending)
        refusing = ""
        try:
            for control in self._controls():
                client = self._engines.setdefault(control, ControlClient.at(control, ENGINE_S))
                refusing = refusing or client.ask({"op": "stats"}).get("refusing") or ""
        except (OSError, ValueError) as error:
            silent = "" if self.ending else str(error) or type(error).__name__
            return Condition(True, self.ending, silent)
        return Condition(True, self.ending, refusing=refusing)


class _Server(ThreadingMixIn, HTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], health: Health) -> None:
        self.health = health
        self._room = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(address, _Probe)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or said nothing, is nobody's concern."""


class _Probe(BaseHTTPRequestHandler):
    timeout = CLIENT_S
    server: _Server
    server_version, sys_version = "faultwire", ""

    def do_GET(self) -> None:
        status, text = answer(self.path.partition("?")[0], self.server.health.condition())
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the library looks for this name

    def log_message(self, *_arguments: object) -> None:
        """Probes come every few seconds; none is worth a line."""


@contextmanager
def serving(listen: tuple[str, int] | None) -> Iterator[Health]:
    """Answer probes at an address, if one was given. Raises UsageError where it cannot be listened on."""
    health = Health()
    if listen is None:
        yield health
        return
    try:
        server = _Server(listen, health)
    except OSError as error:
        raise UsageError(
            f"`{listen[0]}:{listen[1]}` cannot be listened on: {error.strerror or error}",
            code="proxy.health",
            hint="another program has it; choose another `--health`",
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    try:
        yield health
    finally:
        server.shutdown()
        server.server_close()
