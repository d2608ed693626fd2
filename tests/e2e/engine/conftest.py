"""An upstream in the test process, an engine in its own, and clients on raw sockets."""

from __future__ import annotations

import base64
import contextlib
import datetime
import ipaddress
import itertools
import json
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests import interpreter

from faultwire.events import Recorded
from faultwire.mitm.engine.client import Engine, SessionHandle
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.tape.read.reader import TapeReader

TIMEOUT_S = 20
"""No wait in these tests is longer; reaching it is a failure."""


@dataclass
class Asked:
    """A request as the upstream got it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


Handler = Callable[[Asked, socket.socket], None]


class Upstream:
    """A plain HTTP/1.1 server whose answers are written byte by byte by the test."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.handlers: dict[str, Handler] = {}
        self.asked: list[Asked] = []
        self.gone = threading.Event()
        upstream = self

        class Serve(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                connection = self.request
                if context is not None:
                    try:
                        connection = context.wrap_socket(connection, server_side=True)
                    except (ssl.SSLError, OSError):
                        return
                with contextlib.suppress(OSError, ValueError):  # a request that is cut short ends it
                    upstream._serve(connection)
                with contextlib.suppress(OSError):
                    connection.close()
                upstream.gone.set()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

        self._server = Server(("127.0.0.1", 0), Serve)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def _serve(self, connection: socket.socket) -> None:
        file = connection.makefile("rb")
        while line := file.readline():
            method, path, _ = line.decode().split(" ", 2)
            headers = []
            while (raw := file.readline()) not in (b"\r\n", b""):
                name, _, value = raw.decode("latin-1").partition(":")
                headers.append((name, value.strip()))
            asked = Asked(method, path, headers, b"")
            if length := asked.header("content-length"):
                asked.body = file.read(int(length))
            elif asked.header("transfer-encoding") == "chunked":
                pieces = []
                while size := int(file.readline(), 16):
                    pieces.append(file.read(size))
                    file.readline()
                file.readline()
                asked.body = b"".join(pieces)
            self.asked.append(asked)
            self.handlers[path.partition("?")[0]](asked, connection)

    def answer(self, path: str, body: bytes, content_type: str = "application/json") -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n"
        self.handlers[path] = lambda asked, connection: connection.sendall(head.encode() + body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def sse_head() -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass
class TestCa:
    """A CA of the test's own, for upstream servers."""

    pem: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    folder: Path
    made: int = field(default=0)

    def server_context(self, *names: str, expired: bool = False) -> ssl.SSLContext:
        now = datetime.datetime.now(datetime.UTC)
        key = ec.generate_private_key(ec.SECP256R1())
        sans: list[x509.GeneralName] = []
        for name in names:
            try:
                sans.append(x509.IPAddress(ipaddress.ip_address(name)))
            except ValueError:
                sans.append(x509.DNSName(name))
        end = now - datetime.timedelta(days=1) if expired else now + datetime.timedelta(days=1)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])]))
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=2))
            .not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName(sans), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        self.made += 1
        path = self.folder / f"server{self.made}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        context.set_alpn_protocols(["http/1.1"])
        return context


@pytest.fixture(scope="session")
def test_ca(tmp_path_factory: pytest.TempPathFactory) -> TestCa:
    folder = tmp_path_factory.mktemp("ca")
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "ca.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return TestCa(pem, key, certificate, folder)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


@pytest.fixture
def tls_upstream(test_ca: TestCa) -> Iterator[Upstream]:
    server = Upstream(test_ca.server_context("localhost", "127.0.0.1"))
    yield server
    server.close()


def profile(*entries: dict[str, Any], name: str = "test") -> dict[str, Any]:
    """A profile as JSON; an entry is `{"fault": {"name": …, "settings": …}, …}`."""
    numbered = [{"id": f"{entry['fault']['name']}#{n}", **entry} for n, entry in enumerate(entries)]
    return {"name": name, "entries": numbered}


CALM = profile(name="calm")


