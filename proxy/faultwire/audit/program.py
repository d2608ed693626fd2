"""What a command's program is: a hash of the files that it names."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 4 << 20
"""Bytes of a file that is read; interpreters are larger, as a rule."""


def program_hash(command: Sequence[str]) -> str | None:
    """SHA-256 over the files among a command's words, in order; None where there is none that is small
    enough. What these files import is not in it."""
    whole, read = sha256(), False
    for word in command:
        path = Path(word)
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                continue
            data = path.read_bytes()
        except (OSError, ValueError):
            continue
        whole.update(sha256(data).digest())
        read = True
    return whole.hexdigest() if read else None
