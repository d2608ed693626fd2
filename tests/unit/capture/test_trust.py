"""What a client needs that refused a certificate."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.capture.runtime import has_compiled_roots
from faultwire.capture.trust import COMPILED, OTHER, PINNED, explained, needed
from faultwire.events import FailedHandshake


@pytest.mark.parametrize(
    ("program", "command", "variable"),
    [
        ("/usr/bin/node", (), "NODE_EXTRA_CA_CERTS"),
        ("/opt/python3.12", (), "SSL_CERT_FILE` and `REQUESTS_CA_BUNDLE"),
        ("/usr/lib/jvm/bin/java", ("python", "x.py"), "JAVA_TOOL_OPTIONS"),
        ("/usr/bin/curl", (), "CURL_CA_BUNDLE"),
        (None, ("node", "agent.mjs"), "NODE_EXTRA_CA_CERTS"),
        (None, ("sh", "-c", "x"), "SSL_CERT_FILE"),
        ("/nowhere/agent", ("node", "x"), "SSL_CERT_FILE"),
    ],
)
def test_by_program_and_else_by_the_command(
    program: str | None, command: tuple[str, ...], variable: str
) -> None:
    said = needed(FailedHandshake("a", "refused", 1, program), command)
    assert variable in said
    assert said.endswith(PINNED)


def test_roots_that_are_compiled_in_are_named_only_where_they_are(tmp_path: Path) -> None:
    native, bare, script = tmp_path / "native", tmp_path / "bare", tmp_path / "script"
    native.write_bytes(b"\x7fELF" + bytes(2_000_000) + b"ISRG Root X1" + bytes(9))
    bare.write_bytes(b"\x7fELF" + bytes(2_000_000))
    script.write_bytes(b"#!/opt/agent\nISRG Root X1")
    assert needed(FailedHandshake("a", "refused", 1, str(native))) == f"{COMPILED}; {PINNED}"
    for other in (bare, script, tmp_path / "gone"):
        assert needed(FailedHandshake("a", "refused", 1, str(other))) == f"{OTHER}; {PINNED}"


def test_a_root_on_the_border_of_what_is_read_at_once_is_found(tmp_path: Path) -> None:
    for before in range((1 << 20) - 12, (1 << 20) + 1):
        program = tmp_path / "program"
        program.write_bytes(b"\x7fELF" + bytes(before - 4) + b"ISRG Root X1")
        assert has_compiled_roots(program)


def test_texts_about_handshakes_are_explained() -> None:
    known, unknown = FailedHandshake("a", "refused", 1, "/bin/node"), FailedHandshake("b", "refused", 1)
    said = explained(["other", known.text, unknown.text], [known, unknown])
    assert said[0] == "other"
    assert said[1] == f"{known.text}: {needed(known)}"
    assert said[2] == f"{unknown.text}: {OTHER}; {PINNED}"
