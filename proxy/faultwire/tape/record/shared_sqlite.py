"""Lets the core write with the SQLite that `sqlite3` of this interpreter uses.

A second copy of SQLite in one process would be no help: the locks on a file belong to the process (POSIX), so
each copy drops those of the other, and empties the index of a log that the other one has open
(<https://www.sqlite.org/howtocorrupt.html>, 2.2.1). A tape is also read by the process that writes it.
"""

from __future__ import annotations

import ctypes
import sqlite3
from functools import cache

from faultwire import _core

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""What SQLite calls for each new connection: it, a place for an error, and the table of functions."""


@cache
def shared() -> bool:
    """Has the core the functions of that SQLite now? Not where they cannot be found, or are too old.

    They are asked for by a connection of `sqlite3`, so no other copy can answer.
    """
    try:
        library = ctypes.CDLL(_place())
        register, cancel = library.sqlite3_auto_extension, library.sqlite3_cancel_auto_extension
    except (OSError, AttributeError):  # not to be loaded by name, or with its functions hidden
        return False
    found: list[int] = []

    def keep(_connection: int | None, _error: int | None, table: int | None) -> int:
        if table:
            found.append(table)
        return 0

    entry = _ENTRY(keep)
    register(entry)
    try:
        sqlite3.connect(":memory:").close()
    finally:
        cancel(entry)
    return bool(found) and _core.share_sqlite(found[0])


def _place() -> str | None:
    """The file of the extension module, by which the library behind it is found, too; None: the program."""
    import _sqlite3

    return getattr(_sqlite3, "__file__", None)
