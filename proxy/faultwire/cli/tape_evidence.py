"""`faultwire tape verify | seal | salvage | prove`: tapes as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli.output import Format, fields, format_option, say, show, show_json
from faultwire.cli.tape_keep import output_option, project_signer, target_of
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey
    from faultwire.tape.evidence.verify import VerifyReport

VOID = 3
"""The exit code of a tape that cannot be read."""

_keys_option = click.option(
    "--key",
    "given",
    multiple=True,
    metavar="KEY|FILE",
    help="Trust only this verifier key (repeatable) and require its seal; by default the project's "
    "own key and those in `faultwire keys show` are trusted.",
)


@click.command()
@click.argument("names", nargs=-1, required=True)
@_keys_option
@format_option
@click.option("--json", "format_", flag_value="json", help="The same as --format json.")
def verify(names: tuple[str, ...], given: tuple[str, ...], format_: Format) -> None:
    """Check that tapes hold what was recorded, and who sealed them.

    A NAME is a tape, a path, a run, JSON lines (`.jsonl`) that `tape export` wrote, or a proof that
    `tape prove` wrote. Exits 0 if all verify, 1 if one does not, 3 if one cannot be read.
    """
    trusted = _trusted(given)
    found = [_judged(name, trusted, demanded=bool(given)) for name in names]
    if format_ == "json":
        show_json([one.document for one in found])
    else:
        for one in found:
            show(one.text)
    raise SystemExit(max((one.code for one in found), default=0))


@click.command()
@click.argument("name")
def seal(name: str) -> None:
    """Seal a tape that has no seal, after a kill or from elsewhere."""
    from faultwire.tape.evidence.sealer import seal_path, seal_tape
    from faultwire.tape.files.find import find

    path = find(name)
    key = project_signer()
    checkpoint = seal_tape(path, key)
    show(
        fields(
            {
                "sealed": str(path),
                "events": str(checkpoint.size),
                "root": checkpoint.root.hex(),
                "key": str(key.verifier),
                "file seal": str(seal_path(path)),
            }
        )
    )


@click.command()
@click.argument("name")
@output_option
def salvage(name: str, output: str) -> None:
    """Copy the intact prefix of a damaged tape to a new one.

    Exits 0 if everything was intact, 1 if some was lost, 3 if the tape cannot be read.
    """
    from faultwire.tape.evidence.salvage import salvage as save
    from faultwire.tape.files.find import find

    target = target_of(output)
    done = save(find(name), target)
    show(f"{target}: {counted(done.events, 'event')} and {counted(done.blobs, 'body', 'bodies')}, unchanged")
    if done.reason:
        say(f"the rest was not copied: {done.reason}")
    raise SystemExit(1 if done.reason else 0)


@click.command()
@click.argument("name")
@click.option("--event", "seq", type=click.IntRange(min=0), required=True, help="The event's number.")
@click.option("-o", "--output", metavar="FILE", help="Output file; stdout by default.")
@anywhere_option()
def prove(name: str, seq: int, output: str | None) -> None:
    """Prove that one event is on a sealed tape without disclosing the rest.

    The proof holds the event, its inclusion path to the sealed root, and the signed checkpoint:
    `faultwire tape verify FILE.tlog-proof --key KEY` checks it.
    """
    from pathlib import Path

    from faultwire.errors import UsageError
    from faultwire.output_file import create
    from faultwire.tape.evidence.inclusion_proof import SUFFIX, prove as make
    from faultwire.tape.files.find import find

    if output is not None and not output.endswith(SUFFIX):
        raise UsageError(
            f"found output `{output}`, expected a name that ends in `{SUFFIX}`", code="usage.output"
        )
    text = make(find(name), seq)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with create(Path(output), anywhere=anywhere()) as out:
            out.write(text.encode())
    except FileExistsError as error:
        raise UsageError(
            f"`{output}` exists already", code="usage.output", hint="choose another file"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write `{output}`: {error.strerror}", code="usage.output") from error
    show(output, whole=True)


# ---------------------------------------------------------------- parts


def _trusted(names: Sequence[str]) -> tuple[VerifierKey, ...]:
    from faultwire.tape.evidence.keyring import KeyRing, given_key

    return tuple(map(given_key, names)) if names else KeyRing().trusted()


class _Judged(NamedTuple):
    """The result for one name: as JSON, as text, and its exit code."""

    document: dict[str, Any]
    text: str
    code: int


def _judged(name: str, trusted: Sequence[VerifierKey], *, demanded: bool) -> _Judged:
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.evidence.inclusion_proof import SUFFIX
    from faultwire.tape.evidence.verify import verify as check
    from faultwire.tape.export import verify_export
    from faultwire.tape.files.find import find

    try:
        if name.endswith(SUFFIX):
            return _proof(name, trusted)
        if name.endswith(verify_export.SUFFIX):
            report = verify_export.verify(Path(name), trusted, demanded=demanded)
        else:
            report = check(find(name), trusted, demanded=demanded)
    except TapeError as error:
        error_json = {"path": name, "ok": False, "error": error.code, "message": error.message}
        return _Judged(error_json, f"{name}: unreadable\n  {error.code}: {error.message}", VOID)
    return _Judged(report.dump(), _verdict(report), 0 if report.ok else 1)


def _verdict(report: VerifyReport) -> str:
    from faultwire.tape.evidence.verify import evidence_class

    state = "verifies" if report.ok else f"does not verify, first bad event {report.first_bad}"
    if not report.ok and report.first_bad is None:
        state = "does not verify"
    exchanges, bodies = counted(report.exchanges, "exchange"), counted(report.blobs, "body", "bodies")
    counts = f"{counted(report.events, 'event')}, {exchanges}, {bodies}"
    lines = [f"{report.path}: {state} ({counts})", f"  root {report.root}"]
    if report.key:
        lines.append(f"  sealed by {report.key} ({'trusted' if report.trusted else 'not trusted here'})")
    known, reasons = evidence_class(report)
    if known is not None:
        lines.append(f"  evidence {known}")
        messages = {finding.message for finding in report.findings}
        lines += [f"  because {why}" for why in reasons if why not in messages]
    lines += [f"  {'note' if f.is_note else 'bad'} {f.code}: {f.message}" for f in report.findings]
    if any(f.code == "seal_untrusted" for f in report.findings):
        lines.append("  hint: name the sealer's key with --key, or trust it: faultwire keys trust KEY")
    return "\n".join(lines)


def _proof(name: str, trusted: Sequence[VerifierKey]) -> _Judged:
    """The result of a proof. Raises TapeError if it cannot be read."""
    import json
    from pathlib import Path

    from faultwire.errors import TapeTampered
    from faultwire.tape.evidence.inclusion_proof import check

    text = _read(Path(name))
    try:
        proven = check(text, trusted)
    except TapeTampered as error:
        error_json = {"path": name, "ok": False, "error": error.code, "message": error.message}
        return _Judged(error_json, f"{name}: invalid proof\n  {error.code}: {error.message}", 1)
    log = {"origin": proven.checkpoint.origin, "size": proven.checkpoint.size}
    about = {"ok": True, "index": proven.index, **log, "key": str(proven.key), "event": proven.event}
    what = f"event {proven.index} is on tape `{proven.checkpoint.origin}`, sealed by {proven.key}"
    event_json = json.dumps(proven.event, indent=2, ensure_ascii=True)
    return _Judged({"path": name, **about}, f"{name}: {what}\n{event_json}", 0)


def _read(path: Path) -> str:
    from faultwire.errors import TapeError, TapeNotFound
    from faultwire.tape.evidence.inclusion_proof import MAX_SIZE
    from faultwire.tape.format.small_file import small_file

    try:
        return small_file(path, MAX_SIZE, links=True).decode("utf-8", "replace")
    except FileNotFoundError as error:
        raise TapeNotFound(f"no proof at `{path}`") from error
    except OSError as error:
        raise TapeError(f"cannot read proof `{path}`: {error.strerror}", code="tape.unreadable") from error
