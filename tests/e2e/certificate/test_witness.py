"""`faultwire witness` in a process of its own, killed again and again between two histories of a log."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.unit.certificate.witnessed_log import LOG, request

COMMAND = [sys.executable, "-m", "faultwire", "witness", "--log", str(LOG.verifier), "--format", "json"]


@contextmanager
def witness(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(COMMAND, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        yield process, json.loads(text)["url"]
    finally:
        process.kill()
        process.wait(timeout=30)
        process.stdout.close()


def post(url: str, body: str) -> tuple[int, str]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request("POST", "/add-checkpoint", body.encode())
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def answered(url: str, body: str) -> tuple[int, str]:
    """As `post`; 0 where the witness was killed before it answered."""
    try:
        return post(url, body)
    except (OSError, http.client.HTTPException):
        return 0, ""


def test_a_killed_witness_never_cosigns_two_trees_of_one_size(tmp_path: Path) -> None:
    cosigned: dict[int, str] = {}
    known = 0
    for _ in range(4):
        with witness(tmp_path) as (process, url), ThreadPoolExecutor(8) as pool:
            status, text = post(url, request(0, 500, "none"))
            if known:
                assert status == 409
                assert int(text) >= max(cosigned), "it has forgotten what it cosigned"
                known = int(text)
            else:
                assert status == 200
                cosigned[500] = "none"
                known = 500
            asked = {
                pool.submit(answered, url, request(known, known + step, history)): (known + step, history)
                for step in (1, 2, 3, 4)
                for history in ("none", "fork")
            }
            wait(asked, return_when=FIRST_COMPLETED)
            process.kill()
            for future, (size, history) in asked.items():
                if future.result()[0] == 200:
                    assert cosigned.setdefault(size, history) == history
    assert set(cosigned.values()) == {"none"}


def test_pages_are_refused(tmp_path: Path) -> None:
    with witness(tmp_path) as (_, url):
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        connection.request("POST", "/add-checkpoint", b"x", {"Origin": "http://a.page"})
        assert connection.getresponse().status == 403
        connection.close()
