"""`faultwire demo`: a real agent on the official SDK, in its own process, against our mock."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faultwire.demo.run import KEY
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again, for three minutes at most."""
    deadline = time.monotonic() + 180
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Does a process run? One that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def descendants(pid: int) -> list[int]:
    """Children, and theirs."""
    children = [int(c) for t in Path(f"/proc/{pid}/task").glob("*/children") for c in t.read_text().split()]
    return [each for child in children for each in (child, *descendants(child))]


def squares(report: dict) -> dict[tuple[str, str], set[str]]:
    """The verdicts in each square of the matrix."""
    found: dict[tuple[str, str], set[str]] = {}
    for cell in report["cells"]:
        found.setdefault((cell["scenario"], cell["invariant"]), set()).add(cell["verdict"])
    return found


def untimed(value: Any) -> Any:
    """A report without instants and durations, without what names the run itself, and without how far a
    server was ahead of the agent when an exchange was broken off."""
    if isinstance(value, dict):
        own = ("_at", "_ms", "_s")
        if value.get("ending", "complete") != "complete":
            ahead = ("said", "withheld", "withheld_not_shown")
            kept = {
                k: v for k, v in value.items() if k not in ("ending", "upstream", "stream", "conversation")
            }
            for part in ("stream", "conversation"):
                kept[part] = {k: v for k, v in (value[part] or {}).items() if k not in ahead}
            return untimed(kept) | {"ended": value["ending"]}
        return {k: untimed(v) for k, v in value.items() if not k.endswith(own) and k != "run"}
    return [untimed(item) for item in value] if isinstance(value, list) else value


def decided(run: Path) -> list[tuple[str, ...]]:
    """What was decided on which call. The ledger's hash is the same on every machine, so it leaves out the
    keys that say which call; in one project they can be compared."""
    with TapeReader.open(run / "run.tape") as tape:
        return sorted(
            (session, line.key, str(line.n), str(line.attempt), line.id, line.outcome, line.effect or "-")
            for session, line in tape.ledger()
        )


