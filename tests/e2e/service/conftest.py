"""`faultwire serve` as its own process, and an OpenID provider."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.e2e.store.conftest import postgresql

__all__ = ["postgresql"]

FAULTWIRE = str(Path(sys.executable).parent / "faultwire")
Json = dict[str, Any]


def faultwire(folder: Path, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([FAULTWIRE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == expect, done.stderr
    return done


def token(folder: Path, store: str, role: str, project: str = "shop", days: str = "1") -> str:
    words = ("token", "add", role, "--store", store, "--project", project, "--role", role, "--days", days)
    return faultwire(folder, *words).stdout.strip()


class Service:
    """One that runs."""

    def __init__(self, process: subprocess.Popen[str], ready: Json, folder: Path) -> None:
        self.process, self.url, self.audit = process, str(ready["url"]), folder / ready["audit"]
        self.ready = ready

    def ask(
        self, method: str, path: str, token: str | None = None, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        """The status, and the JSON or text; a redirect's place."""
        place = urlsplit(self.url)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["authorization"] = f"Bearer {token}"
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)) as connection:
            connection.request(method, path, data, named)
            answer = connection.getresponse()
            text = answer.read().decode()
        if 300 <= answer.status < 400:
            return answer.status, answer.headers["location"]
        kind = answer.headers.get("content-type", "")
        return answer.status, json.loads(text) if text and kind.startswith("application/json") else text

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextmanager
def serving(folder: Path, store: str, *options: str) -> Iterator[Service]:
    command = [FAULTWIRE, "serve", "--store", store, "--format", "json", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Service(process, _ready(process.stdout), folder)
    finally:
        process.kill()
        process.wait(timeout=60)
        process.stdout.close()


def _ready(out: IO[str]) -> Json:
    text = ""
    for line in out:
        text += line
        if line.rstrip() == "}":
            break
    return dict(json.loads(text))


class Login:
    """An OpenID provider that lets in whoever it is told, after OpenID Connect Core 1.0."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(65537, 2048)
        self.claims: Json = {"groups": ["qa"], "email": "ann@x.example"}
        self.codes: dict[str, Json] = {}
        login = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                login.get(self)

            def do_POST(self) -> None:
                login.post(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def get(self, handler: Any) -> None:
        place = urlsplit(handler.path)
        if place.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(place.query).items()}
            code = f"code-{len(self.codes)}"
            self.codes[code] = query
            back = urlencode({"code": code, "state": query["state"]})
            handler.send_response(302)
            handler.send_header("location", f"{query['redirect_uri']}?{back}")
            handler.end_headers()
            return
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        about = {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
        }  # fmt: skip
        self.answer(handler, {"keys": [{**public, "kid": "k1"}]} if place.path == "/keys" else about)

    def post(self, handler: Any) -> None:
        from base64 import urlsafe_b64encode
        from hashlib import sha256

        form = parse_qs(handler.rfile.read(int(handler.headers["content-length"])).decode())
        query = self.codes.pop(form["code"][0])
        digest = sha256(form["code_verifier"][0].encode()).digest()
        assert urlsafe_b64encode(digest).rstrip(b"=").decode() == query["code_challenge"]
        self.answer(handler, {"id_token": self.signed(nonce=query["nonce"])})

    def answer(self, handler: Any, value: Json) -> None:
        data = json.dumps(value).encode()
        handler.send_response(200)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def signed(self, key: Any = None, **more: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "faultwire",
            "sub": "1",
            "iat": now,
            "exp": now + 300,
            **self.claims,
        }
        return jwt.encode({**claims, **more}, key or self.key, "RS256", {"kid": "k1"})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def login() -> Iterator[Login]:
    made = Login()
    yield made
    made.close()


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Json]]]:
    """A webhook's address, and what was posted to it."""
    seen: list[Json] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", seen
    server.shutdown()
    server.server_close()
