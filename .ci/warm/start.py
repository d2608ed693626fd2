"""Puts the client (`client.c`) in place of an environment's interpreter, and starts the servers it asks."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
OPTIONS = {"command": (), "engine": ("-I", "-O"), "mock": ("-I",)}
"""Of the interpreter, for each server; the engine's process has an environment of its own as well."""
ENGINE = "import json; from faultwire.mitm.engine.client import _environment as e; print(json.dumps(e()))"
SAME = (("--version",), ("profiles", "list"), ("exec",), ("exec", "--mock", "-q", "--", "sh", "-c", "exit 7"))
"""Commands that must give the same from a warm and from a cold start."""


@contextlib.contextmanager
def serving(
    python: Path, work: Path, environment: Mapping[str, str], *, compared: bool = True
) -> Iterator[None]:
    """While it lasts, starts of faultwire by `python`, in its environment, are warm where they can be.

    All are cold, and the reason is printed, where this process is one whose children cannot be warm (under
    `nohup`, say). Ends the program where a server ends before its time, or where a warm start differs from a
    cold one.
    """
    env = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
    sockets, log, real = work / "warm", work / "starts.log", python.with_name("python.real")
    sockets.mkdir()
    where = _ask(python, "import faultwire.child_main as it; print(it.__file__)", env)
    engine = json.loads(_ask(python, ENGINE, env))
    client = _client(python, sockets, where)
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, options in OPTIONS.items():
            command = [python, *options, HERE / "server.py", name, sockets, where, log]
            servers[name] = subprocess.Popen(
                command,
                env=engine if name == "engine" else env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        _wait(servers)
        python.rename(real)
        client.rename(python)
        if compared and (why := _refused(python, work, env, log)):
            print(f"every start is {why}")
            real.replace(python)
        elif compared:
            _compare(python, work, env, log)
        yield
        _count(servers, log)
    finally:
        if real.exists():
            real.replace(python)
        for server in servers.values():
            for pipe in (server.stdin, server.stdout):
                if pipe:
                    pipe.close()
            server.wait()


def _wait(servers: Mapping[str, subprocess.Popen[bytes]]) -> None:
    for name, server in servers.items():
        if not server.stdout or server.stdout.readline() != b"ready\n":
            sys.exit(f"warm: the server `{name}` did not start")


def _count(servers: Mapping[str, subprocess.Popen[bytes]], log: Path) -> None:
    """Print how many starts were warm and why others were not; a server that is gone served none."""
    for name, server in servers.items():
        if server.poll() is not None:
            sys.exit(f"warm: the server `{name}` ended with code {server.returncode} before its time")
    for line, count in collections.Counter(log.read_text().splitlines()).most_common():
        print(f"{count:5} starts: {line}")


def _ask(python: Path, code: str, env: Mapping[str, str]) -> str:
    return subprocess.run(
        [python, "-c", code], env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


def _client(python: Path, sockets: Path, child_main: str) -> Path:
    names = {
        "REAL": os.path.realpath(python),
        "SELF": python,
        "SCRIPT": python.with_name("faultwire"),
        "CHILD_MAIN": child_main,
        "SOCKETS": sockets,
    }
    client = python.with_name("python.client")
    defined = [f"-D{name}={json.dumps(str(value))}" for name, value in names.items()]
    subprocess.run(["cc", "-O2", *defined, "-o", client, HERE / "client.c"], check=True)
    return client


def _refused(python: Path, work: Path, env: Mapping[str, str], log: Path) -> str | None:
    """What the server says of a start like those that it is for, if not that it is warm."""
    subprocess.run(
        [python, "-m", "faultwire", "--version"], cwd=work, env=env, check=True, capture_output=True
    )
    (line,) = (x for x in log.read_text().splitlines() if x.startswith("command "))
    return None if line == "command served" else line.removeprefix("command ")


def _compare(python: Path, work: Path, env: Mapping[str, str], log: Path) -> None:
    """A warm start is one, gives what a cold one gives, and a start that has to be cold is cold."""
    runs = {"warm": {}, "cold": {"COLD_START": "1"}, "elsewhere": {"TZ": "Asia/Tokyo"}}
    folder = work / "compared"
    folder.mkdir()
    for arguments in SAME:
        results = {}
        for name, more in runs.items():
            before = log.read_text().splitlines() if log.exists() else []
            done = subprocess.run(
                [python, "-m", "faultwire", *arguments],
                cwd=folder, env={**env, **more}, capture_output=True, text=True, check=False,
            )  # fmt: skip
            results[name] = done.returncode, done.stdout, done.stderr
            said = [x for x in log.read_text().splitlines()[len(before) :] if x.startswith("command ")]
            expected = {"warm": ["command served"], "cold": [], "elsewhere": ["command cold: variable TZ"]}
            if said != expected[name]:
                sys.exit(f"warm: `faultwire {' '.join(arguments)}`, {name}: the server said {said}")
        if results["warm"] != results["cold"] or results["warm"] != results["elsewhere"]:
            sys.exit(f"warm: `faultwire {' '.join(arguments)}` differs from a cold start: {results}")
