"""The engine's process (`python -I -O child_main.py faultwire.mitm`).

It reads its settings as one JSON line on standard input, prints one JSON line once it listens (or an
error), and ends on SIGINT, SIGTERM, `shutdown`, or when its standard input is closed: then whoever
started it is gone. A second signal ends it at once. Lines before that one report the steps of its start.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import signal
import sys
from typing import Any

from pydantic import ValidationError

from faultwire import process_tree
from faultwire.child_process import report
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.engine.control_server import Control, as_json
from faultwire.mitm.engine.engine import Engine
from faultwire.mitm.engine.event_loop import GuardedLoop
from faultwire.mitm.engine.garbage_collection import PacedCollector
from faultwire.mitm.engine.private_memory import keep_private
from faultwire.mitm.sessions.access import reachable
from faultwire.mitm.settings import EngineSettings

SWITCH_S = 0.0005
"""Seconds for which the tape's thread may keep the interpreter while a stream waits for it; with the
usual 5 ms the first event of a stream came three times as late."""


def main() -> int:
    """Run an engine; the exit code is that of what went wrong at the start, else 0."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="%(asctime)s %(name)s %(message)s")
    _raise_file_limit()
    keep_private()
    sys.setswitchinterval(SWITCH_S)
    try:
        settings = EngineSettings.model_validate_json(sys.stdin.buffer.readline())
    except ValidationError as error:
        return _refuse(UsageError(f"found bad engine settings: {_first(error)}", code="engine.settings"))
    with asyncio.Runner(loop_factory=GuardedLoop) as runner:
        try:
            return runner.run(_run(settings))
        except FaultwireError as error:
            return _refuse(error)


async def _run(settings: EngineSettings) -> int:
    engine = Engine(settings)
    report("opening the port and the tape")
    await engine.start()
    report("opening the control socket")
    control = Control(engine, settings.run_dir, settings.number)
    await control.start()
    loop = asyncio.get_running_loop()
    collector = PacedCollector(lambda: engine.gateway.live)
    collector.start(loop)
    on_signal = _OnSignal(engine)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    loop.add_reader(sys.stdin.fileno(), _on_stdin, engine, loop)
    _emit(
        {
            "host": reachable(settings.address[0]),
            "port": engine.port,
            "control": str(control.path),
            "ca_bundle_source": str(engine.authority.certificate),
            "implicit": settings.implicit is not None,
            "user": engine.gateway.sessions.implicit.user if engine.gateway.sessions.implicit else "",
            "guarded": bool(engine.gateway.access.guarded),
            "token": engine.gateway.sessions.implicit.token if engine.gateway.sessions.implicit else "",
        }
    )
    await engine.stopped.wait()
    collector.stop()
    # Whoever started us may have been killed, and then nobody else ends what its agents have started.
    await asyncio.to_thread(process_tree.end, settings.agents)
    await engine.drain()
    control.close()
    await engine.finish()
    return 0


class _OnSignal:
    """The first signal begins the end, the second is the end. Counted here, because a closed standard
    input, which comes together with the first one when our starter ends us, is no second signal."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen = False

    def __call__(self) -> None:
        if self._seen:
            # What was acknowledged is on the disk; the rest is given up, as the second signal asks.
            os._exit(130)
        self._seen = True
        self._engine.stop()


def _on_stdin(engine: Engine, loop: asyncio.AbstractEventLoop) -> None:
    if not os.read(sys.stdin.fileno(), 65536):
        loop.remove_reader(sys.stdin.fileno())
        engine.stop()


def _raise_file_limit() -> None:
    """A stream takes two descriptors; the soft limit is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _refuse(error: FaultwireError) -> int:
    _emit(as_json(error))
    return error.exit_code


def _emit(word: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(word) + "\n")
    sys.stdout.flush()


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
