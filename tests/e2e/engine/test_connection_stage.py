"""Faults that act when a connection is made, met by real TLS clients."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.tape.read.reader import TapeReader

TIMEOUT_S = 60
PYTHON = """
import sys, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).status)
except OSError as error:
    print(type(getattr(error, "reason", error)).__name__, getattr(error, "reason", error))
"""
NODE = """
const http = require('http'), https = require('https');
const proxy = new URL(process.env.HTTPS_PROXY), target = new URL(process.argv[1]);
const auth = 'Basic ' + Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
const where = `${target.hostname}:${target.port}`;
http.request({host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: where,
              headers: {'proxy-authorization': auth}})
  .on('connect', (answer, socket) => {
    if (answer.statusCode !== 200) { console.log('CONNECT', answer.statusCode); return socket.destroy(); }
    https.get({socket, agent: false, host: target.hostname, servername: target.hostname, path: '/'},
              r => { console.log(r.statusCode); socket.destroy(); })
      .on('error', e => console.log(e.code));
  }).on('error', e => console.log(e.code)).end();
"""
CLIENTS = {
    "curl": ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}"],
    "python": ["python3", "-c", PYTHON],
    "node": ["node", "-e", NODE, "--"],
}
HANDSHAKE = "handshake"
MET = {
    ("curl", "expired"): "certificate has expired",
    ("curl", "wrong_host"): "no alternative certificate subject name",
    ("curl", "untrusted"): "unable to get local issuer certificate",
    ("curl", HANDSHAKE): "alert handshake failure",
    ("python", "expired"): "SSLCertVerificationError [SSL: CERTIFICATE_VERIFY_FAILED]",
    ("python", "wrong_host"): "Hostname mismatch",
    ("python", "untrusted"): "unable to get local issuer certificate",
    ("python", HANDSHAKE): "SSLError [SSL: SSLV3_ALERT_HANDSHAKE_FAILURE]",
    ("node", "expired"): "CERT_HAS_EXPIRED",
    ("node", "wrong_host"): "ERR_TLS_CERT_ALTNAME_INVALID",
    ("node", "untrusted"): "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ("node", HANDSHAKE): "EPROTO",
}


def ask(engine: Engine, session: Any, client: str, url: str, *options: str) -> str:
    """What a program said that asked for a URL through the proxy."""
    program, *rest = CLIENTS[client]
    found = shutil.which(program)
    assert found, program
    environment = {
        "HTTPS_PROXY": session.proxy_url,
        "https_proxy": session.proxy_url,
        "SSL_CERT_FILE": str(engine.ca_pem),
        "CURL_CA_BUNDLE": str(engine.ca_pem),
        "NODE_EXTRA_CA_CERTS": str(engine.ca_pem),
    }
    command = [found, *rest, *options, url]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=TIMEOUT_S, text=True)
    return done.stdout + done.stderr


def entry(name: str, trigger: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    fault = {"name": name, "settings": settings}
    return {"fault": fault, "on": {"host": "localhost"}, "trigger": trigger or {}}


def taped(engine: Engine, name: str) -> Any:
    with TapeReader.open(engine.control.parent / "run.tape") as tape:
        return tape.history(name).exchanges


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("reason", ["expired", "wrong_host", "untrusted", HANDSHAKE])
def test_tls_failure_is_found_by_the_clients_own_tls(
    tools: Any, engine: Engine, tls_upstream: Any, client: str, reason: str
) -> None:
    tls_upstream.answer("/", b"{}")
    fault = entry("tls_failure", {"first": 1, "attempts": "first"}, reason=reason)
    session = engine.open_session(tools.fresh("tls"), tools.profile(fault), 1)
    url = f"https://localhost:{tls_upstream.port}/"
    assert MET[client, reason] in ask(engine, session, client, url)
    assert tls_upstream.asked == []
    assert ask(engine, session, client, url).strip() == "200", "the control: the next connection is sound"
    summary = engine.close_session(session.name)
    assert dict(summary.fired) == {"tls_failure#0": 1}
    assert summary.voids == ()
    assert summary.acknowledged == summary.exchanges == 3
    broken, passed, inside = taped(engine, session.name)
    assert (broken.request.method, broken.ending, broken.kind) == ("CONNECT", "cut", "other")
    assert (broken.request.host, broken.request.port) == ("localhost", tls_upstream.port)
    assert [line.outcome for line in broken.faults] == ["fired"]
    assert [line.outcome for line in passed.faults] == ["skipped"]
    assert (passed.ending, passed.delivered.status) == ("complete", 200)
    assert (inside.request.method, inside.faults) == ("GET", ())


def test_a_client_that_accepts_a_bad_certificate_is_reported(
    tools: Any, engine: Engine, tls_upstream: Any
) -> None:
    tls_upstream.answer("/", b"{}")
    session = engine.open_session(tools.fresh("tls"), tools.profile(entry("tls_failure")), 1)
    url = f"https://localhost:{tls_upstream.port}/"
    assert ask(engine, session, "curl", url, "--insecure") == "200"
    engine.close_session(session.name)
    tunnel, inside = taped(engine, session.name)
    assert tunnel.faults[0].effect == "showed a certificate that expired, and the client took it"
    assert (tunnel.ending, inside.delivered.status) == ("complete", 200)


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        (entry("refuse"), 502, "connection_refused"),
        (entry("dns_failure"), 502, 'dns_error; rcode="NXDOMAIN"'),
        (entry("dns_failure", reason="timeout"), 504, "dns_timeout"),
    ],
)
def test_a_tunnel_that_is_not_opened(
    tools: Any, engine: Engine, tls_upstream: Any, fault: dict[str, Any], status: int, error: str
) -> None:
    """As proxies say it (RFC 9209); every client calls it a failure of its connection."""
    session = engine.open_session(tools.fresh("shut"), tools.profile(fault), 1)
    url = f"https://localhost:{tls_upstream.port}/"
    with tools.Client(engine, url[8:-1], session=session) as client:
        head = client.connect_reply.decode()
        assert head.startswith(f"HTTP/1.1 {status} ")
        assert f"proxy-status: proxy; error={error}\r\n" in head
        assert client.rest().endswith(b"\n")
    said = {name: ask(engine, session, name, url) for name in CLIENTS}
    assert f"CONNECT tunnel failed, response {status}" in said["curl"]
    assert f"Tunnel connection failed: {status}" in said["python"]
    assert said["node"].strip() == f"CONNECT {status}"
    summary = engine.close_session(session.name)
    assert sum(summary.fired.values()) == summary.exchanges == 4
    assert tls_upstream.asked == []
    exchange = taped(engine, session.name)[0]
    assert (exchange.ending, exchange.delivered.status, exchange.upstream) == ("complete", status, None)
    assert [one.attempt for one in taped(engine, session.name)] == [0, 1, 2, 3]


def test_without_a_tunnel_the_call_itself_is_turned_away(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    target = f"localhost:{upstream.port}"
    seen: dict[str, Any] = {}
    for name in ("refuse", "dns_failure", "tls_failure"):
        session = engine.open_session(tools.fresh(name), tools.profile(entry(name)), 1)
        with tools.Client(engine, target, session=session, connect=False) as client:
            client.send(
                b"GET http://%s/ HTTP/1.1\r\nhost: %s\r\n%s\r\n"
                % (target.encode(), target.encode(), tools.basic(session))
            )
            try:
                seen[name] = client.response()[0]
            except OSError as error:
                seen[name] = type(error)
        engine.close_session(session.name)
        (exchange,) = taped(engine, session.name)
        (line,) = exchange.faults
        seen[f"{name} line"] = line.outcome
    assert seen == {
        "refuse": ConnectionResetError,
        "refuse line": "fired",
        "dns_failure": 502,
        "dns_failure line": "fired",
        "tls_failure": 200,
        "tls_failure line": "inapplicable",
    }


def test_a_session_that_closes_keeps_the_faults_of_its_open_tunnels(tools: Any, engine: Engine) -> None:
    session = engine.open_session(tools.fresh("tls"), tools.profile(entry("tls_failure")), 1)
    with tools.Client(engine, "localhost:443", session=session) as client:
        assert client.connect_reply.startswith(b"HTTP/1.1 200 ")
        summary = engine.close_session(session.name)
    assert (summary.exchanges, dict(summary.fired), summary.voids) == (1, {}, ())
    (exchange,) = taped(engine, session.name)
    assert (exchange.ending, exchange.faults[0].outcome) == ("client_aborted", "no_effect")


def test_what_fails_at_a_tunnel_is_decided_by_the_seed(tools: Any, settings: Any) -> None:
    """The same seed refuses the same hosts, whatever the order; another seed refuses others."""
    fault = {
        "fault": {"name": "refuse", "settings": {}},
        "on": {"host": "*.test"},
        "trigger": {"probability": 0.5},
    }
    hosts = [f"h{n}.test" for n in range(16)]

    def refused(seed: int, order: list[str], run: str) -> dict[str, bool]:
        folder = settings.run_dir.with_name(run)
        folder.mkdir()
        mine = settings.model_copy(update={"run_dir": folder, "tape": folder / "run.tape"})
        with Engine.start(mine) as engine:
            session = engine.open_session("dice", tools.profile(fault), seed)
            found = {}
            for host in order:
                with tools.Client(engine, f"{host}:443", session=session) as client:
                    found[host] = client.connect_reply.startswith(b"HTTP/1.1 502")
        return found

    first = refused(1, hosts, "one")
    assert 2 < sum(first.values()) < 14
    assert refused(1, hosts[::-1], "two") == first
    assert refused(2, hosts, "three") != first


def test_the_clients_of_this_test_speak_to_the_upstream_unbroken(
    tools: Any, engine: Engine, tls_upstream: Any
) -> None:
    tls_upstream.answer("/", b"{}")
    session = engine.open_session(tools.fresh("calm"), tools.CALM, 1)
    for client in CLIENTS:
        said = ask(engine, session, client, f"https://localhost:{tls_upstream.port}/")
        assert said.strip() == "200", (client, said)
    assert engine.close_session(session.name).exchanges == 3


def test_an_alert_shows_a_client_why_its_handshake_failed(tools: Any, engine: Engine) -> None:
    """A client that speaks only what the proxy does not gets an alert, not a mere end."""
    session = engine.open_session(tools.fresh("old"), tools.CALM, 1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")  # our certificates are ECDSA
    with (
        tools.Client(engine, "x.test:443", session=session) as client,
        pytest.raises(ssl.SSLError, match="ALERT"),
    ):
        context.wrap_socket(client.raw, server_hostname="x.test")
    engine.close_session(session.name)
