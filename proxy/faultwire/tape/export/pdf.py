"""A compliance bundle as PDF, for people: evidence, findings, custody, gaps, redactions, and every exchange.

Rendered from the bundle alone and naming its SHA-256: the JSON is what counts, the pages only show it.
Needs `reportlab` (extra `[pdf]`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from xml.sax.saxutils import escape

import orjson

from faultwire import _core
from faultwire.errors import UsageError
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.export.bundle import bundle
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    Section = tuple[str, Sequence[str], Sequence[Sequence[Any]]]
    """A heading, the names of columns, and rows."""

UNIT = "exchanges"
LONGEST = 160
"""Characters of one cell; a page holds no row that is longer than itself."""

Json = dict[str, Any]


def write(path: Path, out: BinaryIO) -> int:
    """Write the tape's bundle as PDF; the number of its exchanges. Raises UsageError without the extra."""
    made = bundle(path, KeyRing().trusted())
    render(made, out)
    return len(made["exchanges"])


def render(made: Json, out: BinaryIO) -> None:
    """A bundle as PDF."""
    digest = sha256(_core.jcs(orjson.dumps(made)) + b"\n").hexdigest()
    about = Heading(
        f"Tape {made['tape']['origin']}", f"faultwire compliance bundle: {made['tape']['origin']}"
    )
    try:
        pages(about, _sections(made, digest), out)
    except ImportError as error:
        raise UsageError(
            "found no `reportlab`, expected it for `--to pdf`",
            code="extra.pdf",
            hint="pip install 'faultwire[pdf]'; `--to bundle` needs nothing more",
        ) from error


class Heading(NamedTuple):
    """What stands above a document, and what readers call the file."""

    title: str
    name: str


def pages(about: Heading, sections: Iterable[Section], out: BinaryIO) -> None:
    """A PDF of tables under headings; the same content gives the same bytes. Raises ImportError without
    `reportlab`."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

    styles = getSampleStyleSheet()
    story: list[Any] = [Paragraph(_cell(about.title), styles["Title"])]
    for title, header, rows in sections:
        story += [
            Paragraph(title, styles["Heading2"]),
            _table(header, rows, styles["BodyText"]),
            Spacer(1, 8),
        ]
    # No date, and no random identifier.
    SimpleDocTemplate(out, pagesize=A4, title=about.name, author="faultwire", invariant=1).build(story)


def _sections(made: Json, digest: str) -> Iterable[Section]:
    tape, evidence = made["tape"], made["evidence"]
    about = [
        ("bundle SHA-256", digest),
        ("Merkle root", tape["root"]),
        ("file SHA-256", tape["file_sha256"]),
        ("events", tape["events"]),
        ("verifies", "yes" if evidence["verifies"] else "no"),
        ("evidence class", evidence["class"] or "none"),
        *(("because", reason) for reason in evidence["reasons"]),
    ]
    yield "Evidence", ("what", "value"), about
    findings = [(f["code"], f["event"], f["message"]) for f in made["findings"]]
    yield "Findings", ("code", "event", "what"), findings
    notes = [(n["code"], n["event"], n["message"]) for n in made["notes"] if not n["bad"]]
    yield "Notes on the import", ("code", "event", "what"), notes
    custody = [(c["what"], c["by"], c["at"] or "", c["event"]) for c in made["custody"]]
    yield "Custody", ("what", "by", "when", "event"), custody
    sessions = [
        (s["session"], s["profile"], s["seed"], s["started"], s["ended"] or "never") for s in made["sessions"]
    ]
    yield "Sessions", ("session", "profile", "seed", "started", "ended"), sessions
    gaps = [(g["session"], g["exchange"], g["why"]) for g in made["gaps"]]
    yield "Gaps and drops", ("session", "exchange", "why"), gaps
    redactions = [(r["session"], r["exchange"], r["class"], r["count"]) for r in made["redactions"]]
    yield "Redactions", ("session", "exchange", "class", "values"), redactions
    exchanges = [
        (
            f"{e['session']} {e['exchange']}",
            " ".join(filter(None, (e["kind"], e["provider"], e["tool"]))),
            f"{e['method']} {e['host']}{e['path']}",
            e["status"] if e["status"] is not None else "none",
            e["ending"] or "never",
            "; ".join(f"{one['fault']}: {one['effect'] or ''}" for one in e["faults"]),
        )
        for e in made["exchanges"]
    ]
    yield "Exchanges", ("exchange", "kind", "request", "status", "ending", "faults"), exchanges
    imported = [
        (e["session"], e["number"], e["kind"], e["at"] or "", f"{e['bodies'][0]['sha256'][:16]}…")
        for e in made["imported_events"]
    ]
    yield "Imported events", ("session", "number", "kind", "when", "SHA-256"), imported


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]], style: Any) -> Any:
    from reportlab.lib import colors
    from reportlab.platypus import LongTable, Paragraph, TableStyle

    if not rows:
        return Paragraph("none", style)
    cells = [[Paragraph(f"<b>{name}</b>", style) for name in header]]
    cells += [[Paragraph(_cell(value), style) for value in row] for row in rows]
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.25, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")])
    return LongTable(cells, repeatRows=1, style=grid)


def _cell(value: Any) -> str:
    """Text from the network, made safe for a page and for the markup that paragraphs read."""
    text = "" if value is None else safe(str(value))
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return escape(shown)
