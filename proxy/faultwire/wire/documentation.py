"""The tables of protocols in `docs/reference/protocols.md`, from what each protocol says of itself.

The page's prose is written by hand. A table stands behind a comment that names it, up to the next blank line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.wire.protocol import Protocol

MARK = "<!-- {}: written by `python -m faultwire.wire`; edit the protocols' `page` instead -->"


def tables(protocols: Iterable[Protocol]) -> Mapping[str, str]:
    """The tables by name, a row for each protocol that has a `page`, in their order."""
    pages = [(protocol.name, protocol.page) for protocol in protocols if protocol.page is not None]
    recognised = [(f"`{name}`", page.recognised, page.provider) for name, page in pages]
    abilities = [(f"`{name}`", page.read, page.changed, page.made_up, page.mock) for name, page in pages]
    return {
        "recognised": _table(
            ("protocol", "recognised by", "provider, where the host names none"), recognised
        ),
        "abilities": _table(
            ("protocol", "read", "changed", "made up", "the [mock](mock.md) speaks it"), abilities
        ),
    }


def filled(page: str, protocols: Iterable[Protocol]) -> str:
    """The page with its tables written anew. Raises FaultwireError where it has no place for one."""
    for name, table in tables(protocols).items():
        before, mark, after = page.partition(MARK.format(name) + "\n")
        if not mark:
            raise FaultwireError(
                f"found no `{MARK.format(name)}` in the page, expected one", code="wire.page"
            )
        _, _, rest = after.partition("\n\n")
        page = f"{before}{mark}{table}\n\n{rest}"
    return page


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join((lines[0], "|" + "---|" * len(head), *lines[1:]))
