"""Commands that start agents, and are ended by a signal: no agent may outlive them."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, by which pipelines and terminals end a command, act as Ctrl-C does: agents
    are stopped, and what had finished is judged. A second one ends the process at once. A signal that
    somebody else handles, or that is ignored (`nohup`), stays as it is."""
    if threading.current_thread() is not threading.main_thread():  # only there can handlers be set
        yield
        return
    ours = [one for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL]

    def back() -> None:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        back()
        raise KeyboardInterrupt

    for one in ours:
        signal.signal(one, interrupt)
    try:
        yield
    finally:
        back()
