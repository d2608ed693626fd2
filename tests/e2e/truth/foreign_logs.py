"""Logs of AgentOps Replay, and the sentences that are true of each.

No registry has the package that writes them, so they are written here by the rules of its two generations
(`tests.unit.tape.import_.made`). What is true of a log is what was done to it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sentence_patterns import Patterns, words
from tests.meta.sentences import SOURCES, sentences
from tests.unit.tape.import_ import made

MODULES = tuple(f"tape/import_/{name}.py" for name in ("_agentops_chain", "_agentops_signed", "agentops"))
HERE = r"(event \d+ of |the seal of )?session `[^`]*`"
EVENT = "event {} of session `{}`"
SEAL = "the seal of session `{}`"
SESSION = "session `{}`"
ENTRY = "entry {} {}"
INNER = {"ELS 1.0", "agentops {}"}
"""Names of a generation: they go onto the tape, and into no finding."""
NO_KEY, NOT_GIVEN = "no key that could be checked", "an HMAC, whose key was not given"
PARTS = (NOT_GIVEN, NO_KEY, "is no JSON object", "is no event")
DECLARED = "{} is a {}"
OWN_NUMBERS = "{} hashes of {} fit its own number format, which is not RFC 8785's"


def _special() -> dict[str, str]:
    """A finding is about an event, a session or its seal, and begins with its name."""
    special = {
        OWN_NUMBERS: rf"\d+ hashes of {HERE} fit its own number format, .+",
        EVENT: r"event \d+ of session `[^`]*` .+",
        SEAL: r"the seal of session `[^`]*` .+",
        SESSION: r"session `[^`]*` .+",
        ENTRY: r"entry \d+ is no .+",
        DECLARED: rf"{HERE} is a [A-Z_]+",
        **dict.fromkeys(INNER, r"(?!)"),
    }
    for module in MODULES[:2]:
        for one in sentences(SOURCES / module):
            if one.template in special or one.template in PARTS:
                continue
            rest = one.template[3:] if one.template.startswith("{} ") else one.template
            special[one.template] = f"{HERE} {words(rest)}"
    return special


PATTERNS = Patterns(MODULES, special=_special(), parts=PARTS)

# ---------------------------------------------------------------- logs

Log = list[Any]
KEY = Ed25519PrivateKey.from_private_bytes(b"\1" * 32)
HMAC_KEY = b"a key of the server"


def old(change: Callable[[Log], object] = lambda log: None) -> bytes:
    log = made.old_log(*made.OLD_EVENTS)
    change(log)
    return made.lines(log)


def new(change: Callable[[Log], object] = lambda log: None, *more: tuple[str, Any]) -> bytes:
    log = made.new_log(*made.NEW_EVENTS, *more)
    change(log)
    return made.lines(log)


def put(number: int, **members: Any) -> Callable[[Log], object]:
    return lambda log: log[number].update(members)


def sealed(**seal: Any) -> bytes:
    return made.lines(made.sealed_old(made.old_log(*made.OLD_EVENTS), **seal))


def by_server() -> bytes:
    log = made.sealed_old(made.old_log(*made.OLD_EVENTS), event_count=6)
    return made.lines([{**event, "chain_authority": "server"} for event in log])


def with_hmac(key: bytes) -> bytes:
    last = made.new_log(*made.NEW_EVENTS)[-1]["event_hash"]
    right = hmac.new(key, last.encode(), hashlib.sha256).hexdigest()
    return new(lambda log: None, ("CHAIN_SEAL", {"event_count": 4, "hmac": right}))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def signed(change: Callable[[Log], object] = lambda log: None, key: str | None = None, **end: Any) -> bytes:
    """A log whose events are signed with the key in its first one."""
    named = _text(KEY.public_key().public_bytes_raw()) if key is None else key
    start = ("SESSION_START", {"agent_id": "a", "sdk_public_key": named})
    log = made.new_log(start, *made.NEW_EVENTS[1:-1], ("SESSION_END", {"status": "success", **end}))
    for event in log:
        event["signature"] = _text(KEY.sign(event["event_hash"].encode()))
    change(log)
    return made.lines(log)


def exported(**changed: Any) -> bytes:
    document = {"export_version": "1.0", "session_metadata": {"event_count": 6, "total_drops": 0}}
    return json.dumps({**document, "events": made.old_log(*made.OLD_EVENTS), **changed}).encode()


def in_its_own_numbers() -> bytes:
    (event,) = made.old_log(made.START)
    event["payload"] = {"n": 2.0}
    event["payload_hash"] = made.sha(b'{"n":2.0}')
    event["event_hash"] = made.sha(made.compact({name: event[name] for name in made.OLD_SIGNED}))
    return made.lines([event])


def with_events(*events: tuple[str, Any]) -> bytes:
    return made.lines(made.old_log(made.START, *events, made.END))


def two_sessions() -> bytes:
    first, second = (made.old_log(made.START, made.END, session=name) for name in ("s-1", "s-9"))
    return made.lines(deepcopy([*first, *second]))


HIDDEN = {"tool_name": "t", "args": {"q": "[REDACTED]", "q_hash": "a" * 64}}
BARE = {"tool_name": "t", "key": "[REDACTED]"}
NO_SEAL = (SESSION, "{} has no seal")
UNPROVEN = (SEAL, "{} is signed by {}: anybody could have made it")
NO_HMAC = (*UNPROVEN, NO_KEY)
UNHASHED = (EVENT, "does not have its hash")
UNLINKED = (EVENT, "follows {}, expected {}")
UNSURE = (SESSION, "{} is signed with the key in its first event: whoever made it may have made the key")


@dataclass(frozen=True)
class Case:
    """A log, the templates of the findings that are true of it, and more options of the import."""

    data: bytes
    true: tuple[str, ...]
    bad: bool = False
    options: tuple[str, ...] = ()


def bad(data: bytes, *true: str, options: tuple[str, ...] = ()) -> Case:
    return Case(data, true, bad=True, options=options)


GIVEN = ("--hmac-key", "hmac.key")
CASES: dict[str, Case] = {
    "sound, first generation": Case(old(), NO_SEAL),
    "sound, second generation": Case(new(), NO_SEAL),
    "sound and sealed": Case(sealed(event_count=6), NO_HMAC),
    "sealed with the key that is given": Case(with_hmac(HMAC_KEY), (), options=GIVEN),
    "sealed with a key that is not given": Case(
        with_hmac(HMAC_KEY), (*UNPROVEN, NOT_GIVEN)
    ),
    "sealed with another key": bad(
        with_hmac(b"another key"), SEAL, "{} has an HMAC that is not the key's", options=GIVEN
    ),
    # ------------------------------------------------------------ single events
    "a line that is no object": bad(old(lambda log: log.insert(1, [])), *NO_SEAL, ENTRY, "is no JSON object"),
    "a line that is no event": bad(old(lambda log: log.insert(1, {"x": 1})), *NO_SEAL, ENTRY, "is no event"),
    "another payload": bad(
        old(put(2, payload={"tool_name": "other"})), *NO_SEAL, EVENT,
        "has a payload that does not have its hash",
    ),
    "another type": bad(old(put(2, event_type="ERROR")), *NO_SEAL, *UNHASHED),
    "a payload that is a number": bad(
        new(put(1, payload=7)), *NO_SEAL, *UNHASHED, "has a payload that is no object"
    ),
    "a member is gone": bad(old(lambda log: log[1].pop("event_id")), *NO_SEAL, *UNHASHED, "lacks {}"),
    "a hash that is none": bad(
        old(put(1, event_hash="XYZ")), *NO_SEAL, *UNHASHED, *UNLINKED, "has a `{}` that is no hash: {}"
    ),
    "an unknown type": bad(new(put(1, event_type="DREAM")), *NO_SEAL, *UNHASHED, "is of unknown type {}"),
    "another schema": bad(
        old(put(1, schema_ver="v0.7")), *NO_SEAL, EVENT, "has schema {}, expected v0.5 or v0.6"
    ),
    "another authority": bad(
        old(put(1, chain_authority="server")), *NO_SEAL, EVENT, "has authority {}, after {}"
    ),
    "a number that is none": bad(
        new(put(1, seq=True)), *NO_SEAL, *UNHASHED, "has the number {}", "has number {}, expected {}"
    ),
    "its own numbers": Case(
        in_its_own_numbers(),
        (*NO_SEAL, "{} never ended", OWN_NUMBERS),
    ),
    # ------------------------------------------------------------ order
    "an event is gone": bad(old(lambda log: log.pop(2)), *NO_SEAL, *UNLINKED, "has number {}, expected {}"),
    "the first event is gone": bad(
        old(lambda log: log.pop(0)), *NO_SEAL, EVENT, "is the first, and follows {}",
        "has number {}, expected {}",
        "{} has no SESSION_START",
    ),
    "an event behind the end": bad(
        new(lambda log: None, ("TOOL_CALL", {"tool_name": "t"})), *NO_SEAL, EVENT, "({}) comes after the end"
    ),
    "two starts": bad(
        with_events(made.START), *NO_SEAL, EVENT, "is a SESSION_START that is not the first event"
    ),
    "no end": Case(made.lines(made.old_log(*made.OLD_EVENTS[:-1])), (*NO_SEAL, "{} never ended")),
    "neither end nor seal, second generation": bad(
        made.lines(made.new_log(*made.NEW_EVENTS[:-1])), *NO_SEAL, "{} never ended"
    ),
    "two sessions": bad(
        two_sessions(), *NO_SEAL, "entry {} is of session `{}`, expected one session in a log"
    ),
    # ------------------------------------------------------------ contents
    "a drop": bad(
        with_events(("LOG_DROP", {"dropped_count": 3})), *NO_SEAL, EVENT, "{} says that {} events are missing"
    ),
    "a drop of none": bad(
        with_events(("LOG_DROP", {"dropped_count": 0})), *NO_SEAL, EVENT,
        "{} says that {} events are missing",
        "{} counts {} missing events",
    ),
    "redacted values": Case(
        with_events(("TOOL_CALL", HIDDEN)), (*NO_SEAL, EVENT, "{} has {} redacted values")
    ),
    "a redacted value without a hash": bad(
        with_events(("TOOL_CALL", BARE)), *NO_SEAL, EVENT, "{} has `{}` without a hash at {}",
        "{} has {} redacted values",
    ),
    "a declared redaction": Case(
        made.lines(made.new_log(made.START, ("REDACTION", {}), made.END)), (*NO_SEAL, EVENT, DECLARED)
    ),
    # ------------------------------------------------------------ seals
    "a seal over another event": bad(
        sealed(final_event_hash="f" * 64), *NO_HMAC, "{} is over another last event: {}"
    ),
    "a seal that counts more": bad(sealed(event_count=99), *NO_HMAC, "{} counts {} events, and {} are there"),
    "a seal with another digest": bad(
        sealed(session_digest="0" * 64), *NO_HMAC, "{} has another digest than its events"
    ),
    "a seal with a short digest": Case(
        sealed(session_digest=made.old_log(*made.OLD_EVENTS)[-1]["event_hash"][:16]),
        (*NO_HMAC, "{} has {} digits of a digest"),
    ),
    "a server's seal": bad(by_server(), *NO_HMAC, EVENT, "{} is a server's seal without {}"),
    # ------------------------------------------------------------ signatures
    "signed": Case(signed(), (*NO_SEAL, *UNSURE)),
    "a signature of another": bad(
        signed(put(1, signature=_text(b"0" * 64))), *NO_SEAL, *UNSURE, EVENT,
        "{} has a signature that is not its key's",
    ),
    "a signature is gone": bad(
        signed(put(1, signature=None)), *NO_SEAL, *UNSURE, EVENT,
        "{} has no signature, in a session that is signed",
    ),
    "a key that is none": bad(
        signed(key="no key"), *NO_SEAL, *UNSURE, EVENT, "{} holds a key that is no Ed25519 key"
    ),
    "signatures without a key": Case(
        new(put(1, signature="x")), (*NO_SEAL, "{} has {} and no key to check them with")
    ),
    "another Merkle root": bad(
        signed(merkle_root="0" * 64), *NO_SEAL, *UNSURE, "{} has another Merkle root than its events"
    ),
    "another count of leaves": bad(
        signed(merkle_leaf_count=7), *NO_SEAL, *UNSURE, "{} counts {} leaves of its Merkle tree, found {}"
    ),
    # ------------------------------------------------------------ exports
    "an export": Case(exported(), NO_SEAL),
    "an export that calls itself authoritative": Case(
        exported(evidence_class="AUTHORITATIVE_EVIDENCE"),
        (*NO_SEAL, "the export calls itself {}: nothing in it can prove that"),
    ),
    "an export that counts more": bad(
        exported(session_metadata={"event_count": 99}), *NO_SEAL, "the export claims `{}` {}, and holds {}"
    ),
}  # fmt: skip
