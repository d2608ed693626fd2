"""The native path beside mitmproxy's own: the same bytes, the same ledger, the same tape; and which of them a
tunnel takes. All other tests here pass on either, by `FAULTWIRE_NATIVE`."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from faultwire.mitm.engine.client import Engine

EVENTS = [b'data: {"n": %d}\n\n' % n for n in range(4)]
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'


@pytest.fixture(scope="module")
def paths(tmp_path_factory: Any, test_ca: Any, acts: str) -> Iterator[dict[str, Engine]]:
    """An engine on each path."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.executable", acts)
        found = {}
        for path in ("mitmproxy", "native"):
            folder = tmp_path_factory.mktemp(path)
            settings = stack.enter_context(contextlib.nullcontext(settings_of(folder, test_ca, path)))
            found[path] = stack.enter_context(Engine.start(settings))
        yield found


def settings_of(folder: Any, test_ca: Any, path: str) -> Any:
    from faultwire.mitm.settings import EngineSettings

    (folder / "run").mkdir()
    return EngineSettings(
        run_dir=folder / "run",
        ca_dir=folder / ".faultwire" / "ca",
        tape=folder / "run" / "run.tape",
        upstream_ca=test_ca.pem,
        allow_hosts=("127.0.0.1", "localhost"),
        native=path == "native",
    )


def answer(head: bytes, *pieces: bytes) -> Any:
    def give(asked: Any, connection: socket.socket) -> None:
        connection.sendall(head)
        for piece in pieces:
            connection.sendall(piece)

    return give


SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNKS = [b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS]
ANSWERS = {
    "whole": answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Odd:  a \r\n\r\n", b"{}"),
    "stream": answer(SSE, *CHUNKS, b"0\r\n\r\n"),
    "trailers": answer(SSE, *CHUNKS, b"0\r\nx-sum: 1\r\n\r\n"),
    "nothing": answer(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "hints": answer(b"HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n"),
    "closes": answer(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"),
    "malformed": answer(b"HTTP/1.1 200 OK\r\nx: \0\r\n\r\n"),
    "two lengths": answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}"),
}
ACTS: dict[str, dict[str, Any]] = {
    "calm": {},
    "waits": {"before": ("wait:0.01",)},
    "says": {"say": "no"},
    "cuts": {"chunks": {2: ("cut",)}},
    "ends": {"chunks": {2: ("end",)}},
    "resets": {"chunks": {2: ("reset",)}},
    "changes": {"chunks": {1: ("send:other", "wait:0.01", "pass")}},
    "fails": {"raise_in": "feed"},
}


def exchange(
    tools: Any, engine: Engine, upstream: Any, acts: dict[str, Any], fault: str, *, plain: bool = False
) -> dict[str, Any]:
    """What a client gets of one call with TLS, and what is on the tape of it; `plain`: of one that asks the
    proxy for an `http` URL."""
    name = tools.fresh("path")
    profile = tools.acting(fault, **acts) if acts else tools.CALM
    handle = engine.open_session(name, profile, 1)
    got, how = b"", "closed"
    place = f"localhost:{upstream.port}"
    with tools.Client(engine, place, tls=not plain, connect=not plain, session=handle) as client:
        auth = tools.basic(handle) if plain else b""
        client.post(f"http://{place}/" if plain else "/", BODY, extra=auth + b"connection: close\r\n")
        try:
            while piece := client.sock.recv(65536):
                got += piece
        except ConnectionResetError:
            how = "reset"
        except ssl.SSLError:
            how = "cut"
    summary = engine.close_session(name)
    recorded = tools.recorded(engine, name)
    return {
        "got": unframed(got),
        "how": how,
        "asked": [(a.method, a.path, a.headers, a.body) for a in upstream.asked],
        "fired": summary.fired,
        "voids": summary.voids,
        "ending": recorded.ending,
        "error": recorded.error,
        "request": (recorded.request.method, recorded.request.path, recorded.request.body),
        "upstream": timeless(recorded.upstream),
        "delivered": timeless(recorded.delivered),
        "faults": [replace(fault, key="") for fault in recorded.faults],  # each tape has its own
    }


def timeless(found: Any) -> Any:
    """A response on the tape but for its times."""
    return found and (found.status, found.headers, found.body, found.trailers)


def unframed(data: bytes) -> tuple[bytes, bytes]:
    """A head and its body, the latter without its division into chunks, which reads decide."""
    head, _, rest = data.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return head, rest
    body = b""
    while b"\r\n" in rest:
        line, _, rest = rest.partition(b"\r\n")
        size = int(line, 16) if line else 0
        if not size:
            return head, body + b"|" + rest
        body, rest = body + rest[:size], rest[size + 2 :]
    return head, body + b"|cut|" + rest


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("acts_", ["calm", "waits"])
def test_every_answer_is_the_same_on_both_paths(
    tools: Any, paths: dict[str, Engine], tls_upstream: Any, kind: str, acts_: str
) -> None:
    tls_upstream.handlers["/"] = ANSWERS[kind]
    found = {}
    for path, engine in paths.items():
        tls_upstream.asked.clear()
        found[path] = exchange(tools, engine, tls_upstream, ACTS[acts_], "acts")
    assert found["native"] == found["mitmproxy"]
    assert found["native"]["got"][0]


@pytest.mark.parametrize("fault", ["acts", "held_acts", "event_acts"])
@pytest.mark.parametrize("acts_", [name for name in ACTS if name not in ("calm", "waits")])
def test_every_action_is_the_same_on_both_paths(
    tools: Any, paths: dict[str, Engine], tls_upstream: Any, fault: str, acts_: str
) -> None:
    # One write, so that both see the same pieces of the stream.
    tls_upstream.handlers["/"] = answer(SSE + b"".join(CHUNKS) + b"0\r\n\r\n")
    found = {}
    for path, engine in paths.items():
        tls_upstream.asked.clear()
        found[path] = exchange(tools, engine, tls_upstream, ACTS[acts_], fault)
    assert found["native"] == found["mitmproxy"]


def test_the_native_engine_served_all_of_it_itself(
    tools: Any, paths: dict[str, Engine], tls_upstream: Any
) -> None:
    tls_upstream.answer("/", b"{}")
    before = paths["native"].stats()["native"]
    exchange(tools, paths["native"], tls_upstream, {}, "acts")
    assert paths["native"].stats()["native"] == before + 1
    assert paths["mitmproxy"].stats()["native"] == 0
    assert paths["native"].stats()["native_streams"] == 0, "its sockets are read without a task"


def test_a_client_that_speaks_only_http_2_is_declined_and_counted(
    tools: Any, paths: dict[str, Engine], tls_upstream: Any
) -> None:
    engine = paths["native"]
    before = engine.stats()
    handle = engine.open_session(tools.fresh("h2"), tools.CALM, 1)
    target = f"127.0.0.1:{tls_upstream.port}"  # a host on which clients have given up is none for other tests
    with tools.Client(engine, target, tls=True, alpn=["h2"], session=handle) as client:
        assert client.sock.selected_alpn_protocol() == "h2"
    after = engine.stats()
    assert after["native"] == before["native"]
    assert after["native_declined"].get("tls", 0) == before["native_declined"].get("tls", 0) + 1


def other_context(test_ca: Any, key: Any, *, names: bool, expired: bool = False) -> ssl.SSLContext:
    """A server with this key, whose certificate names `localhost` as usual, or in the subject alone."""
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]))
        .issuer_name(test_ca.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=-1 if expired else 1))
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
    path = test_ca.folder / f"other{x509.random_serial_number()}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    made = builder.sign(test_ca.key, hashes.SHA256())
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


