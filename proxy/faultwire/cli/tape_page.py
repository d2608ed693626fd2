"""`faultwire tape report` and `faultwire tape serve`: a tape as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli.output import say, show

if TYPE_CHECKING:
    from faultwire.tape.evidence.verify import VerifyReport


@click.command("report", short_help="Write a tape as one HTML file.")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Output file; by default the tape's name with `.html`, in the working directory.",
)
@anywhere_option()
def report(name: str, output: Path | None) -> None:
    """Write the tape NAME (a path, a run, or `last`) as one HTML file that needs no network and no script.

    It shows what the verification found, and every exchange as a conversation, event by event, on the wire
    and in the ledger of faults. Exits 0, or 1 if the tape does not verify, 3 if it cannot be read.
    """
    from faultwire.output_file import write_text
    from faultwire.tape.files.find import find
    from faultwire.tape.read.reader import TapeReader
    from faultwire.workbench.tape_page import name_of, tape_page

    path = find(name)
    target = _html(output or Path(name_of(path)))
    with TapeReader.open(path) as reader:
        checked = verified(path)
        page = tape_page(reader, checked)
    write_text(target, page.text, anywhere=anywhere())
    show(str(target))
    if page.stopped:
        say(f"reading stopped before the end of the tape: {page.stopped}")
    if not checked.ok:
        say("the tape does not verify; the page lists the findings")
    raise SystemExit(0 if checked.ok and not page.stopped else 1)


def verified(path: Path) -> VerifyReport:
    """What the verification of a tape finds, with the keys that this project trusts."""
    from faultwire.tape.evidence.keyring import KeyRing
    from faultwire.tape.evidence.verify import verify

    return verify(path, KeyRing().trusted())


def _html(path: Path) -> Path:
    from faultwire.errors import UsageError

    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            f"found the ending `{path.suffix}` of `{path}`, expected `.html`", code="usage.output"
        )
    return path
