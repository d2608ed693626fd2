"""The tape of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.replay.reader import redaction
from faultwire.tape.evidence.keyring import KeyRing, name_for
from faultwire.tape.format.blobs import ENCRYPTED_BODIES, ENCRYPTION
from faultwire.tape.record.overload_policy import Policy
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor, load_key
from faultwire.tape.redact.rules import read_rules
from faultwire.tape.redact.taped_rules import KEY, taped
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.settings import EngineSettings
    from faultwire.tape.record.body_cipher import BodyCipher


def open_tape(settings: EngineSettings) -> TapeWriter | None:
    """A new tape, sealed with the project's key; None where nothing is recorded. Raises TapeError."""
    if settings.tape is None:
        return None
    state = settings.ca_dir.parent
    project = name_for(state.absolute().parent.name)
    key = load_key(state / "keys" / "redaction.key")
    section = redaction(settings.replay, settings.redact)
    rules = {KEY: taped(section, Redactor(key))} if section else {}
    encrypts = settings.encrypt_bodies or ENCRYPTION in settings.tape_settings
    return TapeWriter.create(
        settings.tape,
        origin=f"{project}/{settings.tape.stem}",
        settings={**settings.tape_settings, **rules, **({ENCRYPTION: ENCRYPTED_BODIES} if encrypts else {})},
        key=key,
        journal=settings.run_dir / "events.jsonl",
        signer=KeyRing(state / "keys").signer_or_new(project),
        policy=Policy(settings.record_policy, settings.on_tape_failure),
        rules=read_rules(section),
        cipher=_cipher(state / "keys") if encrypts else None,
    )


def _cipher(keys: Path) -> BodyCipher:
    from faultwire.tape.evidence.body_keys import BodyKeys  # few engines encrypt
    from faultwire.tape.record.body_cipher import BodyCipher

    return BodyCipher(BodyKeys(keys).fresh)


def refusing(tape: TapeWriter | None) -> str:
    """Why calls are refused, since they cannot be recorded; empty where they are not."""
    return "" if tape is None or tape.failed is None or tape.policy.passes else tape.failed


def judged(tape: TapeWriter, session: Session) -> int:
    """How many exchanges of a session that has ended are on the tape; notes with it why they are not all."""
    name = session.name
    if tape.failed is None:
        dropped = tape.dropped(name)
        if dropped:
            lost = counted(dropped, "exchange")
            session.incomplete = f"the tape is incomplete: its writer was behind, and drops {lost}"
        return session.exchanges - dropped
    if tape.policy.passes:
        session.incomplete = (
            f"the tape is incomplete: it failed ({tape.failed}), "
            f"and {counted(tape.unrecorded[name], 'exchange')} passed unrecorded after that"
        )
    else:
        session.void(f"the tape cannot be written: {tape.failed}")
    return 0
