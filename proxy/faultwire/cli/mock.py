"""`faultwire mock`: the mock provider by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import fields, format_option, say, show, show_json

if TYPE_CHECKING:
    from faultwire.mock.serving import Listening


@click.command("mock", short_help="Run the mock provider by itself.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port for HTTP; any free one by default."
)
@click.option("--tls", is_flag=True, help="Listen for HTTPS as well, with a CA of its own.")
@click.option(
    "--tls-port", type=click.IntRange(0, 65535), default=0, help="Port for HTTPS; any free one by default."
)
@click.option(
    "--script",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What it says, as YAML; small talk by default.",
)
@click.option(
    "--first-event-delay-ms",
    type=click.IntRange(0, 600_000),
    default=0,
    help="How long a model thinks before its first event.",
)
@click.option(
    "--chunk-delay-ms", type=click.IntRange(0, 600_000), default=0, help="Pause between events of a stream."
)
@click.option("--list", "list_", is_flag=True, help="List what it speaks, and start nothing.")
@format_option
def mock(
    port: int,
    tls: bool,
    tls_port: int,
    script: Path | None,
    first_event_delay_ms: int,
    chunk_delay_ms: int,
    list_: bool,
    format_: str,
) -> None:
    """Run a server that answers as the providers do: no key, no network, always the same.

    It prints the base URLs to give to an SDK, and runs until Ctrl-C. Any model name and any key will
    do. `exec --mock` starts one by itself.

    \b
    Examples:
      faultwire mock --port 8080
      faultwire mock --script talk.yaml --tls
      faultwire mock --list
    """
    if list_:
        _list(format_)
        return
    from faultwire.mock.serving import MockSettings, serve

    settings = MockSettings(
        script=str(script) if script else None,
        port=port,
        tls=tls,
        tls_port=tls_port,
        chunk_delay_ms=chunk_delay_ms,
        first_event_delay_ms=first_event_delay_ms,
    )
    serve(settings, lambda listening: _ready(listening, format_))


def _ready(listening: Listening, format_: str) -> None:
    from faultwire.mock._registry import BUILTIN

    if format_ == "json":
        from dataclasses import asdict

        show_json(asdict(listening))
        return
    roots = {"": f"http://127.0.0.1:{listening.http}"}
    if listening.https is not None:
        roots[" (HTTPS)"] = f"https://127.0.0.1:{listening.https}"
    show(fields((d.provider + label, root + d.base) for label, root in roots.items() for d in BUILTIN))
    if listening.ca is not None:
        show(fields({"CA to trust": listening.ca}))
    say("ready; Ctrl-C ends it")


def _list(format_: str) -> None:
    from faultwire.mock._registry import BUILTIN
    from faultwire.mock.hosts import PROVIDER_HOSTS, PROVIDER_PATTERNS

    rows = [{"method": "POST", "path": f"…{d.path}", "speaks": d.provider} for d in BUILTIN]
    rows.append({"method": "GET", "path": "…/models", "speaks": "model list"})
    rows.append({"method": "GET", "path": "…/api/tags", "speaks": "Ollama's model list"})
    if format_ == "json":
        show_json({"endpoints": rows, "hosts": [*PROVIDER_HOSTS, *PROVIDER_PATTERNS]})
        return
    show(fields((f"{row['method']} {row['path']}", row["speaks"]) for row in rows))
    show()
    show("Stands in for: " + ", ".join((*PROVIDER_HOSTS, *PROVIDER_PATTERNS)))
