"""`faultwire verify`: check that everything a run needs works."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from faultwire.cli.output import Format


@click.command("verify", short_help="Check that a configuration is ready to run: agent, proxy, model.")
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
    """Check everything that a run of a configuration needs, by running it once.

    Loads the configuration with every profile, pattern and reference in it, starts the proxy, runs the
    agent on the first golden prompt without faults and checks that its traffic arrives, and, if a
    model writes the mutations, has it write one.

    Exits 0 if everything works, 1 if the agent's answer is bad, 2 if the configuration is wrong or the
    agent does not start, 3 if a run would be inconclusive.
    """
    sys.exit(verified(config, format_))


def verified(config: Path, format_: Format = "terminal") -> int:
    """Run the checks, print the findings, and return the exit code. Raises ConfigError and AgentError."""
    from faultwire.cli import _verifying
    from faultwire.cli._ended import interruptible
    from faultwire.cli.doctor import show_findings
    from faultwire.config.load import load

    with interruptible():
        findings = list(_verifying.examined(load(config)))
    show_findings(findings, format_)
    return _verifying.code(findings)
