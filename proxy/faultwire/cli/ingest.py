"""`faultwire ingest`: a service that takes the events which agents report of themselves."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import NoReturn

import click

from faultwire.cli._listen_options import FILE, listen_options
from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.output import Format, format_option, say, show, show_json


@click.command(short_help="Take the events that agents report of themselves, and keep them.")
@click.option(
    "--store",
    "folder",
    type=click.Path(path_type=Path),
    default=".faultwire/ingested",
    show_default=True,
    help="The folder of tapes in which the events are kept.",
)
@listen_options("TLS and a token")
@click.option("--token-file", type=FILE, metavar="FILE", help="Demand the bearer token in this file.")
@click.option("--hmac-key", type=FILE, metavar="FILE", help="Sign seals with the HMAC key in this file, too.")
@click.option("--redact", type=click.Choice(["pii"]), help="Also keep personal data out of what is kept.")
@click.option("--strict", is_flag=True, help="Refuse batches with an event that is not what its SDK hashed.")
@anywhere_option()
@format_option
def ingest(
    folder: Path, place: str, cert: Path | None, key: Path | None, token_file: Path | None,
    hmac_key: Path | None, redact: str | None, strict: bool, format_: Format,
) -> NoReturn:  # fmt: skip
    """Take the events that agents report of themselves, and keep them on tapes.

    The interface is that of AgentOps Replay's ingestion service: POST /v1/ingest, GET
    /v1/sessions/ID/export. A batch is answered once it is on the disk. Serves until Ctrl-C.
    """
    from faultwire.cli.tape_keep import project_signer
    from faultwire.ingestion.serve import Listen, serve
    from faultwire.ingestion.store import LOCK, Store
    from faultwire.tape.evidence.keyring import name_for
    from faultwire.tape.files.find import STATE
    from faultwire.tape.redact.redactor import load_key

    listen = Listen.parse(place, cert, key, token_file)
    store = Store(
        placed(folder / LOCK).parent,
        name_for(Path.cwd().name),
        project_signer(),
        load_key(STATE / "keys" / "redaction.key"),
        pii=redact == "pii",
        hmac_key=None if hmac_key is None else hmac_key.read_bytes().strip(),
        strict=strict,
    )

    def ready(url: str) -> None:
        if format_ == "json":
            show_json({"url": url, "tape": str(store.tape), "sessions": len(store.chains)})
        else:
            show(url)
            say(f"events go to {store.tape}; Ctrl-C ends")

    ended_by = serve(store, listen, ready)
    raise SystemExit(130 if ended_by == signal.SIGINT else 0)
