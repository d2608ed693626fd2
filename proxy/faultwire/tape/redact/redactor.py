"""Redaction: what must never reach a disk is replaced before it is hashed or stored.

A value becomes `redacted:v1:<32 hex digits>`, HMAC-SHA256 over class, length and value under the
project's key: equal values stay equal, and guessing one needs the key.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from faultwire import _core, dice
from faultwire.errors import TapeError
from faultwire.tape.format.hash_chain import record_bytes, storable
from faultwire.tape.redact import text as redact_text
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.header_fields import field_edits, has_secret_path, path_edits
from faultwire.tape.redact.headers import CODING, KIND, OFFERS, PLAIN, SECRET, Head, codings, role, roles
from faultwire.tape.redact.names import kept_scheme, key_offered
from faultwire.tape.redact.url import pair_class
from faultwire.tape.redact.user_matches import rule_edits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.events import Headers
    from faultwire.tape.format.events import Event
    from faultwire.tape.redact.edit import Edit
    from faultwire.tape.redact.rules import Hit, Rules

KEY_SIZE = 32

Counts = dict[str, int]
"""Redactions by class."""

Moves = list[tuple[int, int, int]]
"""(start, end, new length) of replaced spans, in order."""


class Redactor:
    """Replaces secrets under one key. Used by one thread at a time."""

    def __init__(self, key: bytes, rules: Rules | None = None) -> None:
        self._placeholders = _core.Placeholders(key)
        self.rules = rules
        """What the user wants redacted besides."""

    def placeholder(self, what: str, value: str, counts: Counts) -> str:
        """What stands for a secret `value` of class `what`."""
        counts[what] = counts.get(what, 0) + 1
        if value.startswith(MARK):
            return value
        return MARK + self._placeholders.digest(what, value)

    def keyed(self, key: str) -> str:
        """What stands for an exchange's key: a bare digest of path and body would let anybody who has
        the tape try out what was redacted in them."""
        return self._placeholders.digest("exchange", key) if key else key

    # ------------------------------------------------------------ heads

    def head(self, headers: Headers, counts: Counts) -> Head:
        """Header fields with the values of secret ones replaced, and what they say of the body."""
        if self.rules is not None:
            headers = tuple(self._ruled(self.rules, name, value, counts) for name, value in headers)
        found_roles = roles(headers)
        if not any(found_roles):
            return Head(headers)
        kind, coded, clean = "", [], list(headers)
        for at, what in enumerate(found_roles):
            name, value = headers[at]
            if what == SECRET:
                clean[at] = (name, self._header("header", value, counts))
            elif what == OFFERS:
                clean[at] = (name, self._offered(value, counts))
            elif what == KIND:
                kind = kind or value.lower()
            elif what == CODING:
                coded.append(value)
        return Head(tuple(clean), kind, codings(coded))

    def _ruled(self, rules: Rules, name: str, value: str, counts: Counts) -> tuple[str, str]:
        """A field as the user's rules leave it; what tells how to read the body stays."""
        if role(name) != PLAIN:
            return name, value
        if rules.covers(name):
            return name, self._header("rule.header", value, counts)
        return name, self._cut(value, rules.in_header(value), counts)

    def _cut(self, text: str, hits: Iterable[Hit], counts: Counts) -> str:
        out, at = [], 0
        for hit in hits:
            if not text.startswith(MARK, hit.start):
                out += [text[at : hit.start], self.placeholder(hit.what, text[hit.start : hit.end], counts)]
                at = hit.end
        return "".join(out) + text[at:]

    def _header(self, what: str, value: str, counts: Counts) -> str:
        scheme, secret = kept_scheme(value)
        return scheme + self.placeholder(what, secret, counts) if secret else value

    def _offered(self, value: str, counts: Counts) -> str:
        before, secret, after = key_offered(value)
        return before + (self.placeholder("header", secret, counts) + after if secret else "")

    def path(self, path: str, counts: Counts, host: str = "") -> str:
        """A request path with the values of secret query parameters replaced, and what is one at `host`."""
        if has_secret_path(host):
            path = self._made(path, path_edits(path, f"https://{host}"), counts)
        if self.rules is not None and self.rules.looks:
            data = path.encode("utf-8", "surrogatepass")
            found = rule_edits(data.decode("latin-1"), self.rules)
            path = self.apply(data, found, counts)[0].decode("utf-8", "surrogatepass")
        head, mark, query = path.partition("?")
        return head + mark + self.form(query, counts)

    def form(self, text: str, counts: Counts) -> str:
        """The same for a query string or a form body; every other byte stays."""
        return "&".join(self._pair(pair, counts) for pair in text.split("&"))

    def _pair(self, pair: str, counts: Counts) -> str:
        name, _, value = pair.partition("=")
        what = pair_class(name, value)
        return f"{name}={self.placeholder(what, value, counts)}" if what else pair

    # ------------------------------------------------------------ texts

    def suspects(self, record: bytes) -> bool:
        """May one of this record's strings hold a secret? Fast, and never wrong with no."""
        return redact_text.suspects_record(record)

    def text(self, text: str, counts: Counts) -> str:
        """A text (an error, a name, a URL, an agent's answer) with what looks like a secret replaced."""
        if not redact_text.suspects(text):
            return text
        return self._made(text, redact_text.edits(text), counts)

    def _made(self, text: str, edits: Iterable[Edit], counts: Counts) -> str:
        out, at = [], 0
        for edit in edits:
            out += [text[at : edit.start], edit.quote, self._instead(edit, counts), edit.quote]
            at = edit.end
        return "".join(out) + text[at:]

    def error(self, text: str, counts: Counts) -> str:
        """The same for what went wrong with an exchange, which may quote it: the user's rules count, too."""
        if self.rules is not None:
            text = self._cut(text, self.rules.in_text(text), counts)
        return self.text(text, counts)

    def _instead(self, edit: Edit, counts: Counts) -> str:
        return "" if edit.what is None else self.placeholder(edit.what, edit.value, counts)

    def apply(self, data: bytes, edits: Iterable[Edit], counts: Counts) -> tuple[bytes, Moves]:
        """Body bytes with each edit made, and how places moved."""
        out: list[bytes] = []
        moves: Moves = []
        at = 0
        for edit in edits:
            new = f"{edit.quote}{self._instead(edit, counts)}{edit.quote}".encode("latin-1")
            out += [data[at : edit.start], new]
            moves.append((edit.start, edit.end, len(new)))
            at = edit.end
        out.append(data[at:])
        return b"".join(out), moves

    def checked(self, event: Event, counts: Counts) -> Event:
        """An event with every string in it looked at, as it would be on a tape."""
        try:
            record = record_bytes(event)
        except TypeError:
            event = storable(event)
            record = record_bytes(event)
        return self.event(event, counts) if self.suspects(record) else event

    def event(self, event: Event, counts: Counts) -> Event:
        """The same where one is suspect."""
        return {key: self._member(key, value, counts) for key, value in event.items()}

    def _member(self, key: str, value: Any, counts: Counts) -> Any:
        if key == "headers":
            return [self._field(name, text, counts) for name, text in value]
        if key == "path" and isinstance(value, str):
            return self._made(value, path_edits(value), counts)
        return self._value(value, counts)

    def _field(self, name: str, value: str, counts: Counts) -> list[str]:
        return [self.text(name, counts), self._made(value, field_edits(name, value), counts)]

    def _value(self, value: Any, counts: Counts) -> Any:
        if isinstance(value, str):
            return self.text(value, counts)
        if isinstance(value, dict):
            return {key: self._value(one, counts) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(one, counts) for one in value]
        return value


