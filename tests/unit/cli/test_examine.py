from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire.capture.runtime import recognise
from faultwire.cli import _examine
from faultwire.cli._examine import PROBES, machine
from faultwire.events import History, Recorded, Request
from faultwire.mitm import ca


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return tmp_path


def found() -> dict[str, tuple[str, str]]:
    return {finding.subject: (finding.state, finding.text) for finding in machine()}


def test_a_plain_machine_has_nothing_in_the_way() -> None:
    told = found()
    assert told["CA"] == ("ok", "none yet; the first run makes one")
    assert "mitmproxy" in told["faultwire"][1]
    assert "environment" not in told


def test_what_the_environment_says_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://user:secret@corporate:3128")
    state, text = found()["environment"]
    assert state == "note"
    assert text.startswith("https_proxy is set")
    assert "secret" not in text


def test_the_authority_is_judged(here: Path) -> None:
    ca.ensure(here / ".faultwire" / "ca")
    assert found()["CA"][0] == "ok"
    (here / ".faultwire" / "ca" / "mitmproxy-ca-cert.pem").write_text("not a certificate")
    assert found()["CA"][0] == "fail"


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_is_of_a_runtime_whose_needs_we_can_tell(name: str) -> None:
    assert recognise(PROBES[name]) not in ("unknown", "shell")


def test_stdout_goes_beside_the_findings_and_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    with _examine.stdout_to_stderr():
        os.write(1, b"theirs\n")
    os.write(1, b"ours\n")
    assert capfd.readouterr() == ("ours\n", "theirs\n")


def recorded(number: int, host: str, **more: object) -> Recorded:
    settings: dict[str, object] = {
        "session": "doctor", "number": number, "kind": "other", "protocol": None, "provider": None,
        "tool": None, "request": Request("GET", "http", host, 80, "/"), "upstream": None, "delivered": None,
        "ending": "complete", "error": None, "attempt": 0, "started_ms": 0, "duration_ms": 1.0, **more,
    }  # fmt: skip
    return Recorded(**settings)  # type: ignore[arg-type]


def test_arrivals_are_counted_by_server_and_refusals_are_failures() -> None:
    history = History(
        "doctor", (recorded(1, "a"), recorded(2, "a"), recorded(3, "b", ending="refused", error="why"))
    )
    findings = _examine.arrivals(history)
    assert [(finding.state, finding.text) for finding in findings] == [
        ("ok", "http://a:80: 2 other"),
        ("ok", "http://b:80: 1 other"),
        ("fail", "refused 1 call to b:80: why"),
    ]
