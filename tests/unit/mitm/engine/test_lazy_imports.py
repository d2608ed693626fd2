"""faultwire.mitm.engine.lazy_imports: the engine starts without what it does not use."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "faultwire.faults.stream.cut_stream",
    "flask",
    "ldap3",
    "mitmproxy.addons.script",
    "mitmproxy.tools",
    "psutil",
    "pyparsing.core",
    "python_socks",
    "ruamel.yaml.main",
    "service_identity.exceptions",
    "tornado",
    "urwid",
)
"""What an engine does without until something asks for it."""
ENGINE_MODULES = 900
"""More than these no engine imports before it has read its settings (without any of this: 1,006)."""

START = """
import sys
from faultwire.mitm.engine import lazy_imports as lean
if {spared}:
    assert lean.spare_addons()
    assert not lean.spare_addons(), "done once"
    for name in lean.LATER:
        assert lean.import_later(name)
        assert not lean.import_later(name), "done once"
import faultwire.mitm.engine.main
"""
COUNT = f"print(*[name for name in {HEAVY!r} if name in sys.modules]); print(len(sys.modules))"
USE = """
import service_identity, aioquic.tls
assert issubclass(aioquic.tls.service_identity.VerificationError, Exception)
assert "service_identity.exceptions" in sys.modules

import io, mitmproxy.command, mitmproxy.optmanager, mitmproxy.options
unquote = mitmproxy.command.unquote
assert unquote("'it'") == unquote("it") == "it" and "pyparsing.core" in sys.modules
assert mitmproxy.command.command_lexer.expr.parse_string("set a", parse_all=True)[0] == "set"
assert sys.modules["mitmproxy.command_lexer"].unquote("'it'") == "it"
assert mitmproxy.optmanager.parse("a: 1") == {"a": 1} and "ruamel.yaml.main" in sys.modules
written = io.StringIO()
mitmproxy.optmanager.dump_defaults(mitmproxy.options.Options(), written)
assert "ssl_insecure" in written.getvalue()
print("used")
"""


def run(program: str, *, spared: bool) -> list[str]:
    command = [sys.executable, "-W", "ignore", "-c", START.format(spared=spared) + program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_an_engine_does_not_use_is_not_imported() -> None:
    heavy, count = run(COUNT, spared=True)
    assert heavy == ""
    assert int(count) <= ENGINE_MODULES


def test_without_it_it_is() -> None:
    heavy, _ = run(COUNT, spared=False)
    assert {"flask", "ldap3", "pyparsing.core", "ruamel.yaml.main", "service_identity.exceptions"} <= {
        *heavy.split()
    }


def test_what_is_imported_later_works_when_it_is_used() -> None:
    assert run(USE, spared=True) == ["used"]
