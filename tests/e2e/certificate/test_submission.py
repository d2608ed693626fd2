"""What goes to a witness over HTTP, and answers that are too long or none.

Modules: `faultwire.certificate.submission`.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed import OURS, entry, log

from faultwire.certificate.cosignature import WitnessKey, cosign
from faultwire.certificate.submission import WitnessAddress, WitnessError, cosignature, token_in
from faultwire.tape.evidence.signed_note import SignerKey

SEED = SignerKey("w1", b"\x0e" * 32)
KEY = WitnessKey.of(SEED)
Asked = list[tuple[str, str, str]]


@contextmanager
def answering(status: int, text: str) -> Iterator[tuple[str, Asked]]:
    """A server that answers everything with this, and what it was asked: path, body and bearer."""
    asked: Asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            asked.append((self.path, body, self.headers.get("authorization", "")))
            self.send_response(status)
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join(30)
        server.server_close()


def test_the_request_and_its_token_are_as_the_witness_wants_them(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("open-sesame-open-sesame\n")
    token.chmod(0o600)
    with log(tmp_path / "log") as made:
        made.append(entry(0))
        line = cosign(SEED, made.text, 1)
        with answering(200, line.replace("—", "?")) as (url, asked):
            for address in (f"{url}/prefix/", url):
                secret = token_in(token) if address != url else None
                with pytest.raises(WitnessError):
                    cosignature(made, WitnessAddress.checked(address, KEY, secret))
    (path, body, bearer), (root, _, none) = asked
    assert (path, bearer) == ("/prefix/add-checkpoint", "Bearer open-sesame-open-sesame")
    assert (root, none) == ("/add-checkpoint", "")
    assert body == f"old 0\n\n{OURS.sign(made.text)}"


def test_a_longer_answer_and_one_that_leads_elsewhere_are_refused(tmp_path: Path) -> None:
    with log(tmp_path) as made:
        made.append(entry(0))
        with (
            answering(200, "x" * 70_000) as (url, _),
            pytest.raises(WitnessError, match="more than 65536"),
        ):
            cosignature(made, WitnessAddress(url, KEY))
        with answering(307, "") as (url, asked), pytest.raises(WitnessError, match=r"\(307\)"):
            cosignature(made, WitnessAddress(url, KEY))
    assert [path for path, *_ in asked] == ["/add-checkpoint"]


def test_an_unreachable_witness_is_called_so(tmp_path: Path) -> None:
    with socket.socket() as closed, log(tmp_path) as made:
        closed.bind(("127.0.0.1", 0))
        made.append(entry(0))
        with pytest.raises(WitnessError, match="does not answer: ConnectError") as caught:
            cosignature(made, WitnessAddress(f"http://127.0.0.1:{closed.getsockname()[1]}", KEY))
    assert caught.value.code == "witness.unreachable"
    assert caught.value.hint is not None
    assert "nothing was issued" in caught.value.hint