def settings_in(folder: Path, test_ca: TestCa) -> EngineSettings:
    run_dir = folder / "run"
    run_dir.mkdir()
    return EngineSettings(
        run_dir=run_dir,
        ca_dir=folder / ".faultwire" / "ca",
        tape=run_dir / "run.tape",
        upstream_ca=test_ca.pem,
        allow_hosts=("127.0.0.1", "localhost"),
        implicit=SessionSettings(name="implicit", profile=CALM, seed=1),
    )


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory, test_ca: TestCa, acts: str) -> Iterator[Engine]:
    """One for all tests that do not stop it; each opens sessions of its own."""
    settings = settings_in(tmp_path_factory.mktemp("engine"), test_ca)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", acts)
        started = Engine.start(settings)
    with started as running:
        yield running
        check_path(running.stats(), native=settings.native)


NATIVE_NEEDS_NOT = frozenset(("tls", "hello", "distrust", "flaw", "http2", "nested", "client_certificate"))
"""Reasons for which a client's connection may leave the native path. The others are of the engine: with one
of them a test would pass that has not tried the native path."""


def check_path(stats: dict[str, Any], *, native: bool) -> None:
    """The tests of an engine took the path that its settings say (`FAULTWIRE_NATIVE`)."""
    served = stats["native"] + stats["native_plain"] + stats["native_base_url"]
    assert (stats["native_path"] == "transports") is native
    assert set(stats["native_declined"]) <= NATIVE_NEEDS_NOT
    assert bool(served or stats["native_declined"]) is (native and stats["exchanges"] > 0)


@pytest.fixture
def settings(tmp_path: Path, test_ca: TestCa) -> EngineSettings:
    """For an engine that a test starts itself."""
    return settings_in(tmp_path, test_ca)


_NUMBERS = itertools.count(1)


def fresh(word: str = "s") -> str:
    """A session name that is on no tape yet."""
    return f"{word}{next(_NUMBERS)}"


def recorded(engine: Engine, name: str) -> Recorded:
    """The only exchange of a closed session, from the tape of the engine."""
    with TapeReader.open(engine.control.parent / "run.tape") as tape:
        (exchange,) = tape.history(name).exchanges
    return exchange


# ---------------------------------------------------------------- a fault that does as it is told


ACTS = '''
from faultwire.events import Cut, Reset, Response, Send, Wait
from faultwire.faults._api import Fault, Mutator, Need


def action(text):
    word, _, value = text.partition(":")
    return {
        "send": lambda: Send(value.encode()),
        "wait": lambda: Wait(float(value) if value else None),
        "cut": lambda: Cut(clean=False),
        "end": lambda: Cut(clean=True),
        "reset": lambda: Reset(),
        "raise": lambda: 1 / 0,
    }[word]()


class Acts(Fault):
    """Acts.

    What it does:
        Performs the actions that a test names.

    Why agents break:
        They do not.

    Real-world source:
        None.

    Example:
        acts: {before: ["wait:1"]}
    """

    name = "acts"
    site = "stream"
    needs = Need.REQUEST
    before: tuple[str, ...] = ()
    chunks: dict[int, tuple[str, ...]] = {}
    finish: tuple[str, ...] = ()
    say: str | None = None
    raise_in: str | None = None

    def start(self, exchange, dice):
        if self.raise_in == "start":
            raise RuntimeError("told to")
        return Acting(self)


class HeldActs(Acts):
    __doc__ = Acts.__doc__
    name = "held_acts"
    site = "response"
    needs = Need.REQUEST | Need.BODY


class EventActs(Acts):
    __doc__ = Acts.__doc__
    name = "event_acts"
    needs = Need.REQUEST | Need.EVENTS


class Acting(Mutator):
    def __init__(self, told):
        self.told = told
        self.seen = 0
        self.effect = "acted"

    def before(self):
        return [action(text) for text in self.told.before]

    def answer(self):
        if self.told.say is None:
            return None
        return Response(418, "", (("x-said", "yes"),), self.told.say.encode())

    def head(self, response):
        if self.told.raise_in == "head":
            raise RuntimeError("told to")
        return response

    def feed(self, chunk):
        if self.told.raise_in == "feed":
            raise RuntimeError("told to")
        told = self.told.chunks.get(self.seen)
        self.seen += 1
        if told is None:
            yield Send(chunk.data)
        for text in told or ():
            yield Send(chunk.data) if text == "pass" else action(text)

    def finish(self):
        return [action(text) for text in self.told.finish]
'''


PACKAGE = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "engine-test-faults"
version = "1.0"

