"""Keeps the memory of this process, in which the keys are, out of core files and from other processes.

With `PR_SET_DUMPABLE` off no core is written, whatever `core_pattern` pipes it to, and a process of the same
user can neither trace this one nor read its memory (`prctl(2)`, `ptrace(2)`). Elsewhere than on Linux only
the limit on core files remains. Root can do all of it in any case.
"""

from __future__ import annotations

import resource
import sys

PR_SET_DUMPABLE = 4


def keep_private() -> None:
    """Do so, for this process; what it starts has the limit on core files as well. Raises OSError."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE) failed")
