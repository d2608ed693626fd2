"""tracefork's `store.db`: a SQLite file of many tapes, each an envelope of its own.

Table `tapes(run_id, agent_name, tape_bytes, created_at)`. What forks of a run changed stands in `branches`
and is no recording of a whole run: it is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import TapeError
from faultwire.tape.import_._api import Found
from faultwire.tape.import_._source import MAX_WHOLE
from faultwire.tape.import_._tracefork_files import envelope
from faultwire.tape.import_._tracefork_sqlite import opened_sqlite
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._tracefork_files import Contents

_MOST_RUNS = 10_000


def runs(path: Path, found: list[Found]) -> Iterator[tuple[str, Contents]]:
    """Each run's name and tape, in the order of storage. A tape that cannot be read is a finding.

    Raises TapeError where the file cannot be read, or holds no run.
    """
    count = 0
    with opened_sqlite(path, found, {"tapes"}) as connection:
        query = "SELECT run_id, tape_bytes FROM tapes ORDER BY rowid LIMIT ?"
        for name, data in connection.execute(query, (_MOST_RUNS + 1,)):
            count += 1
            run = str(name)[:200]
            if count > _MOST_RUNS:
                raise TapeError(f"found more than {_MOST_RUNS} runs in the store", code="tape.import_size")
            if not isinstance(data, bytes) or len(data) > MAX_WHOLE:
                found.append(Found("tracefork_run_unreadable", f"run `{run[:80]}` holds no tape"))
                continue
            try:
                with envelope(data, found) as contents:
                    yield run, contents
            except TapeError as error:
                found.append(Found("tracefork_run_unreadable", f"run `{run[:80]}`: {error.message}"))
        has_branches = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'branches'").fetchone()
        if has_branches:
            (branches,) = connection.execute("SELECT count(*) FROM branches").fetchone()
            if branches:
                text = f"the store holds {counted(branches, 'branch', 'branches')} of runs, not imported"
                found.append(Found("tracefork_branches", text, note=True))
    if not count:
        raise TapeError("the tracefork store holds no run", code="tape.import_unreadable")
