"""`faultwire tape verify | seal | salvage | prove`: tapes as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, fields, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.note import VerifierKey
    from faultwire.tape.verify import VerifyReport

_keys_option = click.option(
    "--key",
    "given",
    multiple=True,
    metavar="KEY|FILE",
    help="Trust only this verifier key (repeatable), and demand its seal; without one, the project's "
    "own key and those in `faultwire keys show` are trusted.",
)


@click.command()
@click.argument("names", nargs=-1, required=True)
@_keys_option
@format_option
def verify(names: tuple[str, ...], given: tuple[str, ...], format_: Format) -> None:
    """Check that tapes hold what was recorded, and who sealed them.

    A NAME is a tape, a path, a run, or a proof that `tape prove` wrote. Exit code: 0 all verify,
    1 some does not, 3 some cannot be read.
    """
    from faultwire.errors import TapeError
    from faultwire.tape.find import find
    from faultwire.tape.prove import SUFFIX
    from faultwire.tape.verify import exit_code
    from faultwire.tape.verify import verify as check

    trusted = _trusted(given)
    if any(name.endswith(SUFFIX) for name in names):
        _proofs(names, trusted, format_)
        return
    reports: list[VerifyReport] = []
    unreadable: list[tuple[str, TapeError]] = []
    for name in names:
        try:
            reports.append(check(find(name), trusted, demanded=bool(given)))
        except TapeError as error:
            unreadable.append((name, error))
    if format_ == "json":
        show_json([*(r.dump() for r in reports), *(_unreadable(*one) for one in unreadable)])
    else:
        for report in reports:
            show(_verdict(report))
        for name, why in unreadable:
            show(f"{name}: unreadable\n  {why.code}: {why.message}")
    raise SystemExit(exit_code(reports, unreadable=len(unreadable)))


@click.command()
@click.argument("name")
def seal(name: str) -> None:
    """Seal a tape that was left without one: after a kill, or recorded elsewhere."""
    from faultwire.tape.find import find
    from faultwire.tape.keys import KeyRing
    from faultwire.tape.seal import seal_path, seal_tape

    path = find(name)
    key = KeyRing().signer_or_new(_project())
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
@click.option("-o", "--output", required=True, metavar="FILE", help="The new tape.")
def salvage(name: str, output: str) -> None:
    """Copy the proven prefix of a damaged tape to a new one.

    Exit code: 0 all of it was sound, 1 some was lost, 3 it cannot be read.
    """
    from pathlib import Path

    from faultwire.tape.find import find
    from faultwire.tape.salvage import salvage as save

    done = save(find(name), Path(output))
    show(f"{output}: {done.events} events and {done.blobs} bodies, each as it was recorded")
    if done.reason:
        say(f"what comes after was left behind: {done.reason}")
    raise SystemExit(1 if done.reason else 0)


@click.command()
@click.argument("name")
@click.option("--event", "seq", type=click.IntRange(min=0), required=True, help="The event's number.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; stdout without one.")
def prove(name: str, seq: int, output: str | None) -> None:
    """Prove that one event is on a sealed tape, to somebody who gets neither the tape nor the rest.

    The proof holds the event itself, its way to the sealed root, and the signed checkpoint:
    `faultwire tape verify FILE.tlog-proof --key KEY` checks it.
    """
    from pathlib import Path

    from faultwire.errors import UsageError
    from faultwire.tape.find import find
    from faultwire.tape.prove import SUFFIX
    from faultwire.tape.prove import prove as make

    if output is not None and not output.endswith(SUFFIX):
        raise UsageError(
            f"found output `{output}`, expected a name that ends in `{SUFFIX}`", code="usage.output"
        )
    text = make(find(name), seq)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{output}`: {error.strerror}", code="usage.output") from error
    show(output)


# ---------------------------------------------------------------- parts


def _trusted(given: Sequence[str]) -> tuple[VerifierKey, ...]:
    from faultwire.tape.keys import KeyRing, given_key

    return tuple(map(given_key, given)) if given else KeyRing().trusted()


def _project() -> str:
    from pathlib import Path

    return Path.cwd().name


def _unreadable(name: str, error: TapeError) -> dict[str, Any]:
    return {"path": name, "ok": False, "error": error.code, "message": error.message}


def _verdict(report: VerifyReport) -> str:
    from faultwire.tape.verify import evidence_class

    state = "verifies" if report.ok else f"does not verify, first bad event {report.first_bad}"
    if not report.ok and report.first_bad is None:
        state = "does not verify"
    counts = f"{report.events} events, {report.exchanges} exchanges, {report.blobs} bodies"
    lines = [f"{report.path}: {state} ({counts})", f"  root {report.root}"]
    if report.key:
        lines.append(f"  sealed by {report.key} ({'trusted' if report.trusted else 'not trusted here'})")
    if (known := evidence_class(report)[0]) is not None:
        lines.append(f"  evidence {known}")
    lines += [f"  {'note' if f.is_note else 'bad'} {f.code}: {f.message}" for f in report.findings]
    if any(f.code == "seal_untrusted" for f in report.findings):
        lines.append("  hint: name the sealer's key with --key, or trust it: faultwire keys trust KEY")
    return "\n".join(lines)


def _proofs(names: Sequence[str], trusted: Sequence[VerifierKey], format_: Format) -> None:
    """Proofs instead of tapes."""
    from pathlib import Path

    from faultwire.errors import TapeError
    from faultwire.tape.prove import check

    bad = False
    found: list[dict[str, Any]] = []
    for name in names:
        try:
            proven = check(_read(Path(name)), trusted)
            log = {"origin": proven.checkpoint.origin, "size": proven.checkpoint.size}
            about = {"ok": True, "index": proven.index, **log, "key": str(proven.key), "event": proven.event}
            found.append({"path": name, **about})
        except TapeError as error:
            bad = True
            found.append({"path": name, "ok": False, "error": error.code, "message": error.message})
    if format_ == "json":
        show_json(found)
    else:
        for one in found:
            if one["ok"]:
                what = f"event {one['index']} is on tape `{one['origin']}`, sealed by {one['key']}"
                show(f"{one['path']}: {what}")
                show_json(one["event"])
            else:
                show(f"{one['path']}: proves nothing\n  {one['error']}: {one['message']}")
    raise SystemExit(1 if bad else 0)


def _read(path: Path) -> str:
    from faultwire.errors import TapeNotFound
    from faultwire.tape.prove import MAX_SIZE

    try:
        with path.open("rb") as source:
            return source.read(MAX_SIZE + 1).decode("utf-8", "replace")
    except OSError as error:
        raise TapeNotFound(f"cannot read proof `{path}`: {error.strerror}") from error
