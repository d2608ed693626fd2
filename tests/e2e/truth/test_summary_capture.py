"""What `exec` states of traffic that it could not read is true of clients of the real openai SDK."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_logs import RIVERS, Run, run

REFUSED = "  a client refused faultwire's certificate for `api.openai.com` (1 handshake)"
NO_TRAFFIC = "sent no traffic through the proxy"
ALL = (REFUSED, NO_TRAFFIC)
TRUE_OF = {
    "plain": (0, ()),
    "pinned": (3, (REFUSED,)),
    "also-pinned": (3, (REFUSED,)),
    "idle": (3, (NO_TRAFFIC,)),
}


def played(manner: str, work: Path) -> Run:
    return run(work, ["exec", "--script", "script.yaml"], "openai", manner, RIVERS)


@pytest.mark.nightly
@pytest.mark.parametrize("manner", TRUE_OF)
def test_what_could_not_be_read_is_stated_where_it_is_so(manner: str, tmp_path: Path) -> None:
    code, true = TRUE_OF[manner]
    done = played(manner, tmp_path)
    text = "\n".join(done.lines)
    assert done.code == code, text
    assert {words for words in ALL if words in text} == set(true), text
    refused = [one for one in done.did if one.get("error") == "APIConnectionError"]
    assert bool(refused) == (REFUSED in true)
    assert bool(done.sent) == (manner != "idle")