def moved(places: Iterable[int], moves: Moves) -> list[int]:
    """Where ascending places went. One inside a replaced span goes to the end of what replaced it."""
    out: list[int] = []
    shift, n = 0, 0
    for place in places:
        while n < len(moves) and moves[n][1] <= place:
            start, end, size = moves[n]
            shift += size - (end - start)
            n += 1
        if n < len(moves) and moves[n][0] < place:
            place = moves[n][0] + moves[n][2]
        out.append(place + shift)
    return out


def fresh_key() -> bytes:
    """A key for a tape whose placeholders need not match those of other tapes."""
    return bytes.fromhex(dice.token(KEY_SIZE))


def load_key(path: Path) -> bytes:
    """The project's redaction key; made (0600, in a 0700 folder) if there is none yet.

    Raises TapeError where the file is not such a key or others may read it.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create_key(path)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            mode = os.fstat(fd).st_mode & 0o777
            key = file.read(KEY_SIZE + 1)
    except OSError as error:
        raise TapeError(f"cannot use redaction key `{path}`: {error.strerror}", code="tape.key") from error
    if mode & 0o077:
        raise TapeError(
            f"redaction key `{path}` has mode {mode:03o}, expected 600",
            code="tape.key",
            hint=f"chmod 600 {path}",
        )
    if len(key) != KEY_SIZE:
        raise TapeError(f"redaction key `{path}` has {len(key)} bytes, expected {KEY_SIZE}", code="tape.key")
    return key


def _create_key(path: Path) -> None:
    """Write a fresh key unless one is there; linked into place whole, so nobody reads half of it."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{dice.token(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(fresh_key())
            file.flush()
            os.fsync(fd)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        os.unlink(draft)
