"""Tapes of tracefork and archives in HAR, written by the real packages and then changed, and the sentences
that are true of each.

The tapes are those of three releases of tracefork; the HAR is mitmproxy's, of the traffic of an agent. What
is true of a file is what was done to it.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentence_patterns import Patterns

TABLE = "CREATE TABLE"
LINK = "is a symbolic link"
RECEIPT, STATED_TAPE, BY_HOST = "the receipt", "the tape", "as --host says"
BY_SDK = "the default of the SDK that sends such bodies"
DIGEST, OTHER_DIGEST = "its digest is {}", "{} says that its digest is {}"
NO_URL = "the tape holds no URL for some calls: their host is {}, {}"
ENTRY = "entry {}: {}"
FILLED = "the tape holds no methods, header fields and instants: they are filled in."
"""How a note begins that every tape of tracefork gets."""
NAMES = (
    "tracefork",
    "_tracefork_files",
    "_tracefork_sqlite",
    "_tracefork_store",
    "har",
    "_har_body",
    "_api",
    "_source",
)
PATTERNS = Patterns(
    [f"tape/import_/{name}.py" for name in NAMES],
    special={
        TABLE: r"(?!)",
        DIGEST: r"its digest is [0-9a-f]{64}",
        RECEIPT: r"the receipt says .+",
        STATED_TAPE: r"the tape says .+",
        "run `{}`: {}": r"run `[^`]*`: .+",
        "{} bytes follow the last blob": r"\d+ bytes follow the last blob",
        "the tape claims {} {}, and holds {}": r"the tape claims \d+ .+, and holds \d+",
        LINK: r"  .*is a symbolic link|error: .*is a symbolic link|.*cannot open .*: is a symbolic link",
    },
    parts=(
        BY_HOST,
        BY_SDK,
        "the file says that a body has {} bytes, and holds {}",
        "a body of {} bytes is not in the file",
        "the request's body was put together from its fields",
        "a WebSocket message is left out: {}",
        "it began at {}",
        "it is left out: {}",
        "the request's body is no {}",
        "the response's body is no {}",
        "the response has status {}",
    ),
)  # fmt: skip
NEVER_PRINTED = {TABLE}
"""It is what the schema of a table begins with."""


@dataclass(frozen=True)
class Case:
    """Which file of which writer, what is done to it, and what is true of it then. `change` gets the file."""

    file: str
    change: Callable[[Path], object]
    true: tuple[str, ...] = ()
    bad: bool = False
    options: tuple[str, ...] = ()
    code: int | None = None

    @property
    def exit_code(self) -> int:
        return int(self.bad) if self.code is None else self.code


def bad(file: str, change: Callable[[Path], object], *true: str, options: tuple[str, ...] = ()) -> Case:
    return Case(file, change, true, bad=True, options=options)


def nothing(_path: Path) -> None:
    pass


# ---------------------------------------------------------------- tracefork


def header(**members: Any) -> Callable[[Path], object]:
    """Members of an envelope's header; a function gets the old value."""

    def change(path: Path) -> None:
        data = path.read_bytes()
        version, length = struct.unpack_from(">HI", data, 7)
        document = json.loads(data[13 : 13 + length])
        for name, value in members.items():
            document[name] = value(document.get(name)) if callable(value) else value
        text = json.dumps(document).encode()
        path.write_bytes(data[:7] + struct.pack(">HI", version, len(text)) + text + data[13 + length :])

    return change


def sql(*statements: str) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as rows, rows:
            for statement in statements:
                rows.execute(statement)

    return change


def renamed(names: list[str]) -> list[str]:
    """The first two blobs under each other's hash."""
    return [names[1], names[0], *names[2:]]


def two_runs(path: Path) -> None:
    """A second run that drew another value: another tape, with another digest."""
    with closing(sqlite3.connect(path)) as rows, rows:
        (data,) = rows.execute("SELECT tape_bytes FROM tapes").fetchone()
        other = path.with_name("other.bin")
        other.write_bytes(data)
        header(draws=[["clock", "2.5"]])(other)
        rows.execute(
            "INSERT INTO tapes (run_id, agent_name, tape_bytes, created_at) VALUES ('run-2', 'a', ?, '')",
            (other.read_bytes(),),
        )


ANOTHER_RUN = "INSERT INTO tapes (run_id, agent_name, tape_bytes, created_at) VALUES ('x', 'a', {}, '')"


def branched(path: Path) -> None:
    """A branch with some value in each of its columns."""
    with closing(sqlite3.connect(path)) as rows, rows:
        columns = rows.execute("PRAGMA table_info(branches)").fetchall()
        rows.execute(f"INSERT INTO branches VALUES ({', '.join('?' * len(columns))})", ["1"] * len(columns))


def log_beside(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"not yet folded in")


def linked(path: Path) -> None:
    real = path.with_name("real")
    path.rename(real)
    path.symlink_to(real)


