"""A certificate for people, as text, HTML and PDF. The envelope is what counts; a face only shows it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from faultwire.certificate.sections import WORTH, sections
from faultwire.errors import UsageError, printable
from faultwire.report.html import environment
from faultwire.tape.export.pdf import Heading, pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.certificate import shape

    Rows = Sequence[tuple[str, str]]

ENDINGS = (".html", ".pdf")


def text(made: shape.Statement, signed_by: str | None, log: Rows = ()) -> str:
    """The verdict, the phases, and what was not tested, as lines for a terminal."""
    lines = []
    for title, header, rows in list(sections(made, signed_by, log))[:3]:
        lines.append(title.lower())
        for row in rows:
            first, *rest = map(printable, row)
            named = (
                rest
                if len(header) <= 2
                else [f"{name} {cell}" for name, cell in zip(header[1:], rest, strict=True)]
            )
            lines.append("  " + ": ".join(filter(None, (first, "; ".join(named)))))
        if not rows:
            lines.append("  nothing is named")
    return "\n".join(lines)


def html(made: shape.Statement, signed_by: str | None, log: Rows = ()) -> str:
    """One page without scripts that loads nothing."""
    parts = list(sections(made, signed_by, log))
    template = environment().get_template("certificate.html.j2")
    return template.render(made=made, parts=parts, worth=WORTH, signed=signed_by is not None)


def pdf(made: shape.Statement, signed_by: str | None, log: Rows = ()) -> bytes:
    """The same tables. Raises UsageError without the extra `[pdf]`."""
    out = BytesIO()
    title = f"Certificate of run {made.predicate.run.id}"
    worth = ("What it says", ("",), [(line,) for line in WORTH])
    try:
        pages(Heading(title, f"faultwire: {title}"), [*sections(made, signed_by, log), worth], out)
    except ImportError as error:
        raise UsageError(
            "found no `reportlab`, expected it for a PDF",
            code="extra.pdf",
            hint="pip install 'faultwire[pdf]'; `.html` needs nothing more",
        ) from error
    return out.getvalue()