@pytest.mark.parametrize("case", ["p521", "common name", "expired", "cbc"])
def test_what_rustls_refuses_is_what_openssl_says_of_it(
    tools: Any, paths: dict[str, Engine], test_ca: Any, case: str
) -> None:
    key = ec.generate_private_key(ec.SECP521R1() if case == "p521" else ec.SECP256R1())
    context = other_context(test_ca, key, names=case != "common name", expired=case == "expired")
    if case == "cbc":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ECDHE-ECDSA-AES128-SHA256")
    server = tools.Upstream(context)
    server.answer("/", b"{}")
    try:
        asked_before = paths["native"].stats()["native_openssl"]
        found = {path: exchange(tools, engine, server, {}, "acts") for path, engine in paths.items()}
        asked = paths["native"].stats()["native_openssl"] - asked_before
    finally:
        server.close()
    for one in found.values():
        del one["asked"]
    assert found["native"] == found["mitmproxy"]
    assert found["native"]["got"][0].startswith(
        b"HTTP/1.1 200" if case in ("p521", "cbc") else b"HTTP/1.1 502"
    )
    assert asked == 1


def test_a_body_that_ends_without_the_end_of_its_tls_is_cut_off(
    tools: Any, paths: dict[str, Engine], tls_upstream: Any
) -> None:
    """The one answer that differs: mitmproxy takes the end of the connection for that of the body."""

    def closes(asked: Any, connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nall?")
        socket.socket.shutdown(connection, socket.SHUT_RDWR)

    tls_upstream.handlers["/"] = closes
    found = {path: exchange(tools, engine, tls_upstream, {}, "acts") for path, engine in paths.items()}
    assert {path: one["ending"] for path, one in found.items()} == {
        "mitmproxy": "complete",
        "native": "upstream_aborted",
    }
