"""Stops agents when a signal ends the command that started them."""

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
    """Make SIGTERM and SIGHUP act like Ctrl-C: agents are stopped, and finished invocations are judged.
    A second signal ends the process at once. A signal that already has a handler, or that is ignored
    (`nohup`), is left alone."""
    if threading.current_thread() is not threading.main_thread():  # only there can handlers be set
        yield
        return
    signals = [one for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL]

    def back() -> None:
        for one in signals:
            signal.signal(one, signal.SIG_DFL)

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        back()
        raise KeyboardInterrupt

    for one in signals:
        signal.signal(one, interrupt)
    try:
        yield
    finally:
        back()
