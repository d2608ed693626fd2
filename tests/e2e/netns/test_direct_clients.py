"""Clients that ask no environment for a proxy: all that they say is on the tape, and nothing of it leaves."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.netns import clients
from tests.e2e.netns.conftest import ALL, CHEAP, Outside, command, name_of
from tests.e2e.netns.outside import FAR

from faultwire.cli._namespaced import SEALED
from faultwire.tape.read.reader import TapeReader

COUNT = 3


def script(names: tuple[str, ...], work: Path) -> Path:
    """An agent that is all of these clients, one after the other; each line of its output names one."""
    lines = [
        f"{shlex.join(clients.command(name, COUNT, work))} 2>>{work}/errors | sed 's/^/{name} /'"
        for name in names
    ]
    path = work / "agent.sh"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def answered(output: str) -> Counter[str]:
    """How many answers each client says that it has had."""
    return Counter(line.split()[0] for line in output.splitlines() if line.split()[1:2])


def captured(outside: Outside, names: tuple[str, ...]) -> None:
    agent = script(names, outside.work)
    before = outside.seen()["syns"]
    done = outside.named().run(
        *command(), "exec", "--capture", "netns", "--mock", "--record", "t.tape", "--", str(agent)
    )
    errors = outside.work / "errors"
    told = (done.stdout, done.stderr, errors.read_text() if errors.exists() else "")
    assert done.returncode == 0, told
    with TapeReader.open(outside.work / "t.tape") as tape:
        exchanges = list(tape.exchanges())
    recorded = Counter(one.request.host for one in exchanges)
    assert {name: recorded[name_of(name)] for name in names} == dict.fromkeys(names, COUNT), told
    assert answered(done.stdout) == Counter(dict.fromkeys(names, COUNT)), told
    assert SEALED in done.stderr
    seen = outside.seen()
    assert (seen["syns"] - before, seen["names"]) == (0, {})


def test_what_ignores_the_environment_is_captured(outside: Outside) -> None:
    captured(outside, CHEAP)


def test_names_that_a_file_of_hosts_resolves_are_captured_by_what_is_said(outside: Outside) -> None:
    """They go to an address for which we know no name: TLS says it."""
    captured(outside.named(), CHEAP)


@pytest.mark.nightly
def test_twelve_clients_that_ignore_the_environment_are_captured(outside: Outside) -> None:
    captured(outside, ALL)


def past(outside: Outside, names: tuple[str, ...]) -> None:
    """The control: the same clients with proxy variables go past, are counted outside, and are told."""
    agent = script(names, outside.work)
    done = outside.named().run(
        *command(), "exec", "--mock", "--record", "t.tape", "--allow-no-traffic", "--", str(agent)
    )
    seen = outside.seen()
    assert sorted(seen["names"]) == sorted(map(name_of, names)), (done.stdout, done.stderr)
    assert seen["syns"] >= len(names)
    assert f"went past the proxy: {FAR}:443" in done.stderr
    assert SEALED not in done.stderr


def test_without_a_namespace_they_go_past_and_are_reported(outside: Outside) -> None:
    past(outside, CHEAP)


@pytest.mark.nightly
def test_without_a_namespace_all_twelve_go_past_and_are_reported(outside: Outside) -> None:
    past(outside, ALL)
