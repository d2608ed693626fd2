"""Events that are taken durably: `python -m tests.bench.ingest [--seconds 20] [--rate 1000]
[--batch 10] [--clients 8]`.

Clients send batches on kept connections at a fixed rate altogether, each session of ten batches with a
seal at its end. Printed: events a second, and how long an answer takes from the moment at which its batch was
due, so that a service that falls behind cannot hide it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.unit.ingestion.sdk_batches import sdk_batch

OF_SESSION = 10
"""Batches."""


def batches(client: int, size: int) -> list[bytes]:
    """Bodies of one session after the other; enough for a client's whole run."""
    made = []
    for session in range(100):
        before, number = "0" * 64, 1
        for at in range(OF_SESSION):
            told = [("LLM_CALL", {"model_id": "m", "prompt_hash": f"{n:064x}", "n": n}) for n in range(size)]
            told[0] = ("SESSION_START", {"agent_id": "a"}) if at == 0 else told[0]
            last = at == OF_SESSION - 1
            told[-1] = ("SESSION_END", {"status": "success"}) if last else told[-1]
            one = sdk_batch(f"c{client}-{session}", told, first=number, before=before, seal=last)
            before, number = one["events"][-1]["event_hash"], number + size
            made.append(json.dumps(one).encode())
    return made


def client(url: str, bodies: list[bytes], every_s: float, until: float, late: list[float]) -> None:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 0)
    due = time.perf_counter()
    for body in bodies:
        if due > until:
            break
        time.sleep(max(0.0, due - time.perf_counter()))
        connection.request("POST", "/v1/ingest", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise SystemExit(f"{answer.status}: {text[:300]!r}")
        late.append(time.perf_counter() - due)
        due += every_s
    connection.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--clients", type=int, default=8)
    wanted = parser.parse_args()
    program = str(Path(sys.executable).parent / "faultwire")
    work = [batches(number, wanted.batch) for number in range(wanted.clients)]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "ingest"]
        service = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert service.stdout is not None
        url = service.stdout.readline().strip()
        late: list[list[float]] = [[] for _ in work]
        every_s = wanted.batch * wanted.clients / wanted.rate
        began = time.perf_counter()
        threads = [
            threading.Thread(target=client, args=(url, bodies, every_s, began + wanted.seconds, found))
            for bodies, found in zip(work, late, strict=True)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        took = time.perf_counter() - began
        service.terminate()
        service.wait(30)
    every = sorted(one * 1000 for found in late for one in found)
    cuts = statistics.quantiles(every, n=100)
    print(f"{len(every) * wanted.batch / took:.0f} events/s in batches of {wanted.batch}")
    print(f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms (target 100), worst {every[-1]:.1f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
