"""`python -m faultwire.faults.attack` prints the table of families in docs/howto/attack.md."""

from __future__ import annotations

from faultwire.faults.attack._library import table

if __name__ == "__main__":
    print(table())  # noqa: T201
