"""The keys of a project: one that seals its tapes, and those of others that it trusts.

Both are text below `.faultwire/keys/` (0700): `seal.key` (0600) holds the signer key, `seal.pub` its
verifier key to give away, and `trusted` a verifier key on each line. A project trusts its own key.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from faultwire.dice import token
from faultwire.errors import TapeError, UsageError
from faultwire.tape.evidence.signed_note import NoteError, SignerKey, VerifierKey
from faultwire.tape.format.small_file import small_file

KEYS = Path(".faultwire") / "keys"
_MAX = 64 * 1024
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys in one folder: its own of one kind, and those that are trusted."""

    folder: Path = KEYS
    kind: str = "seal"
    """What the key is for, which is what its files are called."""

    @property
    def private(self) -> Path:
        """Where the signer key is."""
        return self.folder / f"{self.kind}.key"

    @property
    def public(self) -> Path:
        """Where its verifier key is."""
        return self.folder / f"{self.kind}.pub"

    @property
    def trust_list(self) -> Path:
        """Where the verifier keys of others are."""
        return self.folder / "trusted"

    # ------------------------------------------------------------ our own

    def signer(self) -> SignerKey | None:
        """The key that seals, None where there is none yet. Raises TapeError."""
        if not os.path.lexists(self.private):
            return None
        text = _read(self.private, private=True)
        try:
            return SignerKey.parse(text.strip())
        except NoteError as error:
            raise TapeError(
                f"`{self.private}` holds no {self.kind} key: {error}", code="keys.unreadable"
            ) from error

    def signer_or_new(self, project: str) -> SignerKey:
        """The key that seals; made for this project if there is none. Raises TapeError."""
        return self.signer_or_named(name_for(project))

    def signer_or_named(self, name: str) -> SignerKey:
        """As `signer_or_new`, where a new key gets this very name."""
        return self.signer() or self._make(SignerKey.fresh(name))

    def renew(self, name: str) -> SignerKey:
        """Make a new key in place of the old one, whose verifier key stays trusted."""
        old = self.signer()
        key = self._make(SignerKey.fresh(name), replace=True)
        if old is not None:
            self.trust(old.verifier)
        return key

    def _make(self, key: SignerKey, *, replace: bool = False) -> SignerKey:
        """Write a key; of two programs that both found none, the first one's stays and both get it."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(self.private, key.dump() + "\n", 0o600, replace=replace)
            kept = self.signer() or key
            _write(self.public, f"{kept.verifier}\n", 0o644)
        except OSError as error:
            raise TapeError(
                f"cannot write keys below `{self.folder}`: {error.strerror}", code="keys.write"
            ) from error
        return kept

    # ------------------------------------------------------------ others'

    def trusted(self) -> tuple[VerifierKey, ...]:
        """Our own key first, then those that were trusted. Raises TapeError."""
        own = self.signer()
        keys = [own.verifier] if own else []
        if self.trust_list.exists():
            for number, line in enumerate(_read(self.trust_list).splitlines(), 1):
                if line.strip() and not line.startswith("#"):
                    keys.append(_parsed(line, f"{self.trust_list}:{number}"))
        return tuple(dict.fromkeys(keys))

    def trust(self, key: VerifierKey) -> bool:
        """Add a key; False where it was trusted already. Raises TapeError."""
        known = self.trusted()
        if key in known:
            return False
        own = self.signer()
        lines = [str(one) for one in known if own is None or one != own.verifier]
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(self.trust_list, "".join(f"{line}\n" for line in [*lines, str(key)]), 0o600)
        except OSError as error:
            raise TapeError(
                f"cannot write `{self.trust_list}`: {error.strerror}", code="keys.write"
            ) from error
        return True


def name_for(project: str) -> str:
    """A key name from the name of a project's folder."""
    return _UNSAFE.sub("-", project).strip("-.")[:64] or "project"


def given_key(text: str) -> VerifierKey:
    """A verifier key that a user named: the key itself, or a file that holds it. Raises UsageError."""
    line, where = given_line(text)
    try:
        return VerifierKey.parse(line)
    except NoteError as error:
        raise UsageError(
            f"{where} is no verifier key: {error}",
            code="keys.unreadable",
            hint="a verifier key is `NAME+ID+BASE64`, as `faultwire keys show` prints it",
        ) from error


def given_line(text: str) -> tuple[str, str]:
    """The line of a key that a user named, or of the file that holds it, and what to call it. Raises
    UsageError."""
    if "+" in text and not os.path.lexists(text):
        found, where = text, "the given key"
    else:
        try:
            found, where = _read(Path(text), links=True), f"`{text}`"
        except TapeError as error:
            raise UsageError(
                error.message, code="keys.unreadable", hint="name a verifier key or a file that holds one"
            ) from error
    lines = [line for line in found.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) != 1:
        raise UsageError(f"{where} has {len(lines)} keys, expected one", code="keys.unreadable")
    return lines[0].strip(), where


def _parsed(line: str, where: str) -> VerifierKey:
    try:
        return VerifierKey.parse(line.strip())
    except NoteError as error:
        raise TapeError(f"{where}: no verifier key: {error}", code="keys.unreadable") from error


def _read(path: Path, *, private: bool = False, links: bool = False) -> str:
    def judge(mode: int) -> None:
        if private and mode & 0o077:
            raise TapeError(
                f"{path.stem} key `{path}` has mode {mode & 0o777:03o}, expected 600",
                code="keys.mode",
                hint=f"chmod 600 {path}",
            )

    try:
        return small_file(path, _MAX, links=links, judge=judge).decode(errors="replace")
    except OSError as error:
        raise TapeError(f"cannot read `{path}`: {error.strerror}", code="keys.unreadable") from error


def _write(path: Path, text: str, mode: int, *, replace: bool = True) -> None:
    """Whole or not at all, whoever else writes it at the same moment."""
    draft = path.with_name(f"{path.name}.{token(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(fd)
        if replace:
            os.rename(draft, path)
        else:
            os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink(missing_ok=True)
