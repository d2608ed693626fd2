"""Starts an agent behind a replay, sends it what its callers asked on the tape, and compares its answers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire.errors import UsageError
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.cli.options import Traffic
    from faultwire.events import Recorded
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run
    from faultwire.tape.redact.redactor import Redactor

SERVER_LOG = "agent.log"
NO_ANSWER = "no answer"
ANSWERED = "an answer"


def drive(
    command: Sequence[str], traffic: Traffic, at: str, *, session: str | None, timeout_s: float, quiet: bool
) -> int:
    """The exit code: 0 where every answer is the recorded one and no call of the agent's diverged, else 1.

    Raises UsageError where the tape asks nothing of the agent, AgentError where it does not start, and
    FaultError where ours failed."""
    from faultwire.agents.server import Server
    from faultwire.capture import child
    from faultwire.cli import _inconclusive
    from faultwire.cli.output import say
    from faultwire.cli.replay_options import print_replay
    from faultwire.runner.launch import start_run
    from faultwire.tape.redact.redactor import Redactor, load_key
    from faultwire.tape.redact.rules import read_rules

    profile = traffic.load()
    settings = traffic.launch("replay", profile=profile, program=command[0])
    asked = _asked(traffic, profile, session)
    child.find(command, os.environ)
    name = asked[0].session
    with start_run(settings) as run:
        environment = run.open_session(name, profile, traffic.seed)
        key = load_key(run.folder.path.parent.parent / "keys" / "redaction.key")
        redactor = Redactor(key, read_rules(traffic.redacts()))
        log = run.folder.path / SERVER_LOG
        with Server(command, environment, at, log, timeout_s=timeout_s):
            found = list(_answers(asked, at, redactor, timeout_s))
        closed = run.close_session(name)
        if closed.voids:
            raise _inconclusive.error(run, closed, command)
        different = [one for one in found if not one["same"]]
        _written(run, traffic.live_agent or "", found)
        if not quiet or different:
            for line in lines(traffic.live_agent or "", found):
                say(line)
        diverged = print_replay(run, closed, quiet=quiet)
        run.folder.end("finished", exit_code=int(bool(different) or diverged))
    return int(bool(different) or diverged)


def _asked(traffic: Traffic, profile: Profile, session: str | None) -> list[Recorded]:
    from faultwire.replay.driven import requests_to
    from faultwire.replay.reader import open_tape
    from faultwire.tape.files.find import find

    name = traffic.live_agent or ""
    with open_tape(find(traffic.replay or ""), unverified=traffic.unverified) as tape:
        found = requests_to(name, profile.agents, tape.exchanges(session))
    if not found:
        raise UsageError(
            f"found no request to `{name}` on `{traffic.replay}`, expected one",
            code="usage.live_agent",
            hint="agents: {NAME: {url: …}} in a profile says where it is reached; "
            "`faultwire tape show TAPE --topology --profile FILE` prints who called whom",
        )
    return [one for one in found if one.session == found[0].session]


def _answers(
    asked: Sequence[Recorded], at: str, redactor: Redactor, timeout_s: float
) -> Iterator[dict[str, Any]]:
    """Each request with what came of it, one after another as they were recorded."""
    from faultwire.agents._dial import Dialler, NoReply
    from faultwire.agents._request import call, pieces
    from faultwire.replay.driven import Caller, as_json
    from faultwire.replay.explain_miss import Difference

    caller, dialler, where = Caller(), Dialler(), urlsplit(at)
    for one in asked:
        request = caller.request(one)
        path, _, query = request.path.partition("?")
        url = where._replace(path=path, query=query, fragment="")
        sent = replace(call(request.method, url, headers=request.headers, body=request.body or b""))
        try:
            reply = dialler.ask(sent, pieces(sent), timeout_s=timeout_s)
        except NoReply as error:
            yield as_json(one, (Difference("status", ANSWERED, f"{NO_ANSWER}: {error.why}"),))
            continue
        text = redactor.error(reply.body.decode("utf-8", "replace"), {})
        yield as_json(one, caller.compare(one, reply.status, text.encode()))


def lines(name: str, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What came of the requests, for a terminal."""
    different = sum(not one["same"] for one in found)
    word = f"{different} answered otherwise" if different else "all answered as recorded"
    yield f"driven     {counted(len(found), 'recorded request')} to `{safe(name)}`: {word}"
    for one in found:
        if one["same"]:
            continue
        yield safe(f"  {one['session']}#{one['number']} {one['request']}")
        for place in one["differences"]:
            yield safe(f"    {place['path']}")
            yield safe(f"      - {place['recorded']}")
            yield safe(f"      + {place['answered']}")


def _written(run: Run, name: str, found: Sequence[Mapping[str, Any]]) -> None:
    document = {"schema_version": "1", "agent": name, "requests": list(found)}
    run.folder.write("driven.json", json.dumps(document, indent=2) + "\n")
