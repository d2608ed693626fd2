"""Sessions that share a process which uses no proxy: its base URL is shared, its calls say whose they are."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

from tests.e2e.run_agents.conftest import CALM, asked, bench, scenario

BROKEN = scenario("broken", "  - status: {code: 400}\n    on: {kind: llm}\n")


def call(base: str, text: str, baggage: str | None) -> int:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    request = urllib.request.Request(
        f"{base}/chat/completions", body, {"content-type": "application/json", "authorization": "Bearer k"}
    )
    if baggage:
        request.add_header("baggage", baggage)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_one_base_url_for_several_sessions(tmp_path: Path) -> None:
    with bench(tmp_path, base_urls=True) as world:
        base = world.run.share("server")["OPENAI_BASE_URL"]
        calm = world.run.open_session("calm", CALM.profile, 7)
        broken = world.run.open_session("broken", BROKEN.profile, 7)
        assert calm["OPENAI_BASE_URL"] == broken["OPENAI_BASE_URL"] == base
        told = [call(base, "calm-mark", calm["BAGGAGE"]), call(base, "broken-mark", broken["BAGGAGE"])]
        nobody = call(base, "nobodys-mark", None)
        voids = [tuple(world.run.close_session(name).voids) for name in ("calm", "broken")]
        bodies = [asked(world.run.history(name)) for name in ("calm", "broken")]
    assert told == [200, 400]
    assert nobody == 403
    assert ["calm-mark" in bodies[0][0], "broken-mark" in bodies[1][0]] == [True, True]
    assert [len(found) for found in bodies] == [1, 1]
    assert all("did not propagate" in why[0] for why in voids)
