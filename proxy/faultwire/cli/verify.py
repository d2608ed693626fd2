"""`faultwire verify`: is everything there that a run of this configuration needs?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from faultwire.cli.output import Format


@click.command("verify", short_help="Check a configuration for real: agent, proxy, model.")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=Path("faultwire.yaml"),
    show_default=True,
    help="The configuration.",
)
@format_option
def verify(config: Path, format_: Format) -> None:
    """Check everything that a run of a configuration needs, by doing it once.

    The configuration is loaded with every profile, pattern and reference in it; the proxy is started;
    the agent is asked the first golden prompt with nothing broken, and its traffic must arrive; and
    where a model writes the mutations, it must write one.

    Exits 0 where all is well, 1 where the agent answers badly, 2 where the configuration is wrong or
    the agent does not start, and 3 where nothing would be learned.
    """
    sys.exit(verified(config, format_))


def verified(config: Path, format_: Format = "terminal") -> int:
    """Check, print what was found, and give the exit code. Raises ConfigError and AgentError."""
    from faultwire.cli import _verifying
    from faultwire.cli._ended import interruptible
    from faultwire.cli.doctor import show_findings
    from faultwire.config.load import load

    with interruptible():
        findings = list(_verifying.examined(load(config)))
    show_findings(findings, format_)
    return _verifying.code(findings)
