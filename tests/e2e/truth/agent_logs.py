"""Runs of agents on real frameworks, with what faultwire printed and what the agent itself logged."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import environments
import harness
import labelled

AGENT = Path(__file__).with_name("logging_agent.py")
FRAMEWORKS = {
    "openai": "openai-3",
    "anthropic": "anthropic-2",
    "langgraph": "langchain-1",
    "pydantic-ai": "pydantic-ai-2",
    "openai-agents": "openai-agents-0",
}
OTHER_LANGUAGES = ("AI SDK", "openai-go", "openai-java", "async-openai")
TEA, RIVERS = "What does tea cost?", "Name some rivers."
LOGGED = ("WIRE ", "TRUTH ")


class Sent(NamedTuple):
    """A request that the agent's HTTP client logged; `status` is None where no answer came."""

    host: str
    path: str
    method: str
    body: str
    began: float
    ended: float
    status: int | None
    wait: str | None
    error: str | None = None
    """The type of what the client raised."""


class Run(NamedTuple):
    """A finished command. `lines` are faultwire's own, without those of the agent."""

    code: int
    lines: list[str]
    stdout: str
    sent: list[Sent]
    did: list[dict[str, Any]]
    """The agent's log of tools and ends."""
    folder: Path
    order: list[str]
    """`sent` or `did` for each line of the agent's log."""

    @property
    def noticed(self) -> list[str]:
        """The lines below `noticed`."""
        start = next((at for at, one in enumerate(self.lines) if one.startswith("noticed ")), None)
        if start is None:
            return []
        ends = ("report ", "tape ", "replayed ", "determinism:")
        rest = self.lines[start + 1 :]
        return rest[: next((at for at, one in enumerate(rest) if one.startswith(ends)), len(rest))]

    def field(self, name: str) -> str:
        """The value of a line of the summary."""
        return next(one[len(name) :].strip() for one in self.lines if one.startswith(name))


def command(framework: str, manner: str = "plain", prompt: str = RIVERS) -> list[str]:
    """The command of an agent; the frameworks of other languages know only the manners of their programs."""
    if framework in OTHER_LANGUAGES:
        environment, name, *_ = labelled.AGENTS[framework]
        return [part.replace("{prompt}", prompt) for part in labelled.command(environment, name, manner)]
    return [str(environments.python(FRAMEWORKS[framework])), str(AGENT), framework, manner, prompt]


def run(
    work: Path,
    arguments: list[str],
    *agent: str,
    script: str = labelled.SCRIPT,
    env: dict[str, str] | None = None,
) -> Run:
    """Run `faultwire ARGUMENTS -- AGENT` in a folder that holds the script of the mock."""
    (work / "script.yaml").write_text(script)
    whole = [*harness.faultwire(), *arguments, *(("--", *command(*agent)) if agent else ())]
    environment = harness.base_environment() | (env or {})
    done = subprocess.run(
        whole, cwd=work, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    output = done.stderr.splitlines()
    sent: list[Sent] = []
    did: list[dict[str, Any]] = []
    order: list[str] = []
    for line in output:
        if line.startswith("WIRE "):
            one = json.loads(line[5:])
            url = urlsplit(one["url"])
            members = (
                one["method"],
                one["body"],
                one["began"],
                one["ended"],
                one.get("status"),
                one.get("wait"),
                one.get("error"),
            )
            sent.append(Sent(url.hostname or "", url.path, *members))
            order.append("sent")
        elif line.startswith("TRUTH "):
            did.append(json.loads(line[6:]))
            order.append("did")
    lines = [line for line in output if not line.startswith(LOGGED)]
    return Run(done.returncode, lines, done.stdout, sent, did, work, order)


@contextmanager
def shop(*statuses: int) -> Iterator[tuple[str, list[str]]]:
    """A server of the agent's own tool on this machine: its URL, and the methods that it was asked with.
    It answers with these statuses, then with the last one."""
    asked: list[str] = []

    class Shop(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append(self.command)
            body = b"Tea is ordered."
            self.send_response(statuses[min(len(asked), len(statuses)) - 1])
            self.send_header("set-cookie", "session=a8Jx72kdP0qLmN4v; Path=/")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815  # as http.server calls them

        def log_message(self, *_arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}/orders", asked
        finally:
            server.shutdown()
            thread.join()
