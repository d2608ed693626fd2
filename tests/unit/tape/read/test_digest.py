"""The digests by which tapes name tapes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from faultwire.errors import TapeIncomplete
from faultwire.events import Exchange, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.read.digest import Digest, digest, exchange_digest, had
from faultwire.tape.record.writer import TapeWriter


def tape(path: Path, *answers: bytes) -> Path:
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
    for number, answer in enumerate(answers, 1):
        request = Request("GET", "https", "x.com", 443, f"/{number}", (), b"")
        recording = writer.record(Exchange("exec", number, request))
        recording.request(request)
        recording.upstream_head(Response(200, "", ()))
        recording.upstream_chunk(answer)
        recording.end("complete")
    writer.close_session("exec")
    writer.close()
    return path


def test_it_is_the_root_that_verify_finds(tmp_path: Path) -> None:
    path = tape(tmp_path / "t.tape", b"one", b"two")
    report = verify(path)
    assert digest(path) == Digest(report.events, report.root)


def test_what_a_tape_had_does_not_change_with_later_events(tmp_path: Path) -> None:
    path = tape(tmp_path / "t.tape", b"one")
    whole = digest(path)
    roots = had(path, range(whole.events + 2))
    assert roots[whole.events] == whole.root
    assert whole.events + 1 not in roots
    assert len(set(roots.values())) == len(roots)


def test_an_exchange_is_named_by_its_events(tmp_path: Path) -> None:
    path = tape(tmp_path / "t.tape", b"one", b"two")
    hashes = [row[3] for row in event_rows(connect_reader(path)) if b'"exchange":2' in row[2]]
    assert exchange_digest(path, "exec", 2) == sha256(b"".join(hashes)).hexdigest()
    assert exchange_digest(path, "exec", 1) != exchange_digest(path, "exec", 2)
    with pytest.raises(TapeIncomplete, match="no exchange 3"):
        exchange_digest(path, "exec", 3)
