"""What a fork is about to do, before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli._forked import Plan, forked
from faultwire.cli.options import Traffic
from faultwire.errors import UsageError
from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter


def traffic(tape: Path, *faults: str) -> Traffic:
    about: dict[str, Any] = {"profile": (), "seed": 1, "record": None, "mock": False, "script": None}
    more: dict[str, Any] = {"listen": "127.0.0.1:0", "capture": "env", "reverse": (), "allow_host": ()}
    return Traffic(**about, **more, fault=faults, upstream_ca=None, replay=str(tape))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """Two sessions: a call of a model in `one`, a plain GET in the oddly named other."""
    writer = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={}, key=b"k" * 32)
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    for name, request in (
        ("one", Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)),
        ("odd name", Request("GET", "https", "x.com", 443, "/", (), b"")),
    ):
        writer.open_session(name, profile="", profile_digest="", seed=1, agent="")
        recording = writer.record(Exchange(name, 1, request))
        recording.request(request)
        recording.upstream_head(Response(200, "", (("content-type", "application/json"),)))
        recording.upstream_chunk(b'{"a":1}')
        recording.end("complete")
        writer.close_session(name)
    writer.close()
    return tmp_path / "t.tape"


def plan(tape: Path, at: str, *faults: str, sets: tuple[str, ...] = (), drop: bool = False) -> Plan:
    return forked(traffic(tape, *faults), at, response=None, sets=sets, drop=drop, tail="tape")


def test_an_exchange_is_named_with_its_session_where_there_are_several(tape: Path) -> None:
    found = plan(tape, "odd name#1", sets=("$.a=2",))
    assert (found.session, found.at, found.name) == ("odd name", 1, "exec")
    fork = found.replay.fork
    assert fork is not None
    assert fork.answer is not None
    assert fork.answer.body == b'{"a":2}'
    assert fork.lineage["fork"]["at"] == "odd name#1"  # type: ignore[index]
    assert plan(tape, "one#1", drop=True).name == "one"
    for at, word in (("1", "found 2 sessions"), ("two#1", "found session `two`"), ("one#0", "from 1")):
        with pytest.raises(UsageError, match=word):
            plan(tape, at, drop=True)


def test_a_fault_acts_on_whatever_the_exchange_is(tape: Path) -> None:
    """Entries that say nothing of where they act are about models and tools; a fork says where."""
    other = plan(tape, "odd name#1", "status: {code: 503}")
    assert other.profile.entries[0].on.method == "GET"
    model = plan(tape, "one#1", "status: {code: 503}")
    assert model.profile.entries[0].on.method is None
    assert model.replay.fork is not None
    assert (model.replay.fork.fault, model.replay.fork.answer) == (True, None)


def test_what_is_started_for_it(tape: Path) -> None:
    for tail, mock in (("tape", False), ("live", False), ("mock", True)):
        found = forked(traffic(tape), "one#1", response=None, sets=(), drop=True, tail=tail)  # type: ignore[arg-type]
        launched = found.launch(program="x")
        assert launched.mock is mock
        assert launched.replay is found.replay
        assert launched.about["fork"] == "one#1"


def test_mock_is_a_tail_and_no_other_one_goes_with_it() -> None:
    done = CliRunner().invoke(
        main, ["fork", "t", "--at", "1", "--drop", "--mock", "--tail", "tape", "--", "x"]
    )
    assert done.exit_code == 2
    assert "fork.tail: found `--mock` with `--tail tape`, expected one of them" in done.stderr
    done = CliRunner().invoke(main, ["fork", "t", "--at", "1", "--drop", "--mock", "--", "x"])
    assert "tape.not_found" in done.stderr