def test_the_demo_shows_where_an_agent_copes_and_where_it_does_not(demo):
    # The user's own settings of the SDK must not lead the demo's agent elsewhere.
    theirs = {
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "OPENAI_API_KEY": "sk-proj-real-looking-key-0123456789",
    }
    ran = demo("--keep", "-o", "mine.html", "--strict", env=theirs)
    assert ran.code == 1, ran.stderr  # --strict: some verdict fails
    report = ran.report

    # Calm, everything passes: what fails later fails because of a fault.
    assert {
        v for (scenario, _), verdicts in squares(report).items() if scenario == "calm" for v in verdicts
    } == {"pass"}
    # A rate limit is waited out: the SDK retries, and that is no storm.
    assert squares(report)["rate_limits", "right_answer"] == {"pass"}
    assert squares(report)["rate_limits", "no_retry_storm"] == {"pass"}
    # The bug: a stream that broke off is taken for a whole answer.
    assert "fail" in squares(report)["stream_chaos", "right_answer"]
    broken = [
        c["invocation"]
        for c in report["cells"]
        if c["verdict"] == "fail" and c["invariant"] == "right_answer"
    ]
    for part in report["invocations"]:
        if part["id"] in broken:
            last = part["exchanges"][-1]
            assert last["ending"] in ("cut", "reset")
            assert any(f["outcome"] == "fired" and f["effect"] for f in last["faults"])

    # Every chaos invocation was really broken, so no verdict is unknown.
    assert report["score"]["cells"]["unknown"] == 0
    assert report["score"]["gate"] == "fail"
    assert 0 < report["score"]["value"] < 100

    # What is printed is what is written.
    assert f"score  {report['score']['value']:.2f}" in ran.stdout
    assert report["run"]["ledger"] == ran.ledger
    assert (ran.folder / "mine.html").read_text() == (ran.run / "report.html").read_text()
    assert "right_answer" in ran.stdout
    assert len(list(ran.run.glob("*.stdout"))) == len(report["invocations"])

    # The tape holds it all and verifies; the ledger can be worked out from it again.
    with TapeReader.open(ran.run / "run.tape") as tape:
        assert tape.ledger_hash() == ran.ledger
        assert sorted(s.name for s in tape.sessions()) == sorted(p["id"] for p in report["invocations"])
    checked = subprocess.run(
        [sys.executable, "-m", "faultwire", "tape", "verify", str(ran.run / "run.tape")],
        cwd=ran.folder,  # where the key that sealed it is trusted
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr

    # Nobody else may read it, and no key is anywhere in it: not the agent's, not the user's own.
    assert {stat.S_IMODE(p.stat().st_mode) for p in (ran.run, ran.run.parent, ran.folder / ".faultwire")} == {
        0o700
    }
    for path in (ran.folder / ".faultwire").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert KEY.encode() not in data, path
            assert theirs["OPENAI_API_KEY"].encode() not in data, path


@pytest.mark.nightly
def test_the_same_seed_is_the_same_run_one_at_a_time_or_eight_at_once(demo):
    one = demo("--seed", "7", "--concurrency", "1")
    eight = demo("--seed", "7", "--concurrency", "8")
    assert (one.code, eight.code) == (0, 0), one.stderr + eight.stderr
    assert one.ledger == eight.ledger
    assert untimed(one.report) == untimed(eight.report)


@pytest.mark.nightly
@pytest.mark.parametrize("concurrency", ["1", "8"])
def test_twenty_runs_of_one_seed_have_one_ledger(demo, concurrency):
    first = demo("--seed", "20", "--concurrency", "4")
    for _ in range(20):
        again = demo("--seed", "20", "--concurrency", concurrency)
        assert (again.ledger, decided(again.run)) == (first.ledger, decided(first.run))
    other = demo("--seed", "8", "--concurrency", concurrency, "--format", "json")
    assert json.loads(other.stdout) == other.report
    assert other.report["run"]["ledger"] != first.ledger


@pytest.mark.nightly
def test_ctrl_c_ends_it_with_130_and_leaves_no_process_behind(start_demo):
    process, folder = start_demo("--concurrency", "4")
    runs = folder / ".faultwire" / "runs"
    wait_until(lambda: any("acknowledged" in e.read_text() for e in runs.glob("*/events.jsonl")))
    (about,) = runs.glob("*/run.json")
    engine = json.loads(about.read_text())["engine_pid"]
    agents = descendants(process.pid)
    assert len(agents) >= 2  # the engine, and an agent or more
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert json.loads(about.read_text())["status"] == "interrupted"
    wait_until(lambda: not [pid for pid in (engine, *agents) if alive(pid)])


@pytest.mark.nightly
def test_a_lost_engine_voids_what_it_had_in_flight_and_keeps_what_was_finished(start_demo):
    process, folder = start_demo("--concurrency", "2", stderr=subprocess.PIPE)
    runs = folder / ".faultwire" / "runs"
    wait_until(lambda: ended(runs) >= 3)
    (about,) = runs.glob("*/run.json")
    os.kill(json.loads(about.read_text())["engine_pid"], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 3

    told = json.loads(about.read_text())
    assert (told["status"], told["error"]) == ("void", "run.void")
    report = json.loads((about.parent / "report.json").read_text())
    lost = {part["id"]: part["voids"] for part in report["invocations"] if part["voids"]}
    kept = [part for part in report["invocations"] if not part["voids"]]
    assert lost
    assert len(kept) >= 3
    # Its socket closes a moment before its end can be seen.
    reasons = {why for voids in lost.values() for why in voids}
    assert "the engine ended with code `-9`" in reasons
    assert all(why.startswith("the engine ") for why in reasons)
    for cell in report["cells"]:
        void = cell["invocation"] in lost
        assert (cell["verdict"] == "unknown") == void
        assert cell["explanation"].startswith("inconclusive: ") == void
    assert all(part["exchanges"] for part in kept)  # their traffic is there, whole
    first = said.decode().splitlines()[-2]
    assert first.startswith(
        f"run.void: {len(lost)} of {len(report['invocations'])} invocations are inconclusive ("
    )
    assert said.decode().splitlines()[-1].startswith("hint: the other invocations are in the report")
    assert "inconclusive and not counted" in (about.parent / "report.html").read_text()

    # What was on the tape before the engine died still verifies.
    checked = subprocess.run(
        [sys.executable, "-m", "faultwire", "tape", "verify", str(about.parent / "run.tape")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def ended(runs: Path) -> int:
    """Sessions on the tape of the one run that have ended."""
    for path in runs.glob("*/run.tape"):
        with TapeReader.open(path) as tape:
            return sum(session.ended_ms is not None for session in tape.sessions())
    return 0


@pytest.mark.nightly
def test_without_a_package_index_it_states_plainly_what_is_missing(demo):
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}
    ran = demo(env=nowhere, python=None)
    assert ran.code == 3
    assert (
        "demo.no_sdk: the package `openai`, which the demo's agent is written with, could not be installed"
        in ran.stderr
    )
    assert (
        "hint: the package index must answer once; or name an interpreter that has it: --agent-python"
        in ran.stderr
    )
    assert ran.run is None
    assert not list((ran.folder / ".faultwire" / "demo").iterdir())
