"""`faultwire witness`: a service that cosigns the checkpoints of logs which only grow."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from faultwire.cli._listen_options import FILE, listen_options
from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.output import Format, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from faultwire.ingestion.app import Door


@click.command(short_help="Cosign the checkpoints of logs that only grow.")
@click.option(
    "--log",
    "logs",
    multiple=True,
    required=True,
    metavar="KEY|FILE",
    help="A log, by its verifier key, whose name is the log's origin (repeatable).",
)
@click.option("--name", default="faultwire-witness", show_default=True, help="What the witness is called.")
@click.option(
    "--store",
    "folder",
    type=click.Path(path_type=Path),
    default=".faultwire/witness",
    show_default=True,
    help="The folder of its key, and of what it has cosigned.",
)
@listen_options("TLS and a token")
@click.option("--token-file", type=FILE, metavar="FILE", help="Demand the bearer token in this file.")
@anywhere_option()
@format_option
def witness(
    logs: tuple[str, ...], name: str, folder: Path, place: str, cert: Path | None, key: Path | None,
    token_file: Path | None, format_: Format,
) -> NoReturn:  # fmt: skip
    """Cosign the checkpoints of logs, each only where it grew out of the last one.

    The interface is that of C2SP tlog-witness: POST /add-checkpoint, answered with a cosignature/v1. What is
    cosigned is on the disk before the answer leaves. Serves until Ctrl-C.
    """
    import os
    from contextlib import closing

    from faultwire.certificate.witness import LOCK, Witness, by_origin
    from faultwire.certificate.witness_app import application
    from faultwire.ingestion.app import Door
    from faultwire.ingestion.serve import Listen
    from faultwire.tape.evidence.keyring import given_key
    from faultwire.workbench.http_server import HttpServer

    listen = Listen.parse(place, cert, key, token_file)
    known = by_origin(list(map(given_key, logs)))
    with (
        closing(Witness(placed(folder / LOCK).parent, name, known)) as made,
        closing(listen.bind()) as bound,
    ):
        port = int(bound.getsockname()[1])
        door = Door(listen.hosts(port), listen.token, os.getuid())
        server = HttpServer(application(made, _admitted(door)), lambda: None, cert, key)
        host = f"[{listen.host}]" if ":" in listen.host else listen.host
        url = f"{'https' if cert else 'http'}://{host}:{port}"
        if format_ == "json":
            show_json({"url": url, "key": str(made.key), "logs": sorted(known)})
        else:
            show(url)
            say(f"cosigns as {made.key}; Ctrl-C ends")
        server.run(sockets=[bound])
    raise SystemExit(130 if server.ended_by == signal.SIGINT else 0)


def _admitted(door: Door) -> Callable[[Request], Response | None]:
    from starlette.responses import PlainTextResponse

    from faultwire.ingestion.refusal import Refused

    def admitted(request: Request) -> Response | None:
        try:
            door.check(request)
        except Refused as why:
            return PlainTextResponse(f"{why.message}\n", why.status)
        return None

    return admitted
