"""A program in a namespace is told of no proxy, and of our authority where roots are compiled in."""

from __future__ import annotations

from pathlib import Path

from faultwire.capture.bundle import TrustFiles
from faultwire.capture.netns.environment import inside_environment

TRUST = TrustFiles(Path("/ca/all.pem"), Path("/ca/ours.pem"), Path("/ca/all.jks"))


def test_no_proxy_is_left() -> None:
    base = {
        "HTTPS_PROXY": "http://corp:3128",
        "all_proxy": "x",
        "NO_PROXY": "*",
        "LOCALDOMAIN": "corp",
        "A": "1",
    }
    child = inside_environment(base, TRUST)
    assert child["A"] == "1"
    assert not [name for name in child if name.lower().endswith("_proxy") or name == "LOCALDOMAIN"]
    assert base["NO_PROXY"] == "*"


def test_variables_that_name_roots_name_ours() -> None:
    child = inside_environment({}, TRUST)
    assert child["SSL_CERT_FILE"] == child["REQUESTS_CA_BUNDLE"] == "/ca/all.pem"
    assert child["NODE_EXTRA_CA_CERTS"] == "/ca/ours.pem"
    mine = inside_environment({"NODE_EXTRA_CA_CERTS": "/mine.pem"}, TRUST)
    assert mine["NODE_EXTRA_CA_CERTS"] == "/ca/all.pem"
