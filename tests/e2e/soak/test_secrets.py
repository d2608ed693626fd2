"""A secret that passes through a recorded run is nowhere on the disk afterwards."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.bench import subjects
from tests.bench.rig import Rig

from faultwire.mitm.engine.client import Engine
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.blobs import unpack

SHAPED = {
    "openai": "sk-proj-Zq3vT8mKx1Rw5Yb7Nc2Hd9Lf4Pj6Gs0Aa8Ee",
    "anthropic": "sk-ant-api03-Wm5Qx8Zt2Vb7Nk1Rc4Yh9Jd6Lf3Pg0Sa",
    "aws": "AKIAQ7X2M9K4T6W8Z3VB",
    "github": "ghp_R4t8Wq2Zx6Vm1Nb5Kc9Yh3Jd7Lf0PgSaEe",
}
"""Keys that are known by their looks, wherever they stand."""
NAMED = "Vx7Qm2Zt9-Wn4Rb8Kc1-Yh6Jd3Lf5"
"""One that is only known by the name it has: of a header, a query parameter, a JSON key."""
MARKER = "harmless-marker-Tb6Xw1Qz8Vm3"
"""No secret, planted at the same places: that it is found shows that the search works."""
PIECE = 14
"""So many characters in a row of a secret count as the secret."""
PADDING = " ".join(f"word{n}" for n in range(1500))
"""Makes a body long enough to be stored compressed."""


def post(query: str, headers: dict[str, str], body: str) -> str:
    """A request as text."""
    given = {"Host": "localhost", "Content-Type": "application/json"} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    length = len(body.encode())
    return f"POST /v1/chat/completions?{query} HTTP/1.1\r\n{lines}Content-Length: {length}\r\n\r\n{body}"


def chat(text: str, **more: Any) -> str:
    return json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more})


def planted(named: str, shaped: str) -> list[str]:
    """Requests that carry a secret at each place; the upstream says back what it got."""
    plain = {"Authorization": f"Bearer {shaped}"}
    echo = "echo=1"
    requests = [
        post(echo, {name: named}, chat("hello"))
        for name in ("Authorization", "x-api-key", "api-key", "Cookie", "X-Goog-Api-Key")
    ]
    requests += [
        post(f"{echo}&{name}={named}", plain, chat("hello")) for name in ("key", "api_key", "access_token")
    ]
    requests += [post(f"{echo}&cookie=1", plain | {"x-api-key": named}, chat("hello"))]
    requests += [
        post(echo, plain, chat("hello", metadata={"api_key": named, "deep": [{"client_secret": named}]}))
    ]
    requests += [post(echo, plain, chat(f"my key is {shaped}, keep it"))]
    requests += [post(echo, plain, chat(f"{PADDING} {shaped} {PADDING}"))]
    requests += [
        post(f"{echo}&stream=1&cut={cut}", plain, chat(f"the stream says {shaped} and goes on"))
        for cut in (1, 2, 3, 5, 7, 11, 13, 17, 64)
    ]
    requests += [post(f"{echo}&stream=1&cut=5", plain, chat("hello", metadata={"password": named}))]
    return requests


def encodings(secret: str) -> dict[str, bytes]:
    """The secret as it may have been written, and every piece of it."""
    windows = {f"piece {at}": secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1)}
    whole = {
        "base64": base64.b64encode(secret.encode()).decode().rstrip("=")[:-2],
        "hex": secret.encode().hex(),
    }
    return {name: text.encode() for name, text in (windows | whole).items()}


def texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Everything below a folder, by name: raw files, and the cells of databases, unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name, data = str(path.relative_to(folder)), path.read_bytes()
            yield name, data
            if data.startswith(b"SQLite format 3"):
                yield from cells(path, name)


def cells(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        for seq, record in connection.execute("SELECT seq, record FROM events"):
            yield f"{name} event {seq}", record
        for digest, size, packed, data in connection.execute("SELECT digest, size, packed, data FROM blobs"):
            yield f"{name} blob {digest.hex()[:8]}", unpack(size, packed, data)


def found(folder: Path, secret: str) -> list[str]:
    """Where a secret is, in whatever form."""
    forms = encodings(secret)
    return [name for name, data in texts(folder) if any(form in data for form in forms.values())]


class Recorded:
    """A run through which everything was sent: its folder while the engine ran, and after it."""

    def __init__(self, rig: Rig) -> None:
        self.folder = rig.folder / "run"
        self.settings = subjects.settings(self.folder, rig.keys)
        requests = [request for shaped in SHAPED.values() for request in planted(NAMED, shaped)]
        requests += [*planted(MARKER, MARKER), post(f"echo=1&note={MARKER}", {}, chat("hello"))]
        with Engine.start(self.settings) as engine:
            subject = subjects.opened(engine, "secrets", subjects.ARMED, rig.port)
            job = subject.job(count=len(requests), connections=4, kinds=["raw"], raw=requests)
            self.outcome = rig.load.ask(job, seconds=120)
            engine.flush()
            self.token = base64.b64decode((subject.target.auth or "").split()[1]).decode().partition(":")[2]
            self.while_open = {secret: found(self.folder, secret) for secret in (*SHAPED.values(), NAMED)}
            self.marked_open = found(self.folder, MARKER)
            self.summary = engine.close_session("secrets")
        self.sent = len(requests)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    with Rig(tmp_path_factory.mktemp("secrets")) as rig:
        yield Recorded(rig)


def test_the_secrets_went_through(run: Recorded) -> None:
    """Nothing is proven by a secret that never arrived."""
    assert (run.outcome["failed"], run.outcome["done"], run.summary.voids) == (0, run.sent, ())
    bodies = "".join(answer["head"] + answer["body"] for answer in run.outcome["answers"])
    assert all(secret in bodies for secret in (*SHAPED.values(), NAMED, MARKER))
    assert run.settings.tape is not None
    report = verify(run.settings.tape, KeyRing(run.settings.ca_dir.parent / "keys").trusted())
    assert (report.findings, report.exchanges) == ([], run.sent)


@pytest.mark.parametrize("name", SHAPED)
def test_a_key_known_by_its_looks_is_nowhere(run: Recorded, name: str) -> None:
    assert run.while_open[SHAPED[name]] == []
    assert found(run.folder, SHAPED[name]) == []


def test_a_key_known_by_its_name_is_nowhere(run: Recorded) -> None:
    assert run.while_open[NAMED] == []
    assert found(run.folder, NAMED) == []


def test_the_session_token_is_nowhere(run: Recorded) -> None:
    assert found(run.folder, run.token) == []


def test_what_is_no_secret_is_found_at_the_same_places(run: Recorded) -> None:
    """The control: a search that finds nothing would find nothing here either."""
    places = found(run.folder, MARKER)
    assert [place for place in places if " event " in place]
    assert [place for place in places if " blob " in place]
    assert [place for place in run.marked_open if place.endswith("-wal")]


def test_a_secret_in_a_log_would_be_found(run: Recorded, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "engine.log").write_text(f"GET /?key={NAMED[:PIECE]}... {base64.b64encode(b'x')!r}")
    (tmp_path / "state.json").write_text(
        json.dumps({"a": base64.b64encode(SHAPED["openai"].encode()).decode()})
    )
    assert found(tmp_path, NAMED) == ["deep/engine.log"]
    assert found(tmp_path, SHAPED["openai"]) == ["state.json"]
