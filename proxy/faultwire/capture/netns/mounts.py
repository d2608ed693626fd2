"""Puts files in the place of others, in a mount namespace of our own (`mount(2)`); outside nothing changes.

A file is bound over a file. A folder that gets entries of its own is replaced by a small file system in
memory with links to all that was in it, as a folder of certificates must have a name for each of them.
"""

from __future__ import annotations

import ctypes
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MS_NOSUID, MS_NODEV = 0x2, 0x4


def private() -> None:
    """Let nothing that is mounted from here on show outside. Raises OSError."""
    _mount("none", "/", None, MS_REC | MS_PRIVATE)


def bind(source: str, target: str) -> None:
    """Put a file, or a folder, in the place of another. Raises OSError."""
    _mount(source, target, None, MS_BIND)


def replace_folder(folder: str, entries: Mapping[str, str]) -> None:
    """A folder with all that it has, and with `entries` (name to source) besides. Raises OSError."""
    before = [(one.name, one.stat(follow_symlinks=False).st_mode) for one in _scan(folder)]
    links = {name: os.readlink(os.path.join(folder, name)) for name, mode in before if stat.S_ISLNK(mode)}
    covered = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _mount("faultwire", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m")
        for name, mode in before:
            if name in entries:
                continue
            place = os.path.join(folder, name)
            if name in links:
                os.symlink(links[name], place)
            elif stat.S_ISDIR(mode):
                os.mkdir(place)
                bind(f"/proc/self/fd/{covered}/{name}", place)
            elif stat.S_ISREG(mode):
                _empty(place)
                bind(f"/proc/self/fd/{covered}/{name}", place)
        for name, source in entries.items():
            place = os.path.join(folder, name)
            _empty(place)
            bind(source, place)
    finally:
        os.close(covered)


def apply(files: Iterable[tuple[str, str]], folders: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Folders, then files; the places that could not be replaced, each with the reason."""
    failed: list[str] = []
    for folder, entries in folders.items():
        try:
            replace_folder(folder, entries)
        except OSError as error:
            failed.append(f"{folder}: {error.strerror}")
    for source, target in files:
        try:
            bind(source, target)
        except OSError as error:
            failed.append(f"{target}: {error.strerror}")
    return failed


def _scan(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return list(found)


def _empty(place: str) -> None:
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)
