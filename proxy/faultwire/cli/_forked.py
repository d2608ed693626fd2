"""Plans a `faultwire fork` and validates it before anything is started."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.cli.options import Traffic
    from faultwire.events import History, Recorded, ResponseView
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import GivenAnswer, ReplaySettings, Tail
    from faultwire.runner.launch import LaunchSettings
    from faultwire.tape.read.reader import TapeReader


@dataclass(frozen=True, slots=True)
class Plan:
    """A fork: the tape, the exchange, the change, and what to start."""

    tape: Path
    session: str
    at: int
    how: str
    profile: Profile
    replay: ReplaySettings
    traffic: Traffic

    @property
    def name(self) -> str:
        """The session's name on the branch: the original name if it is valid."""
        odd = any(
            not (letter.isascii() and (letter.isalnum() or letter in "._#@:/+-")) for letter in self.session
        )
        return "exec" if odd or not 0 < len(self.session) <= 128 else self.session

    def launch(self, **about: Any) -> LaunchSettings:
        """What to start."""
        fork = self.replay.fork
        assert fork is not None
        traffic = replace(self.traffic, replay=None, mock=fork.tail == "mock")
        started = traffic.launch("fork", profile=self.profile, fork=f"{self.session}#{self.at}", **about)
        return replace(started, replay=self.replay)


def forked(
    traffic: Traffic,
    at: str,
    *,
    response: Path | None,
    sets: tuple[str, ...],
    drop: bool,
    tail: Tail,
) -> Plan:
    """Read the tape and plan the change. Raises UsageError, ProfileError, TapeError."""
    from faultwire.cli.replay_options import replay_settings
    from faultwire.errors import UsageError
    from faultwire.replay.lineage import lineage
    from faultwire.replay.reader import open_tape
    from faultwire.replay.settings import ForkSettings

    ways = [
        name
        for name, value in (
            ("--response", response is not None),
            ("--set", bool(sets)),
            ("--fault", bool(traffic.fault)),
            ("--drop", drop),
        )
        if value
    ]
    if len(ways) != 1:
        raise UsageError(
            f"found {' and '.join(f'`{way}`' for way in ways) or 'no change'}, "
            "expected one of `--response`, `--set`, `--fault` and `--drop`",
            code="fork.change",
        )
    if tail == "tape" and traffic.script is not None:
        raise UsageError("found `--tail tape` with `--script`, expected one of them", code="fork.tail")
    settings = replay_settings(traffic)
    assert settings is not None
    with open_tape(settings.tape, unverified=settings.unverified) as reader:
        session, number = _place(reader, at)
        recorded = reader.detail(session, number).recorded
        profile = _profile(traffic, recorded)
        answer, change = _change(recorded, response, sets, profile)
    fork = ForkSettings(
        session=session,
        at=number,
        tail=tail,
        answer=answer,
        drop=drop,
        fault=bool(traffic.fault),
        lineage=lineage(settings.tape, session, number, tail=tail, change=change),
    )
    how = ", ".join(change)
    return Plan(
        settings.tape,
        session,
        number,
        how,
        profile,
        settings.model_copy(update={"fork": fork}),
        traffic,
    )


def not_forked(plan: Plan, history: History, closed: SessionSummary) -> bool:
    """Did the forked exchange happen without its fault firing? Reports that on stderr."""
    from faultwire.cli.output import say

    number = closed.replay["fork"]["reached"] if closed.replay else None
    if number is None or not plan.profile.entries or closed.fired:
        return False
    lines = [line for one in history.exchanges if one.number == number for line in one.faults]
    why = "; ".join(line.reason for line in lines) or "it matches no such exchange"
    say(f"  the fault did not act: {why}")
    return True


def _place(reader: TapeReader, at: str) -> tuple[str, int]:
    """`N` or `SESSION#N`. Raises UsageError where the tape has no such exchange."""
    from faultwire.errors import UsageError

    name, mark, digits = at.rpartition("#")
    sessions = {info.name: info.exchanges for info in reader.sessions()}
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise UsageError(f"found `--at {at}`, expected the number of an exchange, from 1", code="fork.at")
    if not mark and len(sessions) == 1:
        name = next(iter(sessions))
    if name not in sessions:
        what = f"session `{name}`" if mark else f"{counted(len(sessions), 'session')}"
        raise UsageError(
            f"found {what}, expected `--at SESSION#{digits}` with one of the tape's",
            code="fork.at",
            hint=f"sessions: {', '.join(list(sessions)[:10])}",
        )
    numbers = [recorded.number for recorded in reader.exchanges(name)]
    if int(digits) not in numbers:
        raise UsageError(
            f"found `--at {at}`, expected one of the {counted(len(numbers), 'exchange')} of session `{name}`",
            code="fork.at",
            hint=f"`faultwire tape show {reader.path} --session {name}` lists them",
        )
    return name, int(digits)


def _profile(traffic: Traffic, recorded: Recorded) -> Profile:
    """The faults as a profile that can act on this exchange. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.exchange.tunnel import divide
    from faultwire.profile.entry_model import On
    from faultwire.profile.model import Profile

    profile = traffic.load()
    if not divide(profile).idle:
        raise UsageError(
            "found a fault that acts on connections, where there is no exchange yet",
            code="fork.fault",
            hint="`close: {}` and `reset: {}` end the connection of one exchange",
        )
    if recorded.kind != "other":
        return profile
    here = On(method=recorded.request.method)
    entries = [one.model_copy(update={"on": here}) if one.on == On() else one for one in profile.entries]
    # Made anew: a copy would keep what the original has worked out about its entries.
    fields = {name: getattr(profile, name) for name in Profile.model_fields}
    return Profile(**{**fields, "entries": tuple(entries)})


def _change(
    recorded: Recorded, response: Path | None, sets: tuple[str, ...], profile: Profile
) -> tuple[GivenAnswer | None, dict[str, Any]]:
    """The replacement answer, if any, and the branch's record of the change."""
    from faultwire.errors import UsageError
    from faultwire.replay.fork_answer import edit, edited, from_file

    if response is not None:
        try:
            data = response.read_bytes()
        except OSError as error:
            raise UsageError(
                f"found no file `{response}` that can be read, expected one for `--response`",
                code="usage.file",
            ) from error
        answer = from_file(recorded, data, _streamed)
    elif sets:
        answer = edited(recorded, [edit(text) for text in sets])
    elif profile.entries:
        return None, {"fault": [entry.id for entry in profile.entries]}
    else:
        return None, {"drop": True}
    return answer, {"response" if response else "set": _digest(answer)}


def _streamed(recorded: Recorded, answer: ResponseView) -> tuple[bytes, ...] | None:
    """An answer as the stream events that the mock provider would send."""
    from faultwire.errors import WireError
    from faultwire.mock._api import Call, Refused, Reply
    from faultwire.mock._registry import dialects
    from faultwire.wire import json_bytes

    dialect = dialects().get(recorded.protocol or "")
    if dialect is None:
        return None
    calls = tuple(
        Call(call.name, json_bytes.load_object(call.arguments.encode())) for call in answer.tool_calls
    )
    try:
        conversation = dialect.receive(recorded.request)
    except Refused as refused:
        raise WireError("the recorded request cannot be read") from refused
    return dialect.events(conversation, Reply(answer.text, calls))


def _digest(answer: GivenAnswer) -> dict[str, Any]:
    """Status, size and hash of the answer; its text is on the branch, redacted."""
    from faultwire._core import sha256_hex

    return {"status": answer.status, "bytes": len(answer.body), "sha256": sha256_hex(answer.body)}
