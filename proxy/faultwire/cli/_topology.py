"""Prints who called whom for `faultwire tape show --topology`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.cli.output import Format, columns, show, show_json
from faultwire.lineage.topology import NOBODY, learn
from faultwire.profile.model import Profile
from faultwire.report.topology import expected_edges
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.lineage.topology import Edge, Topology
    from faultwire.tape.read.reader import TapeReader


def show_topology(reader: TapeReader, session: str | None, names: tuple[str, ...], format_: Format) -> None:
    """Print the topology of all sessions, or of one; the profiles `names` say which agents there are.

    Raises UsageError where there is no such session, and ProfileError.
    """
    from faultwire.errors import UsageError
    from faultwire.profile.across import joined
    from faultwire.profile.load import find, load
    from faultwire.report.text import redacted

    if session is not None and all(one.name != session for one in reader.sessions()):
        raise UsageError(f"found no session `{session}`, expected one of the tape", code="tape.no_session")
    profile = joined([load(find(name)) for name in names]) if names else Profile(name="none")
    exchanges = reader.exchanges(session) if session else reader.exchanges()
    found = learn(exchanges, profile.agents, expected_edges(profile))
    redact = _redactor()
    if format_ == "json":
        show_json(redacted(found.as_json(), redact))
        return
    for line in lines(found, redact):
        show(line)


def lines(found: Topology, redact: Callable[[str], str] = str) -> Iterator[str]:
    """The graph for a terminal."""
    if not found.edges:
        yield "no request to an agent, a tool or a model"
    else:
        header = ("from", "", "to", "by", "calls", "failed", "other", "faults fired")
        yield columns(header, [_row(edge, redact) for edge in found.edges])
    for why, count in _reasons(found).items():
        yield safe(f"{counted(count, 'request')} by an unknown sender: {redact(why)}")
    for sender, receiver in found.unseen:
        yield safe(f"never seen: {sender}->{receiver}, which the profile names")
    if found.left_out:
        yield f"{counted(found.left_out, 'exchange')} left out: no call of an agent, a tool or a model"


def _row(edge: Edge, redact: Callable[[str], str]) -> tuple[str, ...]:
    faults = ", ".join(f"{name} ({count})" for name, count in edge.faults.items())
    ends = (safe(redact(edge.sender.text)), "->", safe(redact(edge.receiver.text)))
    return (*ends, edge.transport, str(edge.calls), str(edge.failed), str(edge.other), safe(faults) or "-")


def _reasons(found: Topology) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for edge in found.edges:
        for why, count in edge.why.items() if edge.sender == NOBODY else ():
            reasons[why] = reasons.get(why, 0) + count
    return reasons


def _redactor() -> Callable[[str], Any]:
    """What takes secrets out of names that a tape holds in pieces, as for lineage."""
    from faultwire.tape.redact.redactor import Redactor, fresh_key

    made = Redactor(fresh_key())
    return lambda text: made.text(text, {})
