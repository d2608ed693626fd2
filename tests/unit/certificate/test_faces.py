"""Where the faces of certificates say what was not tested, and whom not to rely on.

Modules: `faultwire.certificate.faces`, `faultwire.certificate.sections`.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.unit.certificate.conftest import SIGNER

from faultwire.certificate import dsse, faces, sections, shape
from faultwire.certificate.issue import issue
from faultwire.certificate.keys import ProjectSigner


@pytest.fixture
def envelope(run_folder: Path) -> dsse.Envelope:
    return issue(run_folder, ProjectSigner(SIGNER), (SIGNER.verifier,))


def held(envelope: dsse.Envelope, **changes: Any) -> shape.Statement:
    statement = json.loads(envelope.payload)
    statement["predicate"] |= changes
    return shape.Statement.model_validate_json(json.dumps(statement))


def test_the_text_has_the_verdict_the_intervals_and_what_was_not_tested(envelope: dsse.Envelope) -> None:
    text = faces.text(held(envelope), "shop+00")
    assert "verdict: failed" in text
    assert "95% interval" in text
    assert "changed prompts: no such phase was run" in text
    assert "signed by: shop+00" in text
    assert "nobody who is trusted here" in faces.text(held(envelope), None)


def test_where_nothing_was_left_out_nothing_is_named(envelope: dsse.Envelope) -> None:
    assert "not tested\n  nothing is named" in faces.text(held(envelope, notTested=[]), "shop+00")


def test_a_rate_of_nothing_has_no_interval() -> None:
    rate = shape.Rate(passed=0, total=0, low=0.0, high=1.0, confidence=0.95, method="Jeffreys")
    assert sections.interval(rate) == "nothing judged"


def test_a_page_shows_hostile_names_as_text_and_warns_of_strangers(envelope: dsse.Envelope) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b[31m"
    page = faces.html(held(envelope, notTested=[hostile]), "shop+00")
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert "Do not rely on it." not in page
    assert "Do not rely on it." in faces.html(held(envelope), None)
    assert "\x1b" not in faces.text(held(envelope, notTested=[hostile]), "shop+00")


def printed(pdf: bytes) -> str:
    """The text of its pages, as reportlab packs it, without the places of words."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    pages = [
        zlib.decompress(base64.a85decode(one.strip(), adobe=False).rstrip()) for one in map(unmarked, streams)
    ]
    return " ".join(re.findall(r"\((.*?)(?<!\\)\) Tj", b"\n".join(pages).decode("latin-1"), re.DOTALL))


def unmarked(stream: bytes) -> bytes:
    return stream.strip().removesuffix(b"~>")


def test_a_pdf_says_what_was_not_tested_and_who_signed(envelope: dsse.Envelope) -> None:
    log = [("log", "in none")]
    text = printed(faces.pdf(held(envelope), "shop+00", log))
    for part in (
        "Not tested",
        "changed prompts",
        "no such phase was run",
        "shop+00",
        "in none",
        "no promise for",
    ):
        assert part in text, part
    assert "nobody who is trusted here" not in text
    assert "nobody who is trusted here" in printed(faces.pdf(held(envelope), None))
    assert "changed prompts" not in printed(faces.pdf(held(envelope, notTested=[]), "shop+00"))


def test_every_face_has_the_log_and_its_witness(envelope: dsse.Envelope) -> None:
    rows = [("log", "entry 7 of the log shop"), ("cosigned", "by w1+00+AA on 2026")]
    made = held(envelope)
    shown = (faces.text(made, "s", rows), faces.html(made, "s", rows), printed(faces.pdf(made, "s", rows)))
    for face in shown:
        for _, text in rows:
            assert text in face
    assert "entry 7" not in faces.html(made, "s")


def test_a_pdf_is_the_same_for_the_same_certificate(envelope: dsse.Envelope) -> None:
    made = held(envelope)
    first = faces.pdf(made, "shop+00")
    assert first.startswith(b"%PDF-")
    assert faces.pdf(made, "shop+00") == first
