"""What a client gets of each fault it gets again of its replay: the bytes, the status, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from faultwire.faults._describe import sections
from faultwire.faults._registry import registry
from faultwire.tape.read.reader import TapeReader

pytestmark = pytest.mark.nightly

HERE = Path(__file__).parent
SITES = ("connection", "response", "stream")
SETTINGS: dict[str, dict[str, Any]] = {
    "hang": {"for_ms": 50},
    "stall": {"after_events": 2, "for_ms": 50},
    "bandwidth": {"bytes_per_s": 20_000},
    "cut_stream": {"after_events": 2},
    "drift": {"type": "verbosity_shift"},
    "wrong_finish_reason": {},
}
"""In place of those of a fault's example, which take long, or need another answer."""
UNREADABLE = ("corrupt_encoding", False)
"""What cannot be unpacked cannot be searched for secrets, so a tape holds a placeholder for it."""
PARTIAL = 18
"""curl's code for a body that ends before it is whole."""
OTHERS = {
    "dns_failure": "acts on a connection, before there is a request",
    "tls_failure": "acts on a connection, before there is a request",
    "websocket_close": "acts on a WebSocket",
    **dict.fromkeys(
        ("goaway", "rst_stream", "stall_window"), "acts on HTTP/2, which this client does not speak"
    ),
    "stale_response": "gives an earlier answer to the same call again, and each call here is another one",
}
"""Faults that no such call can meet."""


def cases() -> list[str]:
    """Every fault that acts on a call of a model once its request is known."""
    return sorted(
        name
        for name, fault in registry().items()
        if fault.site in SITES and (not fault.kinds or "llm" in fault.kinds) and not fault.protocols
        if name not in OTHERS
    )


def entry(name: str) -> dict[str, Any]:
    """The fault with the settings of its example, for the case of its name alone."""
    example = yaml.safe_load(sections(registry()[name])["Example"])
    told = next((one[name] for one in example["faults"] if name in one), None)
    return {name: SETTINGS.get(name, told) or None, "on": {"kind": "llm", "text": f"case {name}."}}


class Met(NamedTuple):
    """What one call met: curl's exit code, and what it printed, with the status in the last line."""

    code: int
    body: str


def play(folder: Path, *options: str) -> dict[tuple[str, bool], Met]:
    curl = shutil.which("curl")
    assert curl, "curl is needed: apt-get install curl"
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "faultwire", "exec", "-q", *options, "--"),
            *(sys.executable, "-S", str(HERE / "fault_cases.py"), curl, *cases()),
        ],
        cwd=folder, env=kept, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {(one["name"], one["stream"]): Met(one["code"], one["body"]) for one in told}


class Runs(NamedTuple):
    """The live run, its replay, and the faults that fired in the first."""

    live: dict[tuple[str, bool], Met]
    again: dict[tuple[str, bool], Met]
    fired: set[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("every_fault")
    profile = {"name": "every", "description": "Every fault once.", "faults": list(map(entry, cases()))}
    (folder / "every.yaml").write_text(yaml.safe_dump(profile))
    live = play(folder, "--mock", "--profile", "every.yaml", "--record", "live.tape")
    with TapeReader.open(folder / "live.tape") as tape:
        fired = {line.fault for one in tape.exchanges() for line in one.faults if line.outcome == "fired"}
    return Runs(live, play(folder, "--replay", "live.tape"), fired)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", cases())
def test_a_replay_ends_as_the_live_call_did(name: str, stream: bool, runs: Runs) -> None:
    live, again = runs.live[name, stream], runs.again[name, stream]
    if (name, stream) == UNREADABLE:
        assert again.body.startswith("redacted:v1:")
        live, again = (met._replace(body=met.body.rpartition("\n")[2]) for met in (live, again))
    assert again == live


def test_the_faults_were_triggered(runs: Runs) -> None:
    """The control: there was something to replay."""
    assert set(cases()) == runs.fired


def test_the_ways_to_end_differ(runs: Runs) -> None:
    """Another control: an end in good order is another one to a client than a close or a reset."""
    codes = {name: runs.again[name, True].code for name in ("early_end", "cut_stream", "reset", "close")}
    assert codes["early_end"] == 0
    assert codes["cut_stream"] == PARTIAL
    assert 0 not in (codes["reset"], codes["close"])
