from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire.capture.bypass_watch import BypassWatch
from faultwire.capture.processes import ProcFs
from faultwire.capture.runtime import recognise
from faultwire.cli import _examine
from faultwire.cli._examine import PROBES, machine
from faultwire.events import Bypass
from faultwire.mitm.engine.client import SessionSummary
from faultwire.mitm.native.ways import WAYS
from faultwire.mitm.network import ca


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return tmp_path


def found() -> dict[str, tuple[str, str]]:
    return {finding.subject: (finding.state, finding.text) for finding in machine()}


def test_a_plain_machine_has_no_findings() -> None:
    told = found()
    assert told["CA"] == ("ok", "none yet; the first run creates one")
    assert "mitmproxy" in told["faultwire"][1]
    assert "environment" not in told


@pytest.mark.parametrize(
    ("versions", "state", "words"),
    [
        ({"h2": "4.3.0", "h11": "0.16.0"}, "ok", "h2 4.3.0, h11 0.16.0"),
        ({"h2": "4.10", "h11": "1.0.0rc1"}, "ok", "h2 4.10, h11 1.0.0rc1"),
        ({"h2": "4.1.0", "h11": "0.16.0"}, "note", "h2 below 4.3.0 has CVE-2025-57804; faultwire validates"),
        (
            {"h2": "4.3.0", "h11": "0.14.0"},
            "note",
            "h11 below 0.16.0 has CVE-2025-43859; faultwire validates",
        ),
    ],
)
def test_libraries_with_known_flaws_are_named(
    versions: dict[str, str], state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_examine, "version", lambda name: versions.get(name, "1.0"))
    assert found()["HTTP"][0] == state
    assert words in found()["HTTP"][1]
    assert ("CVE" in found()["HTTP"][1]) == (state == "note")


def test_environment_variables_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://user:secret@corporate:3128")
    state, text = found()["environment"]
    assert state == "note"
    assert text.startswith("faultwire calls servers through http://corporate:3128 (https_proxy); the agent")
    assert "secret" not in text
    monkeypatch.setenv("https_proxy", "socks4://user:secret@corporate:3128")
    state, text = found()["environment"]
    assert state == "fail"
    assert "secret" not in text


def test_the_authority_is_judged(here: Path) -> None:
    ca.ensure(here / ".faultwire" / "ca")
    assert found()["CA"][0] == "ok"
    (here / ".faultwire" / "ca" / "mitmproxy-ca-cert.pem").write_text("not a certificate")
    assert found()["CA"][0] == "fail"


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_has_a_known_runtime(name: str) -> None:
    assert recognise(PROBES[name]) not in ("unknown", "shell")


def test_stdout_is_redirected_to_stderr_and_restored(capfd: pytest.CaptureFixture[str]) -> None:
    with _examine.stdout_to_stderr():
        os.write(1, b"theirs\n")
    os.write(1, b"ours\n")
    assert capfd.readouterr() == ("ours\n", "theirs\n")


FAR, NEAR = Bypass("203.0.113.5", 443), Bypass("127.0.0.1", 5001)


@pytest.mark.parametrize(
    ("bypassed", "more", "expected"),
    [
        ((), 0, [("ok", "no traffic past the proxy was seen in 3 looks; this is not a proof")]),
        ((FAR,), 0, [("fail", "went past the proxy: 203.0.113.5:443")]),
        ((NEAR,), 1, [("note", "went past the proxy: 127.0.0.1:5001, and 1 more")]),
        (
            (NEAR, FAR),
            1,
            [
                ("fail", "went past the proxy: 203.0.113.5:443, and 1 more"),
                ("note", "went past the proxy: 127.0.0.1:5001"),
            ],
        ),
        ((), 2, [("fail", "went past the proxy: 2 addresses")]),
    ],
)
def test_what_went_past_the_proxy(bypassed, more, expected) -> None:
    watch = BypassWatch().watch()
    watch.blind, watch.looks = None, 3
    closed = SessionSummary("doctor", 0, 0, bypassed=bypassed, bypassed_more=more)
    findings = _examine.bypasses(closed, watch, "go")
    assert [(finding.state, finding.text) for finding in findings] == expected
    for finding in findings:
        assert finding.subject == "bypass"
        assert ("Go never sends calls" in (finding.hint or "")) == (finding.state != "ok")


def test_unwatched_processes_are_reported(tmp_path: Path) -> None:
    closed = SessionSummary("doctor", 0, 0)
    watch = BypassWatch(ProcFs(tmp_path)).watch()
    (blind,) = _examine.bypasses(closed, watch, "unknown")
    assert blind.state == "note"
    assert blind.text.startswith("cannot be watched here: this system does not show")
    watch.blind, watch.unread = None, {5}
    (unread,) = _examine.bypasses(closed, watch, "unknown")
    assert unread.text == "1 of its processes cannot be watched: it belongs to another user"
    watch.unread.add(6)
    (unread,) = _examine.bypasses(closed, watch, "unknown")
    assert unread.text == "2 of its processes cannot be watched: they belong to another user"


@pytest.mark.parametrize("way", ["streams", "mitmproxy", "handler"])
def test_a_native_path_that_serves_in_a_slower_way_is_named(way: str) -> None:
    (found,) = _examine.native_path({"native_path": way})
    assert (found.state, found.subject, found.text) == ("note", "native path", WAYS[way])


@pytest.mark.parametrize("way", ["transports", "off"])
def test_one_that_serves_as_it_should_or_is_off_is_not(way: str) -> None:
    assert _examine.native_path({"native_path": way}) == []
