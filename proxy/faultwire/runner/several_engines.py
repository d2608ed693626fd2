"""Several engines for one run: how many, how they start, and how their tapes become the tape of the run.

Each engine records a tape of its own in `tapes/` of the run's folder, and seals it. When all have ended, each
is verified, and the run's tape is made of them as `tape merge` does: whoever reads a run reads all of it from
one file, and that file names the tapes that it was made of, with their roots.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.dice import token
from faultwire.mitm.engine.client import Engine, StartingEngine
from faultwire.mitm.settings import ClientsSettings
from faultwire.profile.load import dump
from faultwire.runner import closed_tape
from faultwire.runner.folder import private_dir

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from faultwire.mitm.engine.spreader import Spreader
    from faultwire.mitm.settings import EngineSettings
    from faultwire.runner.folder import RunFolder
    from faultwire.runner.launch_settings import LaunchSettings

AUTO = "auto"


def usable_cores() -> int:
    """Cores that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def engine_count(wanted: int | str, sessions: int, cores: int) -> int:
    """How many engines to start for so many `sessions` at once: never more than these, and at least one.
    `auto` leaves one of the `cores` to the agents."""
    most = cores - 1 if wanted == AUTO else int(wanted)
    return max(1, min(most, sessions))


def tapes_of(folder: RunFolder, tape: Path, count: int) -> tuple[Path, ...]:
    """Where each engine records; one engine alone records the run's tape itself."""
    if count == 1:
        return (tape,)
    place = private_dir(folder.path / "tapes")
    return tuple(place / f"engine{number}.tape" for number in range(1, count + 1))


def starting_others(
    folder: RunFolder, count: int, stack: ExitStack, spreader: Spreader | None = None
) -> list[StartingEngine]:
    """The processes of all engines but the first, which import while the first starts."""
    return [
        stack.enter_context(StartingEngine(folder.path.absolute(), handed(spreader, number), number=number))
        for number in range(2, count + 1)
    ]


def start_others(
    starting: Sequence[StartingEngine],
    settings: EngineSettings,
    tapes: Sequence[Path],
    stack: ExitStack,
    spreader: Spreader | None = None,
) -> list[Engine]:
    """Start them once the first one runs, which has made the authority and the keys that all share. They
    listen where it does, on ports of their own, or are given their connections by the `spreader`."""
    host = settings.listen.rpartition(":")[0]
    started = []
    for number, (one, tape) in enumerate(zip(starting, tapes[1:], strict=True), 2):
        own: dict[str, Any] = {"listen": f"{host}:0"}
        if spreader is not None:
            own = {"handed": spreader.descriptor(number), "implicit": None}
        update = {"number": number, "tape": tape.absolute(), **own}
        started.append(stack.enter_context(one.configure(settings.model_copy(update=update))))
    return started


def clients_of(settings: LaunchSettings) -> ClientsSettings | None:
    """The user and token behind which clients name sessions, where they may."""
    if settings.implicit is None or not settings.client_sessions:
        return None
    _, profile, seed = settings.implicit
    return ClientsSettings(user=f"s{token(6)}", token=token(16), profile=dump(profile), seed=seed)


def spreader_of(
    settings: LaunchSettings, clients: ClientsSettings | None, stack: ExitStack
) -> Spreader | None:
    """Who accepts connections for several engines at one address. Raises UsageError."""
    if clients is None or settings.engines == 1:
        return None
    from faultwire.mitm.engine.spreader import Spreader
    from faultwire.mitm.settings import EngineSettings

    same = EngineSettings(run_dir=settings.base, ca_dir=settings.base, listen=settings.listen)
    made = Spreader(same.address, settings.engines, clients.user, clients.token, same.handshake_s)
    stack.callback(made.close)
    return made


def handed(spreader: Spreader | None, number: int) -> tuple[int, ...]:
    """The descriptors that engine `number` inherits."""
    return () if spreader is None else (spreader.descriptor(number),)


def join_tapes(tapes: Sequence[Path], target: Path, base: Path) -> None:
    """Verify what each engine has recorded, and make the run's tape of it where there are several.

    Raises TapeError where a tape cannot be read, TapeTampered where one does not verify.
    """
    for tape in tapes:
        closed_tape.check(tape)
    if len(tapes) == 1:
        return
    from faultwire.tape.evidence.keyring import KeyRing, name_for
    from faultwire.tape.files.copy import merge

    project = name_for(base.absolute().parent.name)
    merge(tapes, target, f"{project}/{target.stem}", KeyRing(base / "keys").signer_or_new(project))
    closed_tape.check(target)
