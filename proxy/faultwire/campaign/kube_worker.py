"""What a pod of a campaign runs: takes its ask from object storage, plays it, and puts the answer there.

`faultwire worker` is a process of its own below this one, so that what it starts has neither the key of the
campaign nor those of the storage in its environment. SIGTERM, by which Kubernetes ends a pod, has it answer
with what has finished. Of what went wrong the last line of the log speaks, which the pod's status keeps.
"""

from __future__ import annotations

import os
import signal
import sys
from base64 import b64decode
from contextlib import closing
from typing import TYPE_CHECKING

from faultwire.campaign.kube_exchange import Ask, Exchange, answer_bytes, answer_name, ask_name
from faultwire.campaign.local_engine import LocalEngine
from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from faultwire.campaign.engine import Ended

OWN = "FAULTWIRE_KUBE_"
STORAGE = f"{OWN}STORAGE_"
"""Before the name of a variable that only the storage's client gets."""
OPTION = "`objects` of `--on kube://…`"
FAILED = 74
"""The code of a pod that could not get its ask or put its answer (sysexits' EX_IOERR)."""
AGAIN_S = 60.0


def main(environ: MutableMapping[str, str] = os.environ) -> int:
    """The code of the process."""
    try:
        exchange, job, index = _opened(environ)
        data = exchange.get(ask_name(job, index))
        if data is None:
            raise FaultwireError(f"found no ask for the index {index} of `{job}`", code="campaign.request")
        exchange.put(answer_name(job, index), answer_bytes(_played(Ask.parse(data))))
    except FaultwireError as error:
        print(error.message, file=sys.stderr, flush=True)  # noqa: T201 - a pod's log is its standard error
        return FAILED
    return 0


def _opened(environ: MutableMapping[str, str]) -> tuple[Exchange, str, int]:
    """The storage; what only it needs is taken out of the environment, which others inherit."""
    from faultwire.store.objects import Objects

    own = {name: environ.pop(name) for name in list(environ) if name.startswith(OWN)}
    stored = {name.removeprefix(STORAGE): value for name, value in own.items() if name.startswith(STORAGE)}
    try:
        prefix, job = own[f"{OWN}PREFIX"], own[f"{OWN}JOB"]
        key, index = b64decode(own[f"{OWN}KEY"]), int(environ["JOB_COMPLETION_INDEX"])
        before = {name: environ.get(name) for name in stored}
        environ.update(stored)
        try:
            objects = Objects(own[f"{OWN}OBJECTS"], OPTION)
        finally:
            for name, value in before.items():
                environ.pop(name)
                if value is not None:
                    environ[name] = value
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"found no ask of a campaign in the environment: {error}",
            code="campaign.request",
            hint="pods of `--on kube://…` start this, not people",
        ) from error
    return Exchange(objects, prefix, key), job, index


def _played(ask: Ask) -> Ended:
    with closing(LocalEngine(1)) as engine:
        previous = signal.signal(signal.SIGTERM, lambda _number, _frame: engine.stop("pod"))
        try:
            engine.submit("pod", ask.command, ask.text)
            while True:
                for ended in engine.wait(AGAIN_S):
                    return ended
        finally:
            signal.signal(signal.SIGTERM, previous)


if __name__ == "__main__":
    sys.exit(main())
