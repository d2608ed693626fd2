"""`faultwire.tape.export.bundle` and `faultwire.tape.export.pdf`: what an auditor gets."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zlib
from base64 import a85decode
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.tape.conftest import JSON, Deck
from tests.unit.tape.import_ import made

from faultwire import _core
from faultwire.errors import TapeTampered
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import bundle, pdf
from faultwire.tape.import_ import agentops
from faultwire.tape.import_._api import store
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("shop", b"s" * 32)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "tapes" / "t.tape"
    writer = TapeWriter.create(path, origin="shop/t", settings={}, key=b"k" * 32, signer=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="<b>&agent")
    deck = Deck(path, writer)
    deck.exchange()
    deck.begin(b'{"api_key":"sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"}', JSON).end("reset", "connection reset", ())
    writer.drop(deck.begin().exchange, "the queue was full")
    writer.close()
    return path


def test_the_bundle_names_custody_gaps_drops_and_redactions(tape: Path) -> None:
    made = bundle.bundle(tape, (KEY.verifier,))
    assert made["tape"]["root"] == verify(tape).root
    assert made["evidence"]["class"] == "PARTIAL"
    assert [(c["what"], c["by"]) for c in made["custody"]] == [("recorded", "shop/t"), ("sealed", "shop")]
    assert [(g["exchange"], g["why"]) for g in made["gaps"]] == [
        (2, "it ended with `reset`: connection reset"),
        (3, "not recorded: the queue was full"),
        (None, "the session was interrupted"),
        (3, "the exchange never ended"),
    ]
    assert [(r["exchange"], r["class"], r["count"]) for r in made["redactions"]] == [(2, "anthropic_key", 1)]
    first = made["exchanges"][0]
    assert (first["status"], first["ending"]) == (200, "complete")
    assert [body["side"] for body in first["bodies"]] == ["request", "upstream"]
    assert first["faults"] == [{"fault": "status", "effect": None}]


def test_the_same_tape_gives_the_same_canonical_bytes(tape: Path) -> None:
    one, two = io.BytesIO(), io.BytesIO()
    assert bundle.write(tape, one) == bundle.write(tape, two) == 3
    assert one.getvalue() == two.getvalue()
    assert _core.jcs(one.getvalue().strip()) + b"\n" == one.getvalue()
    assert b"sk-ant-api03" not in one.getvalue()


def words(document: bytes) -> str:
    """The text of a PDF's pages, as far as it is drawn in one piece."""
    pages = re.findall(rb"stream\r?\n(.*?)endstream", document, re.S)
    drawn = b"".join(
        zlib.decompress(a85decode(page.strip(), adobe=False) if not page.startswith(b"x") else page)
        for page in (one.strip().removesuffix(b"~>") for one in pages)
    )
    return b" ".join(re.findall(rb"\((.*?)\) Tj", drawn)).decode("latin-1")


def test_the_pdf_shows_the_bundle_and_nothing_is_markup(tape: Path) -> None:
    out, again = io.BytesIO(), io.BytesIO()
    made = bundle.bundle(tape, (KEY.verifier,))
    pdf.render(made, out)
    pdf.render(json.loads(json.dumps(made)), again)
    assert out.getvalue().startswith(b"%PDF-")
    assert out.getvalue() == again.getvalue()
    text = words(out.getvalue())
    for word in ("Custody", "Redactions", "PARTIAL", "the queue was full", "reset"):
        assert word in text
    made["gaps"][0]["why"] = "<para><font color=red>\x1b[31mx</b>"
    pdf.render(made, io.BytesIO())  # would raise, were it read as markup


def test_the_pdf_shows_findings_and_imported_events(tmp_path: Path) -> None:
    log = made.old_log(*made.OLD_EVENTS[:2], ("LOG_DROP", {"dropped_count": 4}), *made.OLD_EVENTS[2:])
    (tmp_path / "log").write_bytes(made.lines(log))
    path = tmp_path / "t.tape"
    store(agentops.read(tmp_path / "log"), path, "agentops", "p/t", KEY)
    out = io.BytesIO()
    pdf.render(bundle.bundle(path, (KEY.verifier,)), out)
    text = words(out.getvalue())
    for word in ("Findings", "import_finding", "agentops_drop", "Notes", "agentops_seal_missing"):
        assert word in text
    unwrapped = text.replace(" ", "")
    for kind, _ in made.OLD_EVENTS:
        assert kind in unwrapped
    assert "it does not verify" in text


def test_a_tape_of_nonsense_is_not_bundled(tape: Path) -> None:
    tape.chmod(0o600)
    with closing(sqlite3.connect(tape)) as connection, connection:
        connection.execute("""UPDATE events SET record = CAST('{"type":"made"}' AS BLOB) WHERE seq = 3""")
    with pytest.raises(TapeTampered, match="cannot be bundled"):
        bundle.bundle(tape, ())
