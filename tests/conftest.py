"""For all tests: signals as in a program that a user starts.

A runner that was started in the background, or with `nohup`, hands down ignored signals, and what is
ignored at its start no shell can trap: tests about signals would then wait for ever.

What was collected stays until the end: every full garbage collection would walk over twelve thousand tests
again, 0.8 s each, and some libraries ask for one in every call.
"""

from __future__ import annotations

import gc
import signal

for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
