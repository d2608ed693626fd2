"""A workbench in this process, on a real port, for tests that switch one of its defences off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx

from faultwire.workbench.access import CSRF, Access
from faultwire.workbench.app import application
from faultwire.workbench.http_server import HttpServer
from faultwire.workbench.serve import Listen, bind, hosts
from faultwire.workbench.subject import Subject


class InThread(HttpServer):
    """Signals belong to the main thread."""

    def capture_signals(self):
        return nullcontext()


@dataclass
class Bench:
    """A server, and a client that is logged in."""

    port: int
    access: Access
    subject: Subject

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        return f"{self.url}/#token={self.access.link}"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False)

    @contextmanager
    def inside(self) -> Iterator[httpx.Client]:
        """A client with a session, as the page has one."""
        with self.client() as client:
            given = {"token": self.access.link}
            done = client.post("/api/session", json=given, headers={"origin": self.url})
            assert done.status_code == 200, done.text
            client.headers.update({CSRF: done.json()["csrf"], "origin": self.url})
            yield client


@contextmanager
def serving(
    tape: Path, *, program: str | None = None, urge=None, base: Path | None = None, controls=None
) -> Iterator[Bench]:
    listen = Listen()
    bound = bind(listen)
    port = bound.getsockname()[1]
    access, subject = Access(hosts(listen, port), port, program=program), Subject(tape, urge, controls)
    server = InThread(application(subject, access, base), subject.index.leave, None, None)
    subject.index.start()
    if controls is not None:
        controls.listener = subject.index.tell
        controls.start()
    assert subject.index.wait(60)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield Bench(port, access, subject)
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
        subject.index.close()
        if controls is not None:
            controls.close()
