"""Runs one command with a text on its standard input: all of ours that runs in an engine's own process.

An engine's workers need neither faultwire nor what it needs: this file is sent to them as it is, and imports
nothing but the standard library. The command itself is `faultwire worker`, in whatever environment has it.
"""

from __future__ import annotations

import os
import signal
import subprocess

ERRORS = 4096
"""Characters of its standard error that are kept, from the end."""
Done = tuple[int, bytes, str]


def run_command(words: list[str], folder: str, text: str) -> Done:
    """Exit code, output and the end of the standard error; code 127 where it cannot be started."""
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_die_with_parent,
        )
    except OSError as error:
        return 127, b"", f"cannot start {words[0]!r} in {folder!r}: {error.strerror}"
    output, errors = process.communicate(text.encode("utf-8", "surrogatepass"))
    return process.returncode, output, errors.decode("utf-8", "replace")[-ERRORS:]


def _die_with_parent() -> None:
    """Linux: whoever kills an engine's worker ends its command too (prctl, PR_SET_PDEATHSIG)."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() == 1:
        os._exit(1)
