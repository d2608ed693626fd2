"""The keys of encrypted bodies: a file for each session, below the project's keys and on no tape.

`bodies.key` (0600) wraps them (AES key wrap, RFC 3394). `bodies/ID.key` holds a wrapped key; when it is
destroyed, `bodies/ID.shredded` takes its place, a note that this project's key signed. Bodies under that key
are then gone from every copy of the tape whose readers had no copy of the key.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultwire.clock import iso
from faultwire.dice import token
from faultwire.errors import TapeError, TapeIncomplete, printable
from faultwire.tape.evidence.keyring import KEYS, KeyRing
from faultwire.tape.evidence.signed_note import NoteError, SignerKey, parse
from faultwire.tape.format.encryption import ID, KEY
from faultwire.tape.format.file import sync_folder
from faultwire.tape.format.small_file import small_file

_MAX = 64 * 1024
_ID = re.compile(rf"[0-9a-f]{{{2 * ID}}}\Z")
_TITLE = "faultwire body key shredded"


@dataclass(frozen=True, slots=True)
class Shredded:
    """That a key was destroyed, as its record states."""

    session: str
    at_ms: int
    by: str
    reason: str

    @property
    def text(self) -> str:
        """When, by whom and why."""
        return f"on {iso(self.at_ms)} by {printable(self.by)}: {printable(self.reason)}"


@dataclass(frozen=True, slots=True)
class BodyKeys:
    """The keys in one folder."""

    folder: Path = KEYS

    @property
    def wrapping(self) -> Path:
        """Where the key is that wraps the others."""
        return self.folder / "bodies.key"

    def place(self, key_id: str, end: str = "key") -> Path:
        """Where a key is, or its record (`shredded`)."""
        return self.folder / "bodies" / f"{key_id}.{end}"

    # ------------------------------------------------------------ keys

    def fresh(self, session: str) -> tuple[str, bytes]:
        """A new key for a session and its name; it is on the disk when this returns. Raises TapeError."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.keywrap import aes_key_wrap

        key_id, key = token(ID), AESGCM.generate_key(8 * KEY)
        try:
            self.place(key_id).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.wrapping.exists():
                _write(self.wrapping, AESGCM.generate_key(8 * KEY).hex().encode(), replace=False)
            wrapped = base64.b64encode(aes_key_wrap(self._wrapping_key(), key)).decode()
            document = {"version": 1, "session": session, "wrapped": wrapped}
            _write(self.place(key_id), json.dumps(document).encode())
        except OSError as error:
            raise TapeError(
                f"cannot write body keys below `{self.folder}`: {error.strerror}", code="keys.write"
            ) from error
        return key_id, key

    def has(self, key_id: str) -> bool:
        """Is the key here?"""
        return self.place(key_id).is_file()

    def key(self, key_id: str) -> bytes:
        """A key. Raises TapeIncomplete where it was shredded or is not here, TapeError where it cannot be
        read."""
        from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

        if not self.has(key_id):
            raise self._absent(key_id)
        try:
            wrapped = base64.b64decode(json.loads(_read(self.place(key_id)))["wrapped"], validate=True)
            return aes_key_unwrap(self._wrapping_key(), wrapped)
        except (ValueError, KeyError, TypeError, binascii.Error, InvalidUnwrap) as error:
            raise TapeError(
                f"`{self.place(key_id)}` holds no body key that `{self.wrapping}` wraps",
                code="keys.unreadable",
            ) from error

    def _absent(self, key_id: str) -> TapeIncomplete:
        found = self.shredded(key_id)
        if found is not None:
            return TapeIncomplete(
                f"the body was shredded with the key of session `{printable(found.session)}` {found.text}",
                code="tape.body_shredded",
                hint="nobody can read it any more who has no copy of that key",
            )
        return TapeIncomplete(
            f"the body is encrypted, and its key `{key_id}` is not below `{self.folder}`",
            code="tape.body_encrypted",
            hint="whoever recorded the tape has it in `.faultwire/keys/bodies`, unless it was shredded there",
        )

    def _wrapping_key(self) -> bytes:
        try:
            key = bytes.fromhex(_read(self.wrapping).decode())
        except ValueError as error:
            raise TapeError(f"`{self.wrapping}` holds no key", code="keys.unreadable") from error
        if len(key) != KEY:
            raise TapeError(f"`{self.wrapping}` holds no key of {KEY} bytes", code="keys.unreadable")
        return key

    # ------------------------------------------------------------ shredding

    def shredded(self, key_id: str) -> Shredded | None:
        """The record that a key was destroyed, where a key signed it that this project trusts."""
        if not _ID.match(key_id) or not self.place(key_id, "shredded").is_file():
            return None
        try:
            note = parse(_read(self.place(key_id, "shredded")).decode())
            title, about = note.text.removesuffix("\n").split("\n")
            found = json.loads(about)
            made = Shredded(found["session"], int(found["at_ms"]), found["by"], found["reason"])
        except (NoteError, ValueError, KeyError, TypeError):
            return None
        trusted = any(note.signed_by(key) for key in KeyRing(self.folder).trusted())
        return made if title == _TITLE and found["key"] == key_id and trusted else None

    def shred(self, key_id: str, found: Shredded, signer: SignerKey) -> None:
        """Destroy a key, and put the signed record in its place.

        The record is written under another name first: a kill in between leaves a key that is gone and
        `shredding` beside it, and the same call finishes. Raises TapeError where there is neither.
        """
        draft = self.place(key_id, "shredding")
        if not self.has(key_id) and not draft.is_file():
            raise self._absent(key_id)
        about: dict[str, Any] = {
            "key": key_id, "session": found.session, "at_ms": found.at_ms, "by": found.by,
            "reason": found.reason,
        }  # fmt: skip
        try:
            _write(draft, signer.sign(f"{_TITLE}\n{json.dumps(about)}\n").encode())
            self._destroy(self.place(key_id))
            os.replace(draft, self.place(key_id, "shredded"))
            sync_folder(draft.parent)
        except OSError as error:
            raise TapeError(f"cannot shred key `{key_id}`: {error.strerror}", code="keys.write") from error

    def _destroy(self, path: Path) -> None:
        """Overwrite once, remove, and return when both are on the disk. Raises OSError."""
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return  # a call before was killed
        try:
            os.pwrite(fd, bytes(os.fstat(fd).st_size), 0)
            os.fsync(fd)
        finally:
            os.close(fd)
        path.unlink()
        sync_folder(path.parent)


def _read(path: Path) -> bytes:
    def judge(mode: int) -> None:
        if mode & 0o077:
            raise TapeError(
                f"`{path}` has mode {mode & 0o777:03o}, expected 600",
                code="keys.mode",
                hint=f"chmod 600 {path}",
            )

    try:
        return small_file(path, _MAX, links=False, judge=judge)
    except OSError as error:
        raise TapeError(f"cannot read `{path}`: {error.strerror}", code="keys.unreadable") from error


def _write(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Whole or not at all, and on the disk when this returns; not over one that is there unless `replace`."""
    draft = path.with_name(f".{path.name}.{token(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        if replace:
            os.rename(draft, path)
        else:
            os.link(draft, path)
        sync_folder(path.parent)
    except FileExistsError:
        return
    finally:
        draft.unlink(missing_ok=True)
