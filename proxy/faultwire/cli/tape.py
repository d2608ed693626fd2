"""`faultwire tape`: what was recorded, and whether it still is what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, columns, format_option, show, show_json

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.read import TapeReader
    from faultwire.tape.verify import VerifyReport


@click.group()
def tape() -> None:
    """List, show and verify tapes."""


@tape.command(name="list")
@click.argument("folder", required=False, type=click.Path(file_okay=False))
@format_option
def list_(folder: str | None, format_: Format) -> None:
    """List the tapes in FOLDER; without one, those of this project and of its runs."""
    from pathlib import Path

    from faultwire.tape.find import tapes

    found = [_listed(path) for path in tapes(Path(folder) if folder else None)]
    if format_ == "json":
        show_json(found)
    elif not found:
        show("no tapes")
    else:
        rows = (
            (
                t["path"],
                t["created"],
                _count(t["sessions"]),
                _count(t["exchanges"]),
                _size(t["bytes"]),
                t["state"],
            )
            for t in found
        )
        show(columns(("tape", "recorded", "sessions", "exchanges", "size", "state"), rows))


@tape.command(name="show")
@click.argument("name")
@click.option("--session", help="Only this session.")
@click.option(
    "--exchange", "number", type=click.IntRange(min=1), help="One exchange, with headers and bodies."
)
@click.option("--raw", is_flag=True, help="Print the exchange's response body as it is, and nothing else.")
@format_option
def show_(name: str, session: str | None, number: int | None, raw: bool, format_: Format) -> None:
    """Show the exchanges on the tape NAME (or at a path), or one of them in full."""
    from faultwire.cli._tape_show import show_all, show_one
    from faultwire.errors import UsageError
    from faultwire.tape.find import find
    from faultwire.tape.read import TapeReader

    if raw and number is None:
        raise UsageError("`--raw` prints one body, expected `--exchange` with it", code="usage.raw")
    with TapeReader.open(find(name)) as reader:
        if number is None:
            show_all(reader, session, format_)
        else:
            detail = reader.detail(session or _only_session(reader), number)
            show_one(detail, raw=raw, format_=format_)


@tape.command()
@click.argument("names", nargs=-1, required=True)
@format_option
def verify(names: tuple[str, ...], format_: Format) -> None:
    """Check that tapes hold what was recorded: 0 all do, 1 some does not, 3 some cannot be read."""
    from faultwire.errors import TapeError
    from faultwire.tape.find import find
    from faultwire.tape.verify import exit_code
    from faultwire.tape.verify import verify as check

    reports: list[VerifyReport] = []
    unreadable: list[tuple[str, TapeError]] = []
    for name in names:
        try:
            reports.append(check(find(name)))
        except TapeError as error:
            unreadable.append((name, error))
    if format_ == "json":
        show_json([*(r.dump() for r in reports), *(_unreadable(*one) for one in unreadable)])
    else:
        for report in reports:
            show(_verdict(report))
        for name, why in unreadable:
            show(f"{name}: unreadable\n  {why.code}: {why.message}")
    raise SystemExit(exit_code(reports, unreadable=len(unreadable)))


# ---------------------------------------------------------------- list


def _listed(path: Path) -> dict[str, Any]:
    from faultwire.clock import iso
    from faultwire.errors import TapeError
    from faultwire.tape.read import TapeReader

    entry: dict[str, Any] = {"path": str(path), "bytes": path.stat().st_size, "created": ""}
    try:
        with TapeReader.open(path) as reader:
            sessions = reader.sessions()
            entry["created"] = iso(reader.info().created_ms)
    except TapeError as error:
        return {**entry, "sessions": None, "exchanges": None, "state": error.code}
    is_open = any(session.ended_ms is None for session in sessions)
    return {
        **entry,
        "sessions": len(sessions),
        "exchanges": sum(session.exchanges for session in sessions),
        "state": "open" if is_open else "ended",
    }


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{size / 1e3:.1f} kB"


# ---------------------------------------------------------------- show


def _only_session(reader: TapeReader) -> str:
    from faultwire.errors import UsageError

    names = [session.name for session in reader.sessions()]
    if len(names) == 1:
        return names[0]
    raise UsageError(
        f"the tape holds {len(names)} sessions, expected `--session` with `--exchange`",
        code="usage.session",
        hint=f"sessions: {', '.join(names[:10])}" if names else None,
    )


# ---------------------------------------------------------------- verify


def _unreadable(name: str, error: TapeError) -> dict[str, Any]:
    return {"path": name, "ok": False, "error": error.code, "message": error.message}


def _verdict(report: VerifyReport) -> str:
    state = "verifies" if report.ok else f"does not verify, first bad event {report.first_bad}"
    if not report.ok and report.first_bad is None:
        state = "does not verify"
    counts = f"{report.events} events, {report.exchanges} exchanges, {report.blobs} bodies"
    lines = [f"{report.path}: {state} ({counts})", f"  root {report.root}"]
    lines += [f"  {'note' if f.is_note else 'bad'} {f.code}: {f.message}" for f in report.findings]
    return "\n".join(lines)
