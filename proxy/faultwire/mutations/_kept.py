"""Answers of models, kept by what was asked: the same run again needs no model and costs nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from faultwire import _core, dice
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 4_000_000


class Kept:
    """A folder with one small file an answer (0600), named by the SHA-256 of what was asked.

    What cannot be read counts as absent. `folder` None keeps nothing. Used by several threads.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, asked: dict[str, Any]) -> str | None:
        """The answer, if there is one."""
        if self._folder is None:
            return None
        try:
            data = self._path(asked).read_bytes()
            found = json.loads(data) if len(data) <= LARGEST else None
        except (OSError, ValueError, RecursionError):
            return None
        answer = found.get("answer") if isinstance(found, dict) else None
        return answer if isinstance(answer, str) else None

    def put(self, asked: dict[str, Any], answer: str) -> None:
        """Keep an answer, whole or not at all. Raises FaultwireError."""
        if self._folder is None:
            return
        target = self._path(asked)
        draft = target.with_name(f".{target.name}.{dice.token(4)}")
        try:
            for folder in reversed([p for p in (self._folder, *self._folder.parents) if not p.exists()]):
                folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                json.dump({"answer": answer}, file)
            draft.replace(target)
        except OSError as error:
            raise FaultwireError(
                f"cannot keep a model's answer below `{self._folder}`: {error.strerror}",
                code="mutations.cache",
                hint="run from a folder that you may write to",
            ) from error

    def _path(self, asked: dict[str, Any]) -> Path:
        assert self._folder is not None
        key = json.dumps(asked, sort_keys=True).encode()
        return self._folder / f"{_core.sha256_hex(key)}.json"
