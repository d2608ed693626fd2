"""Signals that end a command which started agents."""

from __future__ import annotations

import signal
import threading

import pytest

from faultwire.cli._ended import interruptible


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interruption_once(number: signal.Signals) -> None:
    meanwhile: list[object] = []

    def ended() -> None:
        with interruptible():
            try:
                signal.raise_signal(number)
            finally:
                meanwhile.append(signal.getsignal(number))  # the next one ends us

    assert signal.getsignal(number) is signal.SIG_DFL
    with pytest.raises(KeyboardInterrupt):
        ended()
    assert meanwhile == [signal.SIG_DFL]


def test_handlers_are_restored_without_a_signal() -> None:
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_cannot_set_handlers_and_goes_on() -> None:
    done: list[object] = []

    def inside() -> None:
        with interruptible():
            done.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert done == [signal.SIG_DFL]
