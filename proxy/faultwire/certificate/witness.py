"""A witness with what it has cosigned: on the disk before a cosignature leaves, so that no kill and no second
process has it cosign two trees of one size."""

from __future__ import annotations

import base64
import fcntl
import os
import threading
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.certificate.cosignature import EMPTY, Asked, Seen, WitnessKey, cosign, judged
from faultwire.certificate.files import write_whole
from faultwire.errors import FaultwireError, UsageError
from faultwire.tape.evidence.signed_note import NoteError, SignerKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey

KEY = "witness.key"
LOCK = ".lock"


class Witness:
    """The only one over its folder, in which its key is, and a file for each log."""

    def __init__(self, folder: Path, name: str, keys: Mapping[str, VerifierKey]) -> None:
        """`keys` are the logs, by origin. Raises UsageError where another process has the folder, or what is
        there cannot be read."""
        self._folder = folder
        self._keys = dict(keys)
        self._turn = threading.Lock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._signer = _signer(folder / KEY, name)
            self._seen = {origin: self._read(origin) for origin in self._keys}
        except BlockingIOError as error:
            self.close()
            raise UsageError(
                f"another witness has `{folder}`, expected one that nobody uses", code="witness.busy"
            ) from error
        except BaseException:
            self.close()
            raise

    @property
    def key(self) -> WitnessKey:
        """By which others verify its cosignatures."""
        return WitnessKey.of(self._signer)

    def add(self, body: bytes) -> str:
        """Answer a request with a cosignature. Raises RefusedError, and FaultwireError where the disk does
        not keep what was to be cosigned."""
        asked = Asked.parse(body)
        with self._turn:
            tree = judged(asked, self._keys, self._seen.get(asked.origin, EMPTY))
            if tree != self._seen[asked.origin]:
                self._keep(asked.origin, tree)
                self._seen[asked.origin] = tree
            # Within the turn: a cosignature says that no larger tree was seen at its time.
            return cosign(self._signer, asked.note.text, clock.wall_ms() // 1000)

    def close(self) -> None:
        """Let the folder go."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def _path(self, origin: str) -> Path:
        return self._folder / f"{sha256(origin.encode()).hexdigest()}.log"

    def _read(self, origin: str) -> Seen:
        path = self._path(origin)
        try:
            found, size, root, end = path.read_text().split("\n")
            seen = Seen(int(size), base64.b64decode(root, validate=True))
            if found != origin or end or len(seen.root) != 32 or seen.size < 0:
                raise ValueError("it has another form")
        except FileNotFoundError:
            return EMPTY
        except (OSError, ValueError) as error:
            raise UsageError(
                f"cannot read what was cosigned of `{origin}` in `{path}`: {error}",
                code="witness.state",
                hint="restore the file, or begin with a new folder and with it a new key",
            ) from error
        return seen

    def _keep(self, origin: str, tree: Seen) -> None:
        text = f"{origin}\n{tree.size}\n{base64.b64encode(tree.root).decode()}\n"
        try:
            write_whole(self._path(origin), text.encode())
        except OSError as error:
            raise FaultwireError(
                f"cannot keep what is to be cosigned in `{self._folder}`: {error.strerror}",
                code="witness.store",
            ) from error


def by_origin(keys: Sequence[VerifierKey]) -> dict[str, VerifierKey]:
    """The logs by origin. Raises UsageError where two keys claim one."""
    known = {key.name: key for key in keys}
    for key in keys:
        if known[key.name] != key:
            raise UsageError(
                f"found two keys for the log `{key.name}`, expected one for each origin", code="witness.log"
            )
    return known


def _signer(path: Path, name: str) -> SignerKey:
    """The key in a file; a new one where there is none."""
    try:
        found = SignerKey.parse(path.read_text())
    except FileNotFoundError:
        made = SignerKey.fresh(name)
        write_whole(path, made.dump().encode())
        return made
    except (OSError, NoteError, UnicodeDecodeError) as error:
        raise UsageError(f"found no key of a witness in `{path}`: {error}", code="witness.key") from error
    if found.name != name:
        raise UsageError(
            f"the witness of `{path.parent}` is called `{found.name}`, found `{name}`", code="witness.key"
        )
    return found
