"""`faultwire tape import`: tapes made from other tools' recordings."""

from __future__ import annotations

import re  # noqa: TID251  # a fixed pattern, over an option's value
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, show, show_json
from faultwire.cli.tape_keep import output_option
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._api import Imported, Item

READERS = {
    "har": "faultwire.tape.import_.har",
    "flows": "faultwire.mitm.flowfile.import_",
    "tracefork": "faultwire.tape.import_.tracefork",
    "agentops": "faultwire.tape.import_.agentops",
}
"""What `--from` names, and the module whose `read(path)` tells what is in the file."""


_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*")


class _PrintFormat(click.Choice[str]):
    """Refuses the format of a file and names the option for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value. Raises UsageError, BadParameter."""
        from faultwire.errors import UsageError

        if value in READERS:
            raise UsageError(
                f"found `--format {value}`, expected `terminal` or `json`: it is how the result is printed",
                code="usage.bad_value",
                hint=f"`--from {value}` names the file's format, which is detected by default",
            )
        return super().convert(value, param, ctx)


@click.command(name="import")
@click.argument("file")
@click.option(
    "--from",
    "source",
    type=click.Choice([*READERS]),
    help="The file's format; detected from its first bytes by default.",
)
@output_option
@click.option("--digest", metavar="HEX", help="The digest from a tracefork receipt, or a prefix of it.")
@click.option(
    "--hmac-key",
    metavar="FILE",
    help="A file with the HMAC key that an ELS 1.0 server signed its seals with.",
)
@click.option(
    "--host",
    metavar="NAME",
    help="Who was asked, where a tracefork tape holds no URL. Default: the host of the SDK that recorded it.",
)
@click.option(
    "--format",
    "format_",
    type=_PrintFormat(["terminal", "json"]),
    default="terminal",
    show_default=True,
    help="How to print the result on stdout.",
)
def import_(
    file: str,
    source: str | None,
    output: str,
    digest: str | None,
    hmac_key: str | None,
    host: str | None,
    format_: Format,
) -> None:
    """Make a tape from a HAR, mitmproxy flows, a tracefork tape or an AgentOps Replay log.

    Secrets are redacted as in recorded traffic. The tape is sealed and marked as not recorded by the
    proxy. Exits 0 if FILE has no problems, 1 if it has, 3 if it cannot be read (no tape is written).
    """
    from pathlib import Path

    from faultwire.cli.tape_keep import origin_and_signer, target_of
    from faultwire.errors import UsageError
    from faultwire.tape.files.find import STATE
    from faultwire.tape.import_._api import store
    from faultwire.tape.import_._source import digest_of
    from faultwire.tape.import_.looks import format_of
    from faultwire.tape.redact.redactor import load_key

    path = Path(file)
    about = {"imported_file": path.name, "imported_sha256": digest_of(path)}
    kind = source or format_of(path)
    if digest is not None and kind != "tracefork":
        raise UsageError(
            "found `--digest` with another format, expected a tracefork tape", code="usage.digest"
        )
    if hmac_key is not None and kind != "agentops":
        raise UsageError(
            "found `--hmac-key` with another format, expected an AgentOps log", code="usage.hmac_key"
        )
    options: dict[str, Any] = {}
    if digest is not None:
        options["digest"] = digest
    if hmac_key is not None:
        options["key"] = _key(Path(hmac_key))
    if host is not None:
        options["host"] = _host(host, kind)
    target = target_of(output)
    origin, signer = origin_and_signer(target)
    key = load_key(STATE / "keys" / "redaction.key")
    done = store(_items(kind, path, options), target, kind, origin, signer, key=key, about=about)
    if format_ == "json":
        show_json(_document(done))
    else:
        show("\n".join(_lines(done)))
    raise SystemExit(0 if done.clean else 1)


def _key(path: Path) -> bytes:
    from faultwire.errors import UsageError

    try:
        key = path.read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}", code="usage.hmac_key") from error
    if not key:
        raise UsageError(f"found no key in `{path}`", code="usage.hmac_key")
    return key


def _host(name: str, kind: str) -> str:
    from faultwire.errors import UsageError

    if kind != "tracefork":
        raise UsageError(
            "found `--host` with another format, expected a tracefork tape", code="usage.import_host"
        )
    if len(name) > 253 or not _HOST_NAME.fullmatch(name):
        raise UsageError(f"found `--host {name[:80]}`, expected a host name", code="usage.import_host")
    return name.lower()


def _items(kind: str, path: Path, options: dict[str, Any]) -> Iterator[Item]:
    from importlib import import_module

    reader = import_module(READERS[kind])
    items: Iterator[Item] = reader.read(path, **options)
    return items


def _lines(done: Imported) -> Iterator[str]:
    held = f"{counted(done.exchanges, 'exchange')}" + (
        f" and {counted(done.events, 'event')}" if done.events else ""
    )
    where = f"{done.sessions} {'session' if done.sessions == 1 else 'sessions'}"
    yield f"{done.path}: {held} in {where} from {done.source}, sealed"
    for one in done.findings:
        yield f"  {'note' if one.note else 'bad'} {one.code}: {one.message}"
    if done.more:
        yield f"  and {counted(done.more, 'more finding')}"
    yield "  evidence NON_AUTHORITATIVE"


def _document(done: Imported) -> dict[str, Any]:
    return {
        "path": str(done.path),
        "from": done.source,
        "ok": done.clean,
        "sessions": done.sessions,
        "exchanges": done.exchanges,
        "events": done.events,
        "findings": [{"code": f.code, "message": f.message, "note": f.note} for f in done.findings],
        "more_findings": done.more,
    }
