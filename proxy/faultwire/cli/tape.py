"""`faultwire tape`: list, show, check and convert recordings."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._group import Group
from faultwire.cli.output import Format, columns, format_option, show, show_json, size_text
from faultwire.cli.tape_claims import claims
from faultwire.cli.tape_compare import diff, learn
from faultwire.cli.tape_erase import erase
from faultwire.cli.tape_evidence import prove, salvage, seal, verify
from faultwire.cli.tape_formats import export
from faultwire.cli.tape_import import import_
from faultwire.cli.tape_keep import merge, prune, split
from faultwire.cli.tape_page import report
from faultwire.cli.tape_scan import scan
from faultwire.cli.tape_shred import shred
from faultwire.cli.tape_tree import tree
from faultwire.cli.ui import serve
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.tape.evidence.signed_note import VerifierKey
    from faultwire.tape.read.reader import TapeReader
    from faultwire.wire.transcript.exchange import Transcript


@click.group(
    cls=Group,
    sections={
        "Read": ("list", "show", "report", "serve", "diff", "tree", "claims"),
        "Evidence": ("verify", "seal", "prove", "salvage"),
        "Convert": ("export", "import"),
        "Manage": ("merge", "split", "prune", "erase", "shred", "learn"),
    },
    renamed={"scan": "faultwire scan --leaks"},
)
def tape() -> None:
    """List, show, verify, seal, export and import tapes."""


for _command in (
    verify,
    seal,
    salvage,
    prove,
    scan,
    export,
    import_,
    merge,
    split,
    prune,
    erase,
    shred,
    diff,
    learn,
    tree,
):
    tape.add_command(_command)
for _command in (report, serve, claims):
    tape.add_command(_command)


@tape.command(name="list")
@click.argument("folder", required=False, type=click.Path(file_okay=False))
@click.option("-l", "--long", "long", is_flag=True, help="Also verify each tape and sum its cost.")
@format_option
def list_(folder: str | None, long: bool, format_: Format) -> None:
    """List the tapes in FOLDER, by default those of this project and its runs."""
    from pathlib import Path

    from faultwire.tape.evidence.keyring import KeyRing
    from faultwire.tape.files.find import recorded_elsewhere, tapes

    trusted = KeyRing().trusted() if long else ()
    paths = tapes(Path(folder)) if folder else [*tapes(), *recorded_elsewhere()]
    found = [_listed(path, trusted, long=long) for path in paths]
    if format_ == "json":
        show_json(found)
    elif not found:
        show("no tapes")
    else:
        show(columns(_LONG if long else _SHORT, (_row(tape, long=long) for tape in found)))


@tape.command(name="show")
@click.argument("name")
@click.option("--session", help="Only this session.")
@click.option(
    "--exchange", "number", type=click.IntRange(min=1), help="One exchange, with headers and bodies."
)
@click.option("--raw", is_flag=True, help="Print only the exchange's raw response body.")
@click.option("--lineage", is_flag=True, help="Show which bytes of an answer stand in which later request.")
@click.option("--topology", is_flag=True, help="Show who called whom: agents, tools and models.")
@click.option(
    "--profile", "profiles", multiple=True, help="With --topology: who is known by what; repeatable."
)
@format_option
def show_(
    name: str,
    session: str | None,
    number: int | None,
    raw: bool,
    lineage: bool,
    topology: bool,
    profiles: tuple[str, ...],
    format_: Format,
) -> None:
    """Show the exchanges on the tape NAME (or path), or one of them in full.

    Exits 0, or 1 if the tape was imported from a file that is not what it claims to be.
    """
    from faultwire.cli._lineage import show_lineage
    from faultwire.cli._tape_show import findings, show_all, show_one
    from faultwire.cli._topology import show_topology
    from faultwire.errors import UsageError
    from faultwire.tape.files.find import find
    from faultwire.tape.read.reader import TapeReader

    if raw and number is None:
        raise UsageError("`--raw` prints one body, expected `--exchange` with it", code="usage.raw")
    if raw and lineage:
        raise UsageError("found `--raw` and `--lineage`, expected one of them", code="usage.raw")
    _check_topology(topology, profiles, others=(number is not None, raw, lineage))
    path = find(name)
    with TapeReader.open(path) as reader, _named(path):
        bad = findings(reader)
        if topology:
            show_topology(reader, session, profiles, format_)
        elif lineage:
            show_lineage(reader, session, number, format_)
        elif number is None:
            show_all(reader, session, format_)
        else:
            detail = reader.detail(session or _only_session(reader), number)
            session = detail.recorded.session
            show_one(detail, reader.exchanges(session), raw=raw, format_=format_)
    if bad:
        raise SystemExit(1)


def _check_topology(topology: bool, profiles: tuple[str, ...], others: tuple[bool, ...]) -> None:
    from faultwire.errors import UsageError

    if topology and any(others):
        raise UsageError(
            "found `--topology` with `--exchange`, `--raw` or `--lineage`, expected it without",
            code="usage.topology",
        )
    if profiles and not topology:
        raise UsageError("found `--profile`, expected `--topology` with it", code="usage.topology")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors about what a tape holds, such as a body that is too long to be read, name its file."""
    from faultwire.errors import Location, TapeError, printable

    try:
        yield
    except TapeError as error:
        if error.where is None and str(path) not in error.message:
            error.where = Location(printable(str(path)))
        raise


