"""`faultwire tape export`: tapes in other formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere, anywhere_option, placed
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = {
    "jsonl": "faultwire.tape.export.jsonl",
    "har": "faultwire.tape.export.har",
    "flows": "faultwire.mitm.flowfile.flowfile",
    "otlp": "faultwire.tape.export.otlp",
    "bundle": "faultwire.tape.export.bundle",
    "pdf": "faultwire.tape.export.pdf",
    "personal-data": "faultwire.tape.export.personal_data",
}
"""What `--to` names, and the module whose `write(path, out)` makes it; it returns how much it wrote."""
FRAMEWORKS = ("eu-ai-act", "gdpr", "hipaa", "iso-42001", "nist-ai-rmf", "pci-dss", "soc-2")
"""Laws and standards: `tape/export/frameworks/NAME.toml` has the questions of each."""
FOR_AUDITORS = ("bundle", "pdf")
"""Those that say whether the tape verifies."""


@click.command()
@click.argument("name")
@click.option(
    "--to", "--format", "format_", type=click.Choice(["tape", *FORMATS]), default="jsonl", show_default=True
)
@click.option("-o", "--output", metavar="FILE", help="The file to write.")
@anywhere_option()
@click.option(
    "--endpoint", metavar="URL", help="Send `otlp` there instead, as http://127.0.0.1:4318/v1/traces."
)
@click.option(
    "--for",
    "frameworks",
    multiple=True,
    type=click.Choice(FRAMEWORKS),
    help="Answer the questions of this law or standard in a `bundle`; repeatable.",
)
@click.option(
    "--share",
    is_flag=True,
    help="Give redacted values placeholders that cannot be linked to other tapes.",
)
@click.option(
    "--with-verifier",
    is_flag=True,
    help="Put verify_tape.py beside `jsonl`: it checks the export without faultwire.",
)
def export(
    name: str,
    format_: str,
    output: str | None,
    endpoint: str | None,
    frameworks: tuple[str, ...],
    share: bool,
    with_verifier: bool,
) -> None:
    """Export a tape to another format.

    `jsonl` is complete and can be verified with verify_tape.py alone; `har` opens in browsers' network
    panels, `flows` in mitmproxy; `otlp` is GenAI spans; `bundle` (JSON) and `pdf` list for auditors what
    was recorded and what is missing; `personal-data` counts it by kind and severity, without values;
    `tape` is another tape, for `--share`.

    Exits 0, or 1 if a `bundle` or `pdf` was written of a tape that does not verify.
    """
    import tempfile
    from pathlib import Path

    from faultwire.cli.output import show
    from faultwire.cli.tape_keep import origin_and_signer
    from faultwire.errors import UsageError
    from faultwire.tape.evidence.keyring import name_for
    from faultwire.tape.files import copy
    from faultwire.tape.files.find import find

    source = find(name)
    if endpoint is not None:
        _send(source, format_, output, endpoint)
        return
    if output is None:
        raise UsageError("found no `--output`, expected a file to write", code="usage.output")
    if with_verifier and format_ != "jsonl":
        raise UsageError(
            f"found `--to {format_}`, expected `jsonl` with `--with-verifier`", code="usage.output"
        )
    if frameworks and format_ != "bundle":
        raise UsageError(f"found `--to {format_}`, expected `bundle` with `--for`", code="usage.output")
    target = Path(output)
    if format_ == "tape":
        made = (copy.share if share else copy.clone)(source, placed(target), *origin_and_signer(target))
        show(f"{target}: {counted(made.events, 'event')}, sealed")
        return
    if not share:
        show(f"{target}: {_write(source, target, format_, frameworks)}")
        if with_verifier:
            _with_verifier(source, target)
        _judge(source, target, format_)
        return
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / f"{name_for(source.stem)}.tape"
        try:
            copy.share(source, draft, *origin_and_signer(draft))
        except OSError as error:
            raise UsageError(
                f"cannot write below `{folder}`: {error.strerror}", code="usage.output"
            ) from error
        show(f"{target}: {_write(draft, target, format_, frameworks)}")
        if with_verifier:
            _with_verifier(draft, target)
        _judge(draft, target, format_)


def _judge(tape: Path, target: Path, format_: str) -> None:
    """End with exit code 1 if auditors were given a tape that does not verify."""
    from faultwire.cli.output import say
    from faultwire.tape.evidence.keyring import KeyRing
    from faultwire.tape.evidence.verify import verify

    if format_ in FOR_AUDITORS and not verify(tape, KeyRing().trusted()).ok:
        say(f"{tape} does not verify: the findings are in {target}")
        raise SystemExit(1)


def _with_verifier(source: Path, target: Path) -> None:
    """Write the verifier script beside an export, and print how to run it."""
    import shlex

    from faultwire.cli.output import say, show
    from faultwire.tape.evidence.standalone import place
    from faultwire.tape.evidence.verify import verify

    show(f"{place(target.parent, anywhere=anywhere())}: verifies it with Python only")
    sealed_by = verify(source).key
    key = f" --key {shlex.quote(sealed_by)}" if sealed_by else " --no-signature"
    say(f"python3 verify_tape.py {shlex.quote(target.name)}{key}")
    if sealed_by:
        say("send the key through another channel than the tape, or an attacker could replace both")


def _write(source: Path, target: Path, format_: str, frameworks: tuple[str, ...]) -> str:
    from importlib import import_module

    from faultwire.errors import UsageError
    from faultwire.output_file import create

    writer = import_module(FORMATS[format_])
    try:
        with create(target, anywhere=anywhere()) as out:
            more = {"frameworks": frameworks} if frameworks else {}
            count = writer.write(source, out, **more)
        return f"{count} {writer.UNIT}"
    except FileExistsError as error:
        raise UsageError(
            f"`{target}` exists already", code="usage.output", hint="choose another file"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write `{target}`: {error.strerror}", code="usage.output") from error


def _send(source: Path, format_: str, output: str | None, endpoint: str) -> None:
    from faultwire.cli.output import show
    from faultwire.errors import UsageError
    from faultwire.tape.export import otlp

    if format_ != "otlp" or output is not None:
        raise UsageError(
            "`--endpoint` sends spans, expected `--to otlp` and no `--output` with it", code="usage.endpoint"
        )
    show(f"{endpoint}: {otlp.send(source, endpoint)} {otlp.UNIT}")
