"""A process that dies with the one that started it, however that ends.

Linux only (`prctl(2)`, PR_SET_PDEATHSIG): elsewhere a process outlives a starter that is killed. It is the
starting *thread* whose end counts, so that it has to wait for the process. A program that changes its user
(`sudo`) loses the setting.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def with_parent(first: Callable[[], object] | None = None) -> Callable[[], None] | None:
    """A `preexec_fn` that binds a new process to this one and calls `first`; None where there is neither."""
    bind = _binder()
    if bind is None and first is None:
        return None
    parent = os.getpid()

    def prepare() -> None:
        if bind is not None:
            bind(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            if os.getppid() != parent:  # it died before it was asked for
                os._exit(128 + signal.SIGKILL)
        if first is not None:
            first()

    return prepare


def bind_to_parent() -> None:
    """Bind this process to the one that started it, where whoever that is did not do so itself."""
    bind = _binder()
    if bind is not None:
        bind(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _binder() -> Any:
    """`prctl`, looked up before the fork: afterwards nothing is to be loaded."""
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), "prctl", None)
