"""A fault of somebody else's package is found, documented, loaded and decided on like our own."""

# ruff: noqa: E501 - each message stands in one line of its table
from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

PROFILE = "faults: [{teapot: {short: true}, on: {kind: tool}}]"
USE = f"""
from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.plan import decide
from faultwire.profile.load import dump, from_dump, parse
from faultwire.exchange.session_state import SessionState

profile = parse({PROFILE!r}, "p.yaml")
assert from_dump(dump(profile)) == profile
exchange = Exchange("s", 1, Request("GET", "http", "h", 80, "/"), kind="tool", tool="kettle", key="k")
dice = Dice(1, "s")
(decision,) = decide(profile, dice, exchange, SessionState()).firing
print(decision.entry.fault.start(exchange, dice.held(decision.entry.id, "k", 0)).answer().body.decode())
"""


@pytest.fixture
def site(tmp_path: Path, installed) -> Path:
    return installed("fault_pack", tmp_path / "site")


def test_it_is_used_in_a_profile_like_any_other(site, python):
    done = python(site, "-c", USE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "short and stout\n", "")


def test_it_is_listed_and_documented(site, python):
    listed = python(site, "-m", "faultwire", "faults", "list", "--format", "json")
    assert listed.returncode == 0, listed.stderr
    names = [fault["name"] for fault in json.loads(listed.stdout)]
    assert names[-1] == "teapot"
    shown = python(site, "-m", "faultwire", "faults", "show", "teapot")
    assert shown.returncode == 0, shown.stderr
    assert "RFC 2324." in shown.stdout
    assert "short and stout" in shown.stdout


def test_without_the_package_the_fault_is_unknown(tmp_path, python):
    (tmp_path / "p.yaml").write_text(PROFILE)
    done = python(tmp_path, "-m", "faultwire", "profiles", "validate", "./p.yaml")
    assert done.returncode == 2
    assert "p.yaml:1:11: profile.unknown_fault: found fault `teapot`, expected a known one\n" in done.stderr


@pytest.mark.by_day("entry_points0")
@pytest.mark.parametrize(
    ("entry_points", "message"),
    [
        ({"latency": "fault_pack:Teapot"}, "fault `latency` of `bad-pack` (fault_pack:Teapot) adds fault `latency`, which there is already"),
        ({"kettle": "fault_pack:Teapot"}, "fault `kettle` of `bad-pack` (fault_pack:Teapot) is called `teapot`"),
        ({"kettle": "fault_pack:Nothing"}, "fault `kettle` of `bad-pack` (fault_pack:Nothing) failed to load: AttributeError"),
        ({"kettle": "nowhere:Nothing"}, "fault `kettle` of `bad-pack` (nowhere:Nothing) failed to load: ModuleNotFoundError"),
        ({"kettle": "broken:Nothing"}, "fault `kettle` of `bad-pack` (broken:Nothing) failed to load: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_package_that_fails_stops_everything_and_is_named(site, python, install_bad, entry_points, message):
    install_bad(site, "faultwire.faults", entry_points, broken="1 / 0\n")
    done = python(site, "-m", "faultwire", "faults", "list")
    assert done.returncode == 3
    assert done.stderr.startswith(f"fault.plugin: {message}")
    assert done.stderr.endswith("hint: fix or uninstall `bad-pack`\n")
    assert done.stdout == ""


ASK = """
import http.client, json, os, ssl
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
asked = http.client.HTTPSConnection(
    proxy.hostname, proxy.port, context=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
)
import base64
told = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
asked.set_tunnel("api.openai.com", 443, {"Proxy-Authorization": "Basic " + told})
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "rivers"}]})
asked.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
print(asked.getresponse().status)
"""


@pytest.mark.parametrize("writes", [False, True])
def test_a_fault_that_writes_to_an_exchange_stops_it(site, python, writes):
    """Else the tape would hold, sealed, what nobody asked."""
    if writes:
        pack = (site / "fault_pack.py").read_text()
        start = "        return _Teapot("
        assert pack.count(start) == 1
        changed = pack.replace(start, f'        exchange.request.path = "/other"\n{start}')
        (site / "fault_pack.py").write_text(changed)
    arguments = ("exec", "--mock", "--record", "t", "--fault", "teapot: {short: true}")
    done = python(site, "-m", "faultwire", *arguments, "--", sys.executable, "-c", ASK)
    assert done.stdout.splitlines()[0] == ("502" if writes else "418"), done.stderr
    assert ("run.void" in done.stderr) is writes
    shown = python(site, "-m", "faultwire", "tape", "show", "t").stdout
    assert "/v1/chat/completions" in shown, done.stderr
    assert "/other" not in shown