# ---------------------------------------------------------------- list


_SHORT = ("tape", "recorded", "sessions", "exchanges", "size", "state")
_LONG = (*_SHORT, "cost", "evidence")


def _row(tape: dict[str, Any], *, long: bool) -> tuple[str, ...]:
    row = (
        tape["path"],
        tape["created"],
        _count(tape["sessions"]),
        _count(tape["exchanges"]),
        size_text(tape["bytes"]),
        tape["state"],
    )
    if not long:
        return row
    worth = "unreadable" if tape["sessions"] is None else "does not verify"
    return (*row, tape["cost"], tape["class"] or worth)


def _listed(path: Path, trusted: Sequence[VerifierKey], *, long: bool) -> dict[str, Any]:
    from faultwire.clock import iso
    from faultwire.errors import TapeError
    from faultwire.tape.read.reader import TapeReader

    entry: dict[str, Any] = {"path": str(path), "bytes": _bytes(path), "created": ""}
    if long:
        entry |= {"cost": "unknown", "class": None}
    try:
        with TapeReader.open(path) as reader:
            sessions = reader.sessions()
            entry["created"] = iso(reader.info().created_ms)
            if long:
                entry |= {"cost": _cost(reader), "class": _class(path, trusted)}
    except TapeError as error:
        return {**entry, "sessions": None, "exchanges": None, "state": error.code}
    is_open = any(session.ended_ms is None for session in sessions)
    return {
        **entry,
        "sessions": len(sessions),
        "exchanges": sum(session.exchanges for session in sessions),
        "state": "open" if is_open else "ended",
    }


def _bytes(path: Path) -> int:
    """The size of the file in bytes; 0 if it no longer exists. Links are not followed."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _cost(reader: TapeReader) -> str:
    """The cost of the model exchanges and the day of its prices; `+ N unknown` if some prices are unknown."""
    from decimal import Decimal

    from faultwire import wire
    from faultwire.wire.transcript.prices import dated

    total, unknown = Decimal(0), 0
    days: set[str] = set()
    elsewhere = _counted_elsewhere(reader)
    for recorded in (one for one in reader.exchanges() if one.kind == "llm"):
        if (recorded.session, recorded.number) in elsewhere:
            continue
        transcript = wire.transcript_of(recorded)
        if transcript is not None and transcript.cost is not None:
            total += transcript.cost
            days.add(str(transcript.prices_as_of))
        elif _was_charged(recorded, transcript):
            unknown += 1  # no usage was reported, or none that can be read, or no price is known
    if unknown and not total:
        return "unknown"
    known = f"${total:.6f}" + (f" ({dated(days)})" if days else "")
    return known + (f" + {unknown} unknown" if unknown else "")


def _counted_elsewhere(reader: TapeReader) -> set[tuple[str, int]]:
    """The exchanges whose usage another one of their session holds."""
    from faultwire import wire
    from faultwire.wire.transcript.fetched_answers import counted_elsewhere, is_fetch

    found: set[tuple[str, int]] = set()
    for session in {one.session for one in reader.exchanges() if is_fetch(one)}:
        asked = ((one, wire.transcript_of(one)) for one in reader.exchanges(session) if one.kind == "llm")
        numbers = counted_elsewhere((one, transcript) for one, transcript in asked if transcript is not None)
        found |= {(session, number) for number in numbers}
    return found


def _was_charged(recorded: Recorded, transcript: Transcript | None) -> bool:
    """Did the model return a non-error answer, readable or not?"""
    if transcript is not None and transcript.answer is not None:
        return not transcript.answer.error
    return recorded.upstream is not None and 200 <= recorded.upstream.status < 300  # RFC 9110 §15.3


def _class(path: Path, trusted: Sequence[VerifierKey]) -> str | None:
    from faultwire.tape.evidence.verify import evidence_class, verify

    return evidence_class(verify(path, trusted))[0]


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


# ---------------------------------------------------------------- show


def _only_session(reader: TapeReader) -> str:
    from faultwire.errors import UsageError

    names = [session.name for session in reader.sessions()]
    if len(names) == 1:
        return names[0]
    raise UsageError(
        f"the tape holds {counted(len(names), 'session')}, expected `--session` with `--exchange`",
        code="usage.session",
        hint=f"sessions: {', '.join(names[:10])}" if names else None,
    )