[tool.setuptools]
py-modules = ["engine_test_faults"]

[project.entry-points."faultwire.faults"]
"""


@pytest.fixture(scope="session")
def acts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An interpreter that has an installed package with the faults above, which this process finds too."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("plugin")
    (source / "engine_test_faults.py").write_text(ACTS)
    lines = [f'{name} = "engine_test_faults:{kind}"' for name, kind in KINDS.items()]
    (source / "pyproject.toml").write_text(PACKAGE + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield str(interpreter.make(tmp_path_factory.mktemp("python"), [folder]))


@pytest.fixture(autouse=True)
def acting_interpreter(acts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts runs with that interpreter; other tests of the same worker keep theirs."""
    monkeypatch.setattr(sys, "executable", acts)


KINDS = {"acts": "Acts", "held_acts": "HeldActs", "event_acts": "EventActs"}


def acting(fault: str = "acts", **settings: Any) -> dict[str, Any]:
    """A profile of one such fault, on everything."""
    told = {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
    return profile({"fault": {"name": fault, "settings": told}, "on": {"path": "*"}})


# ---------------------------------------------------------------- clients


def basic(handle: SessionHandle) -> bytes:
    token = base64.b64encode(f"{handle.user}:{handle.token}".encode())
    return b"proxy-authorization: Basic " + token + b"\r\n"


class Client:
    """A connection through the proxy, plain or with TLS after CONNECT."""

    def __init__(
        self,
        engine: Engine,
        target: str,
        *,
        tls: bool = False,
        session: SessionHandle | None = None,
        port: int | None = None,
        connect: bool = True,
        alpn: list[str] | None = None,
    ) -> None:
        self.target = target
        self.raw = socket.create_connection(("127.0.0.1", port or engine.port), TIMEOUT_S)
        self.sock: socket.socket = self.raw
        self.connect_reply = b""
        if connect:
            auth = basic(session) if session else b""
            self.raw.sendall(
                b"CONNECT %s HTTP/1.1\r\nhost: %s\r\n%s\r\n" % (target.encode(), target.encode(), auth)
            )
            self.connect_reply = self.until(b"\r\n\r\n")
        if tls:
            context = ssl.create_default_context(cafile=str(engine.ca_pem))
            if alpn:
                context.set_alpn_protocols(alpn)
            self.sock = context.wrap_socket(self.raw, server_hostname=target.rpartition(":")[0])

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def get(self, path: str = "/", extra: bytes = b"") -> None:
        self.send(b"GET %s HTTP/1.1\r\nhost: %s\r\n%s\r\n" % (path.encode(), self.target.encode(), extra))

    def post(self, path: str, body: bytes, extra: bytes = b"") -> None:
        head = (
            b"POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n"
        )
        self.send(head % (path.encode(), self.target.encode(), len(body), extra) + body)

    def until(self, mark: bytes) -> bytes:
        data = b""
        while not data.endswith(mark):
            piece = self.sock.recv(1)
            if not piece:
                raise EOFError(data)
            data += piece
        return data

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.sock.recv(size - len(data))
            if not piece:
                raise EOFError(data)
            data += piece
        return data

    def response(self) -> tuple[int, dict[str, str], bytes]:
        """A whole response with its body unframed. Raises EOFError where it is cut off."""
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:-2]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int(self.until(b"\r\n"), 16):
                body += self.exactly(size)
                self.exactly(2)
            self.exactly(2)
        elif "content-length" in headers:
            body = self.exactly(int(headers["content-length"]))
        return int(lines[0].split(" ")[1]), headers, body

    def rest(self) -> bytes:
        """Everything up to the end of the connection. Raises ConnectionResetError on an RST."""
        data = b""
        while piece := self.sock.recv(65536):
            data += piece
        return data

    def close(self) -> None:
        self.sock.close()
        self.raw.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@pytest.fixture
def tools() -> Any:
    """Names that tests use, since a conftest cannot be imported in importlib mode."""

    class Tools:
        pass

    found = Tools()
    for name, value in globals().items():
        if not name.startswith("_"):
            setattr(found, name, value)
    return found


def error_of(body: bytes) -> dict[str, str]:
    """The proxy's own error in an answer."""
    return dict(json.loads(body)["error"])
