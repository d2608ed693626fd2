"""`faultwire mock`: the mock provider by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import fields, format_option, say, show, show_json

if TYPE_CHECKING:
    from faultwire.mock.serving import Listening


@click.command("mock", short_help="Run the mock provider by itself.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="HTTP port; a free port by default.")
@click.option("--tls", is_flag=True, help="Also listen for HTTPS, with its own CA.")
@click.option(
    "--tls-port", type=click.IntRange(0, 65535), default=0, help="HTTPS port; a free port by default."
)
@click.option(
    "--script",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A YAML script of its answers; default answers otherwise.",
)
@click.option(
    "--first-event-delay-ms",
    type=click.IntRange(0, 600_000),
    default=0,
    help="Delay before a model's first event.",
)
@click.option(
    "--chunk-delay-ms", type=click.IntRange(0, 600_000), default=0, help="Pause between events of a stream."
)
@click.option(
    "--tokens-per-second",
    "tokens_per_s",
    type=click.FloatRange(0, 100_000, min_open=True),
    help="Tokens per second, one event per token; instead of --chunk-delay-ms.",
)
@click.option(
    "--jitter",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Relative variation of each pause: 0.3 is ±30 %.",
)
@click.option("--seed", type=int, default=42, help="Random seed of the jitter.", show_default=True)
@click.option("--list", "list_", is_flag=True, help="List the supported endpoints and exit.")
@format_option
def mock(
    port: int,
    tls: bool,
    tls_port: int,
    script: Path | None,
    first_event_delay_ms: int,
    chunk_delay_ms: int,
    tokens_per_s: float | None,
    jitter: float,
    seed: int,
    list_: bool,
    format_: str,
) -> None:
    """Run a server that answers like the providers: no key, no network, deterministic.

    Prints the base URLs for an SDK and runs until Ctrl-C. Any model name and any key work. `exec --mock`
    starts one itself. A script can also make calls fail: see docs/reference/mock.md.

    \b
    Examples:
      faultwire mock --port 8080
      faultwire mock --script talk.yaml --tls
      faultwire mock --first-event-delay-ms 400 --tokens-per-second 60 --jitter 0.4
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
        tokens_per_s=tokens_per_s,
        jitter=jitter,
        seed=seed,
    )
    serve(settings, lambda listening: _ready(listening, format_))


def _ready(listening: Listening, format_: str) -> None:
    from faultwire.mock._registry import dialects

    if format_ == "json":
        from dataclasses import asdict

        show_json(asdict(listening))
        return
    roots = {"": f"http://127.0.0.1:{listening.http}"}
    if listening.https is not None:
        roots[" (HTTPS)"] = f"https://127.0.0.1:{listening.https}"
    offered = dialects().values()
    rows = [(d.provider + label, root + d.base) for label, root in roots.items() for d in offered]
    show(fields([*rows, *((f"MCP{label}", f"{root}/mcp") for label, root in roots.items())]))
    if listening.ca is not None:
        show(fields({"CA to trust": listening.ca}))
    say("ready; Ctrl-C ends it")


def _list(format_: str) -> None:
    from faultwire.mock._registry import dialects
    from faultwire.mock.hosts import hosts
    from faultwire.mock.sockets import ENDPOINTS
    from faultwire.wire.recognition.telemetry import PATHS

    rows = [{"method": "POST", "path": f"…{d.path}", "speaks": d.provider} for d in dialects().values()]
    rows += [{"method": "GET", "path": f"…{e.path}", "speaks": e.provider} for e in ENDPOINTS]
    rows.append({"method": "POST", "path": "…/mcp", "speaks": "MCP, streamable HTTP"})
    rows.append({"method": "GET", "path": "…/sse", "speaks": "MCP, HTTP+SSE of 2024-11-05"})
    rows.append({"method": "GET", "path": "…/models", "speaks": "model list"})
    rows.append({"method": "GET", "path": "…/api/tags", "speaks": "Ollama's model list"})
    rows.append({"method": "GET", "path": "…/.well-known/agent-card.json", "speaks": "A2A agent's card"})
    rows.append({"method": "POST", "path": "…", "speaks": "A2A over JSON-RPC"})
    rows.append({"method": "POST", "path": "…/message:send", "speaks": "A2A over HTTP+JSON"})
    rows += [
        {"method": "POST", "path": f"…{path}", "speaks": "telemetry, taken and forgotten"} for path in PATHS
    ]
    if format_ == "json":
        show_json({"endpoints": rows, "hosts": list(hosts())})
        return
    show(fields((f"{row['method']} {row['path']}", row["speaks"]) for row in rows))
    show()
    show("Stands in for: " + ", ".join(hosts()))
