"""Asks witnesses to cosign a log of certificates, and refuses every answer but their cosignatures."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from faultwire.certificate.cosignature import MAX_BODY, size_of
from faultwire.certificate.log_proof import entry_of, logged, proof_text
from faultwire.errors import FaultwireError, UsageError, printable
from faultwire.tape.evidence.signed_note import NoteError, parse
from faultwire.tape.format.small_file import small_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.certificate.cosignature import WitnessKey
    from faultwire.certificate.log import CertificateLog

TIMEOUT_S = 30.0
LONGEST_TOKEN = 4096
LOCAL = ("127.0.0.1", "localhost", "::1")
AGAIN = "nothing was issued; the entry stays in the log, and the next certificate goes on from it"


class WitnessError(FaultwireError):
    """A witness does not answer, or does not cosign."""

    default_code = "witness.refused"


@dataclass(frozen=True, slots=True)
class WitnessAddress:
    """Where a witness is asked, and the key by which its answer must hold."""

    url: str
    key: WitnessKey
    token: str | None = field(default=None, repr=False)

    @classmethod
    def checked(cls, url: str, key: WitnessKey, token: str | None) -> WitnessAddress:
        """Raises UsageError for what is no address, or one to which a token would go readable."""
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            sound = False
        if not sound or parts.username or parts.query or parts.fragment:
            raise UsageError(
                "found no address for `--witness`",
                code="usage.witness",
                hint="as `faultwire witness` prints it, for example http://127.0.0.1:8791",
            )
        if token and parts.scheme == "http" and parts.hostname not in LOCAL:
            raise UsageError(
                "found an http:// address for `--witness` with a token, expected https://",
                code="usage.witness",
                hint="the token would be readable on the way",
            )
        return cls(url.rstrip("/"), key, token)

    def post(self, body: str) -> tuple[int, str]:
        """Status and text of the answer. Raises WitnessError where there is none."""
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        kept = bytearray()
        try:
            with (
                httpx.Client(
                    timeout=TIMEOUT_S, trust_env=False, verify=ssl.create_default_context(), headers=headers
                ) as client,
                client.stream("POST", f"{self.url}/add-checkpoint", content=body.encode()) as answer,
            ):
                for piece in answer.iter_bytes():
                    kept += piece
                    if len(kept) > MAX_BODY:
                        raise WitnessError(f"the witness {self} answers with more than {MAX_BODY} bytes")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise WitnessError(
                f"the witness {self} does not answer: {type(error).__name__}",
                code="witness.unreachable",
                hint=AGAIN,
            ) from error
        return answer.status_code, kept.decode(errors="replace")

    def __str__(self) -> str:
        return f"`{printable(self.url)[:200]}`"


def token_in(path: Path) -> str:
    """The bearer token in a file. Raises UsageError, which quotes nothing of it."""

    def judge(mode: int) -> None:
        if mode & 0o077:
            raise UsageError(
                f"`{path}` has mode {mode & 0o777:03o}, expected 600",
                code="usage.token",
                hint=f"chmod 600 {path}",
            )

    try:
        found = small_file(path, LONGEST_TOKEN, links=True, judge=judge).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `--witness-token {path}`", code="usage.token") from error
    if not found or not found.isascii() or not found.isprintable():
        raise UsageError(f"`{path}` holds no token", code="usage.token")
    return found


@dataclass(frozen=True, slots=True)
class WitnessedLog:
    """A log, and who must have cosigned it before a certificate is proven by it."""

    log: CertificateLog
    witnesses: Sequence[WitnessAddress]

    def prove(self, signed: bytes) -> str:
        """Add the bytes that a certificate's signatures are over; the proof. Raises FaultwireError."""
        index = self.log.append(entry_of(signed))
        lines = [cosignature(self.log, witness) for witness in self.witnesses]
        text = proof_text(self.log.leaves, index, self.log.publish(lines))
        held = logged(text, signed, str(self.log.key))
        for witness in self.witnesses:
            if witness.key.cosigned_on(held.note) is None:
                raise WitnessError(f"the cosignature of `{witness.key.name}` does not hold beside the others")
        return text


def cosignature(log: CertificateLog, witness: WitnessAddress) -> str:
    """The line by which a witness cosigns a log as it is now. Raises WitnessError.

    It is asked from the tree that it cosigned last. One that knows a larger tree, or another of the same
    size, has seen another history of this log; one that knows less than it has cosigned has forgotten.
    """
    known = old = log.known(witness.key)
    status, text = witness.post(log.request(old))
    if status == 409:
        old = _older(log, witness, known, text)
        status, text = witness.post(log.request(old))
    if status != 200:
        raise _refused(log, witness, status, text)
    for line in text.split("\n"):
        if witness.key.cosigned(log.text, line) is not None:
            return f"{line}\n"
    raise WitnessError(
        f"the witness {witness} answers without a cosignature of `{witness.key}`{_others(text)}",
        code="witness.key",
        hint=f"name the key that the witness prints with `--witness-key`; {AGAIN}",
    )


def _older(log: CertificateLog, witness: WitnessAddress, known: int, text: str) -> int:
    """The size from which a witness wants the proof, where this log goes on from there."""
    size = len(log.leaves)
    try:
        theirs = size_of(text.removesuffix("\n"))
    except NoteError as error:
        raise WitnessError(f"the witness {witness} answers 409 and no size") from error
    if theirs > size:
        raise WitnessError(
            f"the witness {witness} has cosigned {theirs} entries of this log, which has {size} here: it was "
            "rolled back, or another copy of it goes on elsewhere",
            code="witness.conflict",
            hint=f"restore `.faultwire/certificates` as it was when it had {theirs} entries",
        )
    if theirs < known:
        raise WitnessError(
            f"the witness {witness} knows {theirs} entries of this log, and its cosignature over {known} is "
            "here: it lost its folder, or is another witness",
            code="witness.conflict",
            hint="name the key that it prints as it starts; a witness that lost its folder needs a new key",
        )
    return theirs


def _refused(log: CertificateLog, witness: WitnessAddress, status: int, text: str) -> WitnessError:
    """What a status other than 200 means (C2SP tlog-witness)."""
    code, hint = "witness.refused", AGAIN
    if status in (409, 422):
        why, code = "it has cosigned another history of it", "witness.conflict"
        hint = "one of the two histories is not the log's: compare `.faultwire/certificates` with its backups"
    elif status == 404:
        why = f"it knows no log of the origin `{log.key.name}`"
        hint = f"start it with `--log {log.key}`; {AGAIN}"
    else:
        why = printable(text.strip())[:200] or "it does not say why"
    return WitnessError(
        f"the witness {witness} does not cosign this log ({status}): {why}", code=code, hint=hint
    )


def _others(text: str) -> str:
    try:
        names = parse(f"x\n\n{text}").signers
    except NoteError:
        return ""
    return f", it is signed by {', '.join(f'`{printable(name)[:100]}`' for name in names[:3])}"