NEW, OLD, STORE, LATEST = "1.0.0/tape.bin", "0.1.0/tape.sqlite", "1.0.0/store.db", "1.0.0/tape.sqlite"
GUESSED = (DIGEST, NO_URL, BY_SDK)
COUNTED = "the tape claims {} {}, and holds {}"
NOT_HELD = "call {} names blob `{}`, and the tape does not hold it"
ZEROS = "0" * 64
TAPES: dict[str, Case] = {
    **{
        f"as {version} wrote {name}": Case(
            f"{version}/{name}", nothing,
            (DIGEST,) if version == "1.0.0" or (version == "0.3.0" and name != "tape.sqlite") else GUESSED,
        )
        for version in ("0.1.0", "0.3.0", "1.0.0")
        for name in ("tape.sqlite", "tape.bin", "store.db")
    },
    "with its receipt": Case(NEW, nothing, (DIGEST,), options=("--digest", "DIGEST")),
    "with another receipt": bad(
        NEW, nothing, DIGEST, RECEIPT, OTHER_DIGEST, options=("--digest", ZEROS)
    ),
    "a store with the receipt of one of its runs": Case(
        STORE, two_runs, (DIGEST,), options=("--digest", "DIGEST")
    ),
    "a store with a receipt of none of its runs": bad(
        STORE, two_runs, DIGEST, RECEIPT, OTHER_DIGEST, options=("--digest", ZEROS)
    ),
    "a tape that states another digest": bad(NEW, header(digest=ZEROS), DIGEST, STATED_TAPE, OTHER_DIGEST),
    "with a host": Case(OLD, nothing, (DIGEST, NO_URL, BY_HOST), options=("--host", "llm.test")),
    "a status that is none": bad(
        NEW, header(response_status=[9999, 200]), DIGEST, "call {} has status {}, expected 100 to 599"
    ),
    "one status of two": bad(NEW, header(response_status=[429]), DIGEST, COUNTED),
    "a blob under another name": bad(
        NEW, header(blob_hashes=lambda names: [ZEROS, *names[1:]]), DIGEST, NOT_HELD,
        "blob `{}` belongs to no call",
    ),
    "two blobs that changed places": bad(
        NEW, header(blob_hashes=renamed), DIGEST, "blob `{}` does not have its hash"
    ),
    "a tool call without its body": bad(
        NEW, header(tool_exchanges=[[ZEROS, ZEROS]]), DIGEST,
        "tool call {} names a blob that is not on the tape",
    ),
    "redacted contents": Case(
        NEW, header(content_redacted=True),
        (DIGEST, "tracefork redacted contents before it hashed them: the bodies are not what was sent"),
    ),
    "a batch of a call that is not there": bad(
        NEW, header(async_batches=[[0, 99]]), DIGEST,
        "a batch of parallel calls names one that is not there",
    ),
    "bytes behind the last blob": bad(
        NEW, lambda path: path.write_bytes(path.read_bytes() + b"more"), DIGEST,
        "{} bytes follow the last blob",
    ),
    "a file that ends in its last blob": bad(
        NEW, lambda path: path.write_bytes(path.read_bytes()[:-3]), DIGEST, NOT_HELD,
        "the header claims {} blobs, and the file ends in number {}",
    ),
    "a blob that is no zstd data": bad(
        LATEST, sql("UPDATE blobs SET data = x'00112233' WHERE rowid = 1"), DIGEST, NOT_HELD,
        "blob `{}` is no zstd data of {} bytes",
    ),
    "a list that is none": bad(
        LATEST, sql("UPDATE meta SET value = '{' WHERE key = 'response_status'"), DIGEST,
        "`{}` in the table `meta` is no list",
    ),
    "another schema": bad(
        LATEST, sql("UPDATE meta SET value = '9' WHERE key = 'schema_version'"), DIGEST,
        "the tape has schema {}, expected 1 to 3",
    ),
    "a log beside the tape": bad(
        LATEST, log_beside, DIGEST,
        "there is a `-wal` file beside the tape, and what only that holds was not read",
    ),
    "an event of another kind": bad(
        LATEST, sql("INSERT INTO events (kind, a, b) VALUES ('dream', 'a', 'b')"), DIGEST,
        "{} {} of kind {}",
    ),
    "a run that is a text": bad(
        STORE, sql(ANOTHER_RUN.format("'text'")),
        DIGEST, "run `{}` holds no tape",
    ),
    "a run that cannot be read": bad(
        STORE,
        sql(ANOTHER_RUN.format("x'544654'")),
        DIGEST, "run `{}`: {}",
    ),
    "branches": Case(
        STORE, branched,
        (DIGEST, "the store holds {} of runs, not imported"),
    ),
    "a link": Case(NEW, linked, (LINK,), code=3),
}  # fmt: skip
