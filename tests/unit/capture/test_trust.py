"""What a client needs that refused a certificate."""

from __future__ import annotations

import pytest

from faultwire.capture.trust import OTHER, PINNED, explained, needed
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


def test_texts_about_handshakes_are_explained() -> None:
    known, unknown = FailedHandshake("a", "refused", 1, "/bin/node"), FailedHandshake("b", "refused", 1)
    said = explained(["other", known.text, unknown.text], [known, unknown])
    assert said[0] == "other"
    assert said[1] == f"{known.text}: {needed(known)}"
    assert said[2] == f"{unknown.text}: {OTHER}; {PINNED}"
