"""What a replayed answer costs next to one that was passed on: `python -m tests.bench.replay [REQUESTS]`.

One client asks different things over one connection, whole answers and streams. Counted is the engine's own
CPU time: passing on from the mock and recording, against answering from that tape and recording. Rounds of
both take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import statistics
import sys
import tempfile
import urllib.parse
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faultwire.profile.model import Profile
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.launch import LaunchSettings, start_run

ROUNDS = 5
CALM = Profile(name="calm")
KEY = "Bearer sk-test-0123456789abcdef0123456789"


def ask(environment: Mapping[str, str], count: int, stream: bool) -> None:
    proxy = urllib.parse.urlsplit(environment["HTTPS_PROXY"])
    context = ssl.create_default_context(cafile=environment["SSL_CERT_FILE"])
    connection = http.client.HTTPSConnection(proxy.hostname or "", proxy.port, context=context, timeout=60)
    user = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    connection.set_tunnel("api.openai.com", 443, {"Proxy-Authorization": f"Basic {user}"})
    headers = {"content-type": "application/json", "authorization": KEY}
    for number in range(count):
        messages = [{"role": "user", "content": f"question {number} about rivers, lakes and seas"}]
        body = json.dumps({"model": "gpt-4o-mini", "stream": stream, "messages": messages})
        connection.request("POST", "/v1/chat/completions", body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
    connection.close()


def measured(settings: LaunchSettings, count: int, *, stream: bool) -> float:
    """CPU microseconds of the engine per request, its start and the opening of the session apart."""
    with start_run(settings) as run:
        environment = run.open_session("bench", CALM, 1)
        ask(environment, 20, stream)
        run.engine.flush()
        before = run.engine.stats()["cpu_s"]
        ask(environment, count, stream)
        run.engine.flush()
        used = run.engine.stats()["cpu_s"] - before
        run.close_session("bench")
        run.folder.end("finished")
    return 1e6 * float(used) / count


def compared(count: int, *, stream: bool) -> dict[str, Any]:
    """Median microseconds of both, and how many requests per CPU-second replay serves for each passed on."""
    passed, replayed = [], []
    for round_ in range(ROUNDS):
        tape = Path(f"bench-{int(stream)}-{round_}.tape").absolute()
        passed.append(measured(LaunchSettings("bench", tape=tape, mock=True), count, stream=stream))
        # `reuse`: the requests that warm up come again.
        settings = ReplaySettings(tape=tape, reuse=True)
        replayed.append(measured(LaunchSettings("bench", replay=settings), count, stream=stream))
    ratios = [one / other for one, other in zip(passed, replayed, strict=True)]
    return {
        "passed on, us": round(statistics.median(passed)),
        "replayed, us": round(statistics.median(replayed)),
        "ratio": round(statistics.median(ratios), 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
    }


def main() -> None:
    """Print both comparisons as JSON."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    for variable in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = {name: compared(count, stream=name == "stream") for name in ("whole", "stream")}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
