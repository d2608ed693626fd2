"""Runs a command in our place: same terminal, same streams, its signals and its exit code.

The command stays in our process group, so that it can read the terminal and Ctrl-C reaches it
without our help. Signals that somebody sends to us alone are passed on to it; those that the
terminal sends reach the whole group, and passing them on would deliver them twice.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from contextlib import nullcontext
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.errors import AgentError, CaptureError
from faultwire.parent_death import with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

_PASSED_ON = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGCONT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_WATCHED = frozenset({*_PASSED_ON, signal.SIGCHLD})
_FROM_TERMINAL = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP})
_STOPPED_BY_TERMINAL = frozenset({signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
STOPS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
"""Signals that ask a program to end."""
LOOK_S = 0.5
"""Seconds after which we look for ourselves: a thread that does not block it may swallow the signal
that tells of the command's end."""
GRACE_S = 0.25
"""Seconds for a command that is ended to end by itself."""
_SI_KERNEL = 0x80
"""`si_code` of a signal that no process sent (Linux `siginfo.h`)."""


def find(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The path of a command's program. Raises AgentError where there is none that can be run."""
    name = command[0]
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found:
        return found
    if os.sep in name and os.path.exists(name):
        raise AgentError(
            f"found `{name}`, which is not a program that may be run", code="agent.not_executable"
        )
    raise AgentError(
        f"found no program `{name}`, expected a command",
        code="agent.not_found",
        hint="give its path, or check `PATH`",
    )


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext,
    alive: Callable[[], bool] = lambda: True,
    received: set[int] | None = None,
    enter: Callable[[], None] | None = None,
) -> int:
    """Run a command to its end; its exit code, or the negative number of the signal that ended it.

    Call it from the main thread while no other thread waits for signals. `watch` is open, with its process
    id, while it runs; a thread of its own must have every signal blocked. It is ended where `alive`, which is
    asked at least every LOOK_S, says that what it needs is gone. `received` is given the signals that came
    meanwhile. `enter` is called in the new process before all else, to take it elsewhere. Raises AgentError
    where the command cannot be started, CaptureError where it cannot enter.
    """
    program = find(command, environment)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        pid = _spawn(program, command, environment, before, enter)
        with watch(pid):
            return _wait(pid, alive, set() if received is None else received)
    finally:
        # What still waits was meant for the command; it must not end us before we have reported the result.
        while signal.sigpending() & _WATCHED:
            _take_pending()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def shell_code(code: int) -> int:
    """An exit code as a shell gives it: 128 + n for signal n."""
    return 128 - code if code < 0 else code


def _spawn(
    program: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    mask: set[int] | set[signal.Signals] | set[int | signal.Signals],
    enter: Callable[[], None] | None,
) -> int:
    bound = with_parent(lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))

    def prepare() -> None:
        if enter is not None:
            enter()  # first: who changes his capabilities loses what binds him to his parent
        if bound is not None:
            bound()

    try:
        process = subprocess.Popen(
            list(command),
            executable=program,
            env=dict(environment),
            close_fds=False,
            # Python ignores SIGPIPE and SIGXFSZ from its start on, and an ignored signal stays so in a child.
            restore_signals=True,
            preexec_fn=prepare,
        )
    except OSError as error:
        hint = "its first line must name its interpreter (`#!`)" if error.errno == errno.ENOEXEC else None
        raise AgentError(
            f"cannot start `{program}`: {error.strerror}", code="agent.not_started", hint=hint
        ) from error
    except subprocess.SubprocessError as error:
        raise CaptureError(
            f"`{program}` was not started: it could not enter its namespaces",
            code="capture.no_namespace",
            hint="try again, or leave out `--capture netns`",
        ) from error
    process.returncode = 0  # `_wait` waits for it, and knows of stops and of signals
    return process.pid


def _wait(pid: int, alive: Callable[[], bool], received: set[int]) -> int:
    while True:
        signo, sent_to_us = _next_signal()
        if signo != signal.SIGCHLD:
            received.add(signo)
            if sent_to_us:
                os.kill(pid, signo)
            continue
        ended, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if not ended:
            if not alive():
                return _end(pid)
            continue
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        if os.WSTOPSIG(status) in _STOPPED_BY_TERMINAL:
            # Ctrl-Z: the shell waits for us, not for the command. `fg` continues the whole group.
            os.kill(os.getpid(), signal.SIGSTOP)


def _end(pid: int) -> int:
    """End a command: ask it to, and kill it where it does not at once."""
    os.kill(pid, signal.SIGTERM)
    deadline = clock.monotonic() + GRACE_S
    while clock.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        clock.pause(0.01)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _take_pending() -> None:
    """Take a signal that waits. Another thread may take it first, so nobody may wait for it here."""
    if hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait(_WATCHED, 0)
    else:
        signal.sigwait(_WATCHED)


def _next_signal() -> tuple[int, bool]:
    """The next signal, and whether it was sent to us alone."""
    if hasattr(signal, "sigtimedwait"):  # Linux; macOS has none
        info = signal.sigtimedwait(_WATCHED, LOOK_S)
        if info is None:
            return signal.SIGCHLD, False
        return info.si_signo, info.si_code != _SI_KERNEL
    signo = signal.sigwait(_WATCHED)
    return signo, signo not in _FROM_TERMINAL or not _in_foreground()


def _in_foreground() -> bool:
    """Where the sender is unknown: is a terminal attached to our process group at all?"""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
