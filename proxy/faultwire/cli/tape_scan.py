"""`faultwire scan --leaks` (and `tape scan`): leaked secrets in tapes, logs, reports and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import Format, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="PATH...")
@format_option
def scan(targets: tuple[str, ...], format_: Format) -> None:
    """Find leaked secrets in tapes, logs, reports and folders.

    A PATH is a file, a folder, or the name of a tape. Key files in folders are skipped. Matches are
    masked. Exits 0 if nothing is found, 1 if something is, 3 if something cannot be read.
    """
    raise SystemExit(scan_leaks(targets, format_))


def scan_leaks(targets: Sequence[str], format_: Format) -> int:
    """Print the leaked secrets in files, folders and tapes; the exit code. Raises TapeNotFound."""
    from dataclasses import asdict
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.files.find import find
    from faultwire.tape.redact.scan import Leak, files, scan as scan_file

    leaks: list[Leak] = []
    unreadable: list[TapeError] = []
    count = 0
    for target in targets:
        path = Path(target)
        for file in files(path if path.exists() else find(target)):
            count += 1
            try:
                leaks += scan_file(file)
            except TapeError as error:
                unreadable.append(error)
    if format_ == "json":
        errors = [{"code": error.code, "message": error.message} for error in unreadable]
        show_json({"files": count, "found": [asdict(leak) for leak in leaks], "unreadable": errors})
    else:
        for leak in leaks:
            show(f"{leak.file}: {leak.place}: {leak.what} {leak.masked}")
        for failure in unreadable:
            show(f"{failure.code}: {failure.message}")
        result = f"{len(leaks)} found" if leaks else "nothing found"
        say(f"{result} in {count} {'file' if count == 1 else 'files'}")
    return 3 if unreadable else 1 if leaks else 0
