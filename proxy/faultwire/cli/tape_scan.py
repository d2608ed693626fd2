"""`faultwire tape scan`: is there a secret on it?"""

from __future__ import annotations

import click

from faultwire.cli.output import Format, format_option, say, show, show_json


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PATH...")
@format_option
def scan(places: tuple[str, ...], format_: Format) -> None:
    """Look for secrets in tapes, logs, reports, or whole folders, before they leave the house.

    A PATH is a file, a folder, or the name of a tape. Key files in folders are passed over. Values are
    masked. Exit code: 0 nothing is found, 1 something is, 3 something cannot be read.
    """
    from dataclasses import asdict
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.files.find import find
    from faultwire.tape.redact.scan import Leak, files, scan as look

    leaks: list[Leak] = []
    unreadable: list[TapeError] = []
    count = 0
    for place in places:
        path = Path(place)
        for file in files(path if path.exists() else find(place)):
            count += 1
            try:
                leaks += look(file)
            except TapeError as error:
                unreadable.append(error)
    if format_ == "json":
        wrong = [{"code": why.code, "message": why.message} for why in unreadable]
        show_json({"files": count, "found": [asdict(leak) for leak in leaks], "unreadable": wrong})
    else:
        for leak in leaks:
            show(f"{leak.file}: {leak.place}: {leak.what} {leak.masked}")
        for why in unreadable:
            show(f"{why.code}: {why.message}")
        said = f"{len(leaks)} found" if leaks else "nothing found"
        say(f"{said} in {count} {'file' if count == 1 else 'files'}")
    raise SystemExit(3 if unreadable else 1 if leaks else 0)
