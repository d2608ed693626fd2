"""`python -m tests.compare FAULTWIRE [--agent NAME] [--profile NAME]`: does this version do what another did?

FAULTWIRE is the command of another version, installed in an environment of its own. Each agent on an official
SDK runs under each built-in profile, by the other version and by this one, in the same folder with the same
seed. Compared are the exit code, what the agent printed, the ledger's hash, and every exchange on the tape:
what was asked, what each side got, how it ended, which faults decided what. Then this version verifies the
other's tape and replays it to the same agent.

Prints a line a case. Exit codes: 0 all cases are equal, 1 some are not, 2 no run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultwire.errors import FaultwireError
from faultwire.events import Delivery, Recorded
from faultwire.tape.read.reader import TapeReader

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "agents"))

from harness import base_environment  # noqa: E402  (a folder of scripts, found by the line above)
from test_sdk_matrix import AGENTS, command  # noqa: E402

SEED = "7"
LIMIT_S = 240
VARYING = frozenset(("gaps", "seconds", "request_id", "message", "at"))
"""What an agent prints that differs from run to run, or that quotes an instant."""
ENDINGS = {"closed": "cut"}
"""What 0.1.0 called otherwise: an answer that was ended early but cleanly."""
WAYS = ("stream", "tools")
"""One at a time: agents make their calls in several ways at once, and which comes first is chance."""


@dataclass(frozen=True)
class Observed:
    """One run, reduced to what must not differ between versions."""

    code: int
    printed: Any
    ledger: str
    exchanges: tuple[str, ...]


def main(arguments: list[str] | None = None) -> int:
    profiles = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))
    parser = argparse.ArgumentParser(prog="python -m tests.compare")
    parser.add_argument("other", type=Path, metavar="FAULTWIRE")
    parser.add_argument("--agent", action="append", choices=AGENTS)
    parser.add_argument("--profile", action="append", choices=profiles)
    given = parser.parse_args(arguments)
    if not given.other.is_file():
        parser.error(f"found no file `{given.other}`, expected the `faultwire` command of another version")
    cases = list(itertools.product(given.agent or AGENTS, given.profile or profiles, WAYS))
    unequal = 0
    for agent, profile, way in cases:
        differences = compare(given.other.absolute(), agent, profile, way)
        unequal += bool(differences)
        print(f"{'differs' if differences else 'equal  '} {agent} {profile} {way}", flush=True)
        for difference in differences:
            print(f"    {difference}", flush=True)
    print(f"{len(cases) - unequal} of {len(cases)} cases are equal")
    return 1 if unequal else 0


def compare(other: Path, agent: str, profile: str, way: str) -> list[str]:
    """What differs in one case, a line each."""
    mine = Path(sys.executable).with_name("faultwire")
    asked = f"sync/{way}" if way == "stream" and not agent.startswith("node") else way
    program = command(agent, asked)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chaos = ("--mock", "--seed", SEED, "--profile", profile)
        before = observe(other, folder, "before", program, *chaos)
        after = observe(mine, folder, "after", program, *chaos)
        found = [
            f"{what}: {getattr(before, what)!r:.600} before, {getattr(after, what)!r:.600} now"
            for what in ("code", "printed", "ledger")
            if getattr(before, what) != getattr(after, what)
        ]
        found += [f"an exchange only before: {one:.900}" for one in subtract(before, after)]
        found += [f"an exchange only now: {one:.900}" for one in subtract(after, before)]
        verified = run([str(mine), "tape", "verify", "before.tape"], folder)
        if verified.returncode:
            found.append(f"the tape of before: verify exits {verified.returncode}: {verified.stdout:.300}")
        replayed = run([str(mine), "exec", "--replay", "before.tape", "--", *program], folder)
        if printed(replayed.stdout) != before.printed:
            found.append(f"the tape of before, replayed: {replayed.stdout:.600} {replayed.stderr[-600:]}")
    return found


def observe(faultwire: Path, folder: Path, name: str, program: list[str], *options: str) -> Observed:
    """One run of a version."""
    tape = folder / f"{name}.tape"
    done = run([str(faultwire), "exec", "--record", str(tape), *options, "--", *program], folder)
    try:
        exchanges = tuple(sorted(facts(one) for one in TapeReader.open(tape).exchanges()))
    except FaultwireError as error:
        exchanges = (f"unreadable: {error}",)
    ledger = next(
        (line.split()[-1] for line in done.stderr.splitlines() if line.startswith("ledger:")), "none"
    )
    return Observed(done.returncode, printed(done.stdout), ledger, exchanges)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=base_environment(), capture_output=True, text=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip


def printed(stdout: str) -> Any:
    """The agent's JSON without what varies."""
    lines = [line for line in stdout.splitlines() if line.startswith("{")]
    return steady(json.loads(lines[-1])) if lines else None


def steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if key not in VARYING}
    return [steady(inner) for inner in value] if isinstance(value, list) else value


def facts(one: Recorded) -> str:
    """An exchange in one line. Its number and its times are of the run, not of the version."""
    faults = [(fault.fault, fault.id, fault.site, fault.outcome, fault.subject) for fault in one.faults]
    request = (one.request.method, one.request.path, one.request.body)
    ending = ENDINGS.get(one.ending, one.ending)
    answers = (delivery(one.upstream), delivery(one.delivered))
    return repr(
        (one.kind, one.protocol, one.tool, one.attempt, ending, request, answers, sorted(map(str, faults)))
    )


def delivery(one: Delivery | None) -> tuple[int, bytes] | None:
    return (one.status, one.body) if one else None


def subtract(these: Observed, those: Observed) -> list[str]:
    left = list(those.exchanges)
    only = []
    for one in these.exchanges:
        if one in left:
            left.remove(one)
        else:
            only.append(one)
    return only


if __name__ == "__main__":
    sys.exit(main())
