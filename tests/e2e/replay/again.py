"""Record an SDK's agent once, then replay it again and again: every byte and every boundary the same?

again.py NAME TIMES      NAME: a row of `docs/reference/sdks.md`; prints one JSON object

Replays with `FAULTWIRE_OFFLINE=1` are to be run where there is no network at all.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

from faultwire import wire
from faultwire.events import Recorded, Response
from faultwire.profile.model import Profile
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.tape.read.reader import TapeReader
from faultwire.wire.framing.split import streams

AGENTS = Path(__file__).parents[1] / "agents"
SCRIPT = "chunk_delay_ms: 10\nturns: []\n"
LIMIT_S = 120
KEYS = {"OPENAI_API_KEY": "sk-test-key-of-nobody", "ANTHROPIC_API_KEY": "sk-ant-test-key-of-nobody"}
STEERING = re.compile(r"(?i).*(_proxy|_base_url|ssl_cert.*|_ca_bundle|node_options)$")


def agents(name: str) -> ModuleType:
    """A module beside the agents."""
    spec = importlib.util.spec_from_file_location(name, AGENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names() -> list[str]:
    """The rows of the table of SDKs."""
    return list(agents("outcomes").ROWS)


def command(name: str) -> list[str]:
    """An agent that asks in every way that it knows, several at once where it can."""
    agents("environments")
    outcomes = agents("outcomes")
    found: list[str] = outcomes.command(outcomes.ROWS[name])
    if "sync/whole" in found:
        found += ["async/whole", "async/stream"]
    return [*found, "tools"]


def met(program: list[str], environment: dict[str, str]) -> Any:
    """What the agent saw, without how long it took."""
    done = subprocess.run(
        program,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the agent ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return timeless(json.loads(done.stdout.splitlines()[-1]))


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            k: timeless(v) for k, v in value.items() if k not in ("gaps", "seconds", "at", "took", "events")
        }
    return value


def base() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not STEERING.match(k)} | KEYS


Said = dict[str, list[tuple[Any, ...]]]


def said(exchanges: list[Recorded]) -> Said:
    """Of each call, in order: status, headers, body, and where its pieces end."""
    out: Said = defaultdict(list)
    for one in exchanges:
        told = one.delivered
        assert told is not None
        ends = tuple(end for end, _ in told.chunks)
        # Framing is the client's connection's, not the answer's.
        headers = tuple(
            h for h in told.headers if h[0].lower() not in ("transfer-encoding", "content-length")
        )
        out[one.key].append((told.status, headers, told.body, ends, told.trailers, one.ending))
    return out


def streamed(one: Recorded) -> bool:
    """Was the answer a stream? Of Gemini's arrays the head does not tell."""
    if one.delivered is None:
        return False
    head = Response(one.delivered.status, one.delivered.reason, one.delivered.headers)
    return streams(head, wire.protocol(one.protocol) if one.protocol else None, one.request)


def record(program: list[str], folder: Path) -> tuple[Any, Path]:
    """Run it once against the mock; what it met, and the tape."""
    (folder / "script.yaml").write_text(SCRIPT)
    tape = folder / "recorded.tape"
    settings = LaunchSettings("exec", tape=tape, mock=True, script=folder / "script.yaml")
    calm = Profile(name="calm")
    with start_run(settings) as run:
        seen = met(program, dict(run.open_session("exec", calm, 1)) | KEYS)
        run.close_session("exec")
        run.folder.end("finished")
    return seen, tape


def replay(program: list[str], tape: Path, times: int, seen: Any, folder: Path) -> dict[str, Any]:
    """Replay it so many times on one engine; what differed."""
    with TapeReader.open(tape) as reader:
        recorded = said(list(reader.exchanges()))
    totals = {"replays": 0, "exchanges": 0, "streams": 0, "missed": 0, "left": 0, "other": 0, "agent": 0}
    again = folder / "replayed.tape"
    settings = LaunchSettings("exec", tape=again, replay=ReplaySettings(tape=tape.absolute()))
    calm = Profile(name="calm")
    with start_run(settings) as run:
        for number in range(times):
            name = f"again-{number}"
            found = met(program, dict(run.open_session(name, calm, 1)) | KEYS)
            report = run.close_session(name).replay
            assert report is not None
            totals["replays"] += 1
            totals["missed"] += report["missed"]
            totals["left"] += report["left"]
            totals["agent"] += found != seen
        run.folder.end("finished")
    with TapeReader.open(again) as reader:
        for number in range(times):
            exchanges = list(reader.exchanges(f"again-{number}"))
            totals["exchanges"] += len(exchanges)
            totals["streams"] += sum(map(streamed, exchanges))
            totals["other"] += said(exchanges) != recorded
    return totals


def main() -> None:
    """Record (without `FAULTWIRE_OFFLINE`) or replay, in the working directory."""
    name, times = sys.argv[1], int(sys.argv[2])
    os.environ.update(KEYS)
    for variable in [v for v in os.environ if STEERING.match(v)]:
        del os.environ[variable]
    program, folder = command(name), Path.cwd()
    if os.environ.pop("FAULTWIRE_OFFLINE", None):
        seen = json.loads((folder / "seen.json").read_text())
        print(json.dumps(replay(program, folder / "recorded.tape", times, seen, folder)))
    else:
        seen, tape = record(program, folder)
        (folder / "seen.json").write_text(json.dumps(seen))
        with TapeReader.open(tape) as reader:
            print(json.dumps({"exchanges": len(list(reader.exchanges()))}))


if __name__ == "__main__":
    main()
