"""Compiled page templates, kept between runs: compiling them takes longer than filling them in.

They are in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`; XDG Base Directory Specification),
below `faultwire/templates`. What is kept there is code, so that a folder to which others may write is not
used; without one, every process compiles for itself.
"""

from __future__ import annotations

import os
import pickle
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import FileSystemBytecodeCache

from faultwire.dice import token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2.bccache import Bucket

_DIGEST = 32
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class _Kept(FileSystemBytecodeCache):
    """Each file begins with the digest of the rest: damaged code would not fail, but do anything."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load compiled code; damaged files count as missing."""
        try:
            data = Path(self._get_cache_filename(bucket)).read_bytes()
        except OSError:
            return
        digest, code = data[:_DIGEST], data[_DIGEST:]
        if sha256(code).digest() != digest:
            return
        try:
            bucket.bytecode_from_string(code)
        except (pickle.UnpicklingError, EOFError):  # of another release, whose form it has
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store compiled code; write errors are ignored."""
        code = bucket.bytecode_to_string()
        place = Path(self._get_cache_filename(bucket))
        draft = place.with_name(f".{token(8)}")
        with suppress(OSError):
            draft.write_bytes(sha256(code).digest() + code)
            draft.replace(place)
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def kept(environ: Mapping[str, str] = os.environ) -> FileSystemBytecodeCache | None:
    """The folder of compiled templates; None if there is no safe one."""
    base = environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):  # the specification has relative ones ignored
        base = os.path.join(environ.get("HOME") or "", ".cache")
    place = Path(base, "faultwire", "templates")
    if not place.is_absolute():
        return None
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        found = [one.stat() for one in (place, place.parent)]
    except OSError:
        return None
    ours = all(one.st_uid == os.getuid() and not one.st_mode & _OTHERS for one in found)
    return _Kept(str(place)) if ours else None
