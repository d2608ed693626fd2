"""`faultwire serve`: the service of a team."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from faultwire.cli._listen_options import FILE, listen_options
from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.output import Format, format_option, say, show, show_json

if TYPE_CHECKING:
    from faultwire.service.serve import Logs


@click.command(short_help="Show a team its runs, with roles, baselines and alerts.")
@click.option(
    "--store",
    required=True,
    metavar="URL",
    help="The database: sqlite:///FILE or postgresql://USER@HOST/NAME.",
)
@click.option("--tapes", metavar="PLACE", help="Where tapes are kept: a folder, or s3://BUCKET/PREFIX.")
@click.option(
    "--config",
    "settings",
    type=FILE,
    metavar="FILE",
    help="Rules for baselines, alerts, the OpenID provider (YAML).",
)
@listen_options("TLS")
@click.option(
    "--address", metavar="URL", help="How browsers reach the service, where a proxy stands before it."
)
@click.option(
    "--audit", "folder", type=click.Path(path_type=Path), default=".faultwire/audit", show_default=True,
    help="The folder of tapes that are the audit log.",
)  # fmt: skip
@click.option(
    "--metrics-token",
    "scraper",
    type=FILE,
    metavar="FILE",
    help="Answer /metrics to who shows the token in this file.",
)
@click.option(
    "--witness-log",
    "logs",
    multiple=True,
    metavar="KEY|FILE",
    help="Cosign checkpoints of this log of certificates, by its verifier key (repeatable).",
)
@click.option(
    "--witness-store", type=click.Path(path_type=Path), default=".faultwire/witness", show_default=True,
    help="The folder of the witness's key, and of what it has cosigned.",
)  # fmt: skip
@anywhere_option()
@format_option
def serve(
    store: str, tapes: str | None, settings: Path | None, place: str, cert: Path | None, key: Path | None,
    address: str | None, folder: Path, scraper: Path | None, logs: tuple[str, ...], witness_store: Path,
    format_: Format,
) -> NoReturn:  # fmt: skip
    """Show a team its runs: trends, significant drops, cells that change, comments, links to share.

    Who comes in needs a token (`faultwire token add`) or an account of the OpenID provider. Every change and
    every refusal stands in the audit log, which is a tape. Serves until Ctrl-C.
    """
    from faultwire.cli._store_options import with_store
    from faultwire.cli.tape_keep import project_signer
    from faultwire.errors import UsageError
    from faultwire.ingestion.serve import Listen
    from faultwire.store.objects import Objects
    from faultwire.tape.evidence.keyring import name_for
    from faultwire.tape.files.find import STATE
    from faultwire.tape.redact.redactor import load_key

    with with_store():
        from faultwire.service import serve as program
        from faultwire.service.audit import FIRST
        from faultwire.service.settings import load
    if address is not None and not address.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise UsageError(
            "found an `--address` that is not https://", code="usage.address",
            hint="cookies and tokens would be readable on the way",
        )  # fmt: skip
    service = program.Service(
        store=store, settings=load(settings), listen=Listen.parse(place, cert, key, None, own_tokens=True),
        objects=None if tapes is None else Objects(tapes), audit=placed(folder / FIRST).parent,
        origin=name_for(Path.cwd().name), signer=project_signer(),
        key=load_key(STATE / "keys" / "redaction.key"), address=address and address.rstrip("/"),
        scraper=None if scraper is None else program.scraper_token(scraper),
        logs=_logs(logs, witness_store),
    )  # fmt: skip

    def ready(found: program.Ready) -> None:
        if format_ == "json":
            key = {} if found.witness is None else {"witness": found.witness}
            show_json({"url": found.url, "audit": str(found.audit), **key})
        else:
            show(found.url)
            if found.witness is not None:
                say(f"cosigns as {found.witness}")
            say(f"the audit log is {found.audit}; Ctrl-C ends")

    ended_by = program.serve(service, ready)
    raise SystemExit(130 if ended_by == signal.SIGINT else 0)


def _logs(keys: tuple[str, ...], folder: Path) -> Logs | None:
    if not keys:
        return None
    from faultwire.certificate.witness import LOCK, by_origin
    from faultwire.service.serve import Logs
    from faultwire.tape.evidence.keyring import given_key

    return Logs(by_origin(list(map(given_key, keys))), placed(folder / LOCK).parent)
