"""The audit log is a tape that verifies, and what cannot be kept is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import TapeError
from faultwire.events import Request
from faultwire.service.audit import CALLER, REASON, Audit
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

ASKED = Request("POST", "https", "service", 0, "/api/projects/shop/runs")


async def test_lines_are_on_a_sealed_tape_by_project(tmp_path: Path) -> None:
    audit = Audit(tmp_path, "team", SignerKey.fresh("team"), bytes(32))
    await audit.add(ASKED, "shop", "token:ci", 201)
    await audit.add(ASKED, None, "", 401, "service.token")
    with TapeReader.open(audit.path) as reader:  # before it is closed: the disk has them already
        lines = [one for name in ("shop", "service") for one in reader.exchanges(name)]
    audit.close()
    assert [(one.session, one.request.path, one.delivered and one.delivered.status) for one in lines] == [
        ("shop", "/api/projects/shop/runs", 201), ("service", "/api/projects/shop/runs", 401)
    ]  # fmt: skip
    assert dict(lines[0].request.headers) == {CALLER: "token:ci"}
    assert lines[1].delivered is not None
    assert dict(lines[1].delivered.headers) == {REASON: "service.token"}
    assert not [one for one in verify(audit.path, demanded=True).findings if one.code != "seal_untrusted"]
    again = Audit(tmp_path, "team", SignerKey.fresh("team"), bytes(32))
    again.close()
    assert [audit.path.name, again.path.name] == ["audit-000001.tape", "audit-000002.tape"]


async def test_what_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    audit = Audit(tmp_path, "team", SignerKey.fresh("team"), bytes(32))
    audit.path.unlink()
    with pytest.raises(TapeError) as raised:
        await audit.add(ASKED, "shop", "token:ci", 201)
    assert raised.value.code == "service.audit"
    audit.close()
