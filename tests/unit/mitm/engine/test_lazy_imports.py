"""faultwire.mitm.engine.lazy_imports: the engine starts without mitmproxy's unused addons."""

from __future__ import annotations

import subprocess
import sys

PROBE = """
import sys
from faultwire.mitm.engine import lazy_imports as lean
if {spared}:
    assert lean.spare_addons()
    assert not lean.spare_addons(), "done once"
    assert lean.import_later()
    assert not lean.import_later(), "done once"
import faultwire.mitm.engine.main
print("flask" in sys.modules, "ldap3" in sys.modules, "service_identity.exceptions" in sys.modules)
import service_identity
import aioquic.tls
assert issubclass(aioquic.tls.service_identity.VerificationError, Exception)
assert "service_identity.exceptions" in sys.modules
"""


def loaded(*, spared: bool) -> str:
    command = [sys.executable, "-c", PROBE.format(spared=spared)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_unused_addons_are_not_imported() -> None:
    assert loaded(spared=True) == "False False False"


def test_without_it_they_are() -> None:
    assert loaded(spared=False) == "True True True"
