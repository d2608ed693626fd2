"""Connections past the proxy on a tape: at the end of their session, and in what the tape is worth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.tape.conftest import Deck

from faultwire.events import Bypass
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import evidence_class, verify
from faultwire.tape.export import bundle
from faultwire.tape.files.copy import merge
from faultwire.tape.format.bypassed import KEPT, bypass_members, bypasses
from faultwire.tape.format.events import session_end
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("p", b"s" * 32)
FAR = Bypass("203.0.113.5", 443)
NAMED = Bypass("2001:db8::7", 443, "udp", "api.example")


def recorded(path: Path, *bypassed: Bypass, more: int = 0) -> Path:
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    Deck(path, writer).exchange()
    writer.close_session("s", bypassed=bypassed, more=more)
    writer.close()
    assert writer.failed is None
    return path


def test_a_session_without_any_ends_as_ever() -> None:
    assert session_end("s", 2, 3) == {"type": "session_end", "session": "s", "exchanges": 2, "ended_ms": 3}
    assert bypass_members(()) == {}
    assert bypasses({"type": "session_end"}) == ((), 0)


def test_they_come_back() -> None:
    event = json.loads(json.dumps(session_end("s", 2, 3, (FAR, NAMED), 4)))
    assert event["bypassed"][0] == {"address": "203.0.113.5", "port": 443, "transport": "tcp", "host": None}
    assert bypasses(event) == ((FAR, NAMED), 4)


def test_beyond_a_bound_they_are_counted() -> None:
    each = [Bypass(f"198.18.0.{at}", 443) for at in range(KEPT + 5)]
    event = bypass_members(each, 2)
    assert (len(event["bypassed"]), event["bypassed_more"]) == (KEPT, 7)


@pytest.mark.parametrize(
    "event",
    [
        {"bypassed": "203.0.113.5"},
        {"bypassed": None},
        {"bypassed": ["203.0.113.5"]},
        {"bypassed": [{}]},
        {"bypassed": [{"address": "a", "port": 443, "transport": "tcp", "name": None}]},
        {"bypassed": [{"address": 5, "port": 443, "transport": "tcp", "host": None}]},
        {"bypassed": [{"address": "a", "port": True, "transport": "tcp", "host": None}]},
        {"bypassed": [{"address": "a", "port": -1, "transport": "tcp", "host": None}]},
        {"bypassed": [{"address": "a", "port": 443, "transport": None, "host": None}]},
        {"bypassed": [{"address": "a", "port": 443, "transport": "tcp", "host": 0}]},
        {"bypassed_more": "3"},
        {"bypassed_more": -1},
        {"bypassed_more": None},
    ],
)
def test_what_no_tape_says_is_refused(event: dict) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        bypasses(event)


def test_the_tape_verifies_and_is_partial_evidence(tmp_path: Path) -> None:
    report = verify(recorded(tmp_path / "t.tape", FAR, NAMED, more=1), (KEY.verifier,))
    assert [finding.code for finding in report.findings] == ["bypass_present"]
    assert (report.ok, report.trusted) == (True, True)
    reason = (
        "session `s` went past the proxy: 203.0.113.5:443, api.example ([2001:db8::7]:443/udp), and 1 more"
    )
    assert evidence_class(report) == ("PARTIAL", [reason])


def test_the_same_without_them_is_authoritative(tmp_path: Path) -> None:
    report = verify(recorded(tmp_path / "t.tape"), (KEY.verifier,))
    assert (report.findings, evidence_class(report)) == ([], ("AUTHORITATIVE", []))


def test_checks_and_audits_read_them(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.tape", FAR, more=2)
    with TapeReader.open(path) as tape:
        assert tape.history("s").bypassed == (FAR,)
    made = bundle.bundle(path, (KEY.verifier,))
    assert [gap["why"] for gap in made["gaps"]] == [
        "connected past the proxy: 203.0.113.5:443",
        "connected past the proxy to 2 more addresses",
    ]


def test_a_copy_hides_nothing(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.tape", FAR)
    merge([path], tmp_path / "copy.tape", "p/copy", KEY)
    assert [f.code for f in verify(tmp_path / "copy.tape", (KEY.verifier,)).findings] == ["bypass_present"]


def test_a_secret_in_a_name_does_not_reach_the_tape(tmp_path: Path) -> None:
    secret = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"
    path = recorded(tmp_path / "t.tape", Bypass("203.0.113.5", 443, "tcp", f"{secret}.example"))
    assert secret.encode() not in path.read_bytes()
    with TapeReader.open(path) as tape:
        assert "redacted:v1:" in (tape.history("s").bypassed[0].host or "")
