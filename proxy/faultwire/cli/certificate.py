"""`faultwire certificate issue | verify | show`: signed statements of what runs showed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere, anywhere_option, placed
from faultwire.cli._witness_options import LOG, witness_key_option, witness_options
from faultwire.cli.output import Format, format_option, say, show, show_json
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.certificate.keys import Signer, Verifier
    from faultwire.certificate.verify import Judgement

_keys_option = click.option(
    "--key",
    "given",
    multiple=True,
    metavar="KEY|FILE",
    help="Trust only this key (repeatable): a verifier key, or a public key in PEM; by default the project's "
    "own key and those in `faultwire keys show` are trusted.",
)


@click.group()
def certificate() -> None:
    """Issue and verify signed statements of what runs showed.

    A certificate is an in-toto statement in a DSSE envelope: the agent by digest, the verdict with its
    intervals, the faults that fired, what was not tested, and the tapes and reports that it rests on.
    """


@certificate.command()
@click.argument("run")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A new file; `RUN.dsse.json` by default."
)
@click.option(
    "--key",
    "pem",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Sign with this private key in PEM (Ed25519 or P-256) instead of the project's key.",
)
@witness_options
@click.option("--with-verifier", is_flag=True, help="Put verify_certificate.py beside it.")
@anywhere_option()
def issue(
    run: str, output: Path | None, pem: Path | None, witnesses: tuple[str, ...],
    witness_keys: tuple[str, ...], witness_token: Path | None, with_verifier: bool,
) -> None:  # fmt: skip
    """Certify what RUN showed, whatever its verdict.

    RUN is an id or its prefix, `last`, or a run's folder. Its tapes must verify and give the fault decisions
    that its reports name. With --witness, nothing is issued unless every witness cosigns.
    """
    import os

    from faultwire.certificate.issue import issue as make
    from faultwire.cli._witness_options import witnessed_log
    from faultwire.errors import UsageError
    from faultwire.output_file import create
    from faultwire.runner.past_runs import run_folder
    from faultwire.tape.evidence.keyring import KeyRing
    from faultwire.tape.evidence.standalone import OF_CERTIFICATES, place

    folder = run_folder(run)
    signer = _signer(pem)
    target = output or Path(f"{folder.name}.dsse.json")
    try:
        if os.path.lexists(placed(target)):  # before the log grows, and no file before all have cosigned
            raise FileExistsError
        with witnessed_log(witnesses, witness_keys, witness_token) as into:
            envelope = make(folder, signer, KeyRing().trusted(), into)
        with create(target, anywhere=anywhere()) as out:
            out.write(envelope.dump())
    except FileExistsError as error:
        raise UsageError(
            f"`{target}` exists already", code="usage.output", hint="choose another file with `-o`"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write `{target}`: {error.strerror}", code="usage.output") from error
    show(str(target))
    say(f"signed by {signer.verifier.keyid}")
    if witnesses:
        say(f"cosigned by {', '.join(key.partition('+')[0] for key in witness_keys)}")
    if with_verifier:
        show(str(place(target.parent, OF_CERTIFICATES, anywhere=anywhere())))


@certificate.command()
@click.argument("file", type=click.Path(path_type=Path))
@_keys_option
@witness_key_option("Demand that this witness has cosigned the certificate's log (repeatable).")
@click.option("--run", "run", help="Compare it with the reports and tapes of this run, too.")
@click.option(
    "--log",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Compare it with this copy of the log that it is in, too.",
)
@format_option
def verify(
    file: Path, given: tuple[str, ...], witness_keys: tuple[str, ...], run: str | None, log: Path | None,
    format_: Format,
) -> None:  # fmt: skip
    """Check who signed a certificate, what it states, and that nothing was changed.

    Exits 0 if it holds, 1 if it does not, 3 if it cannot be read. The verdict that it states changes
    nothing of that: a certificate of a failed run holds as well.
    """
    from faultwire.certificate.faces import text
    from faultwire.certificate.verify import compare, compare_log
    from faultwire.runner.past_runs import run_folder
    from faultwire.tape.evidence.keyring import KeyRing

    made = _judged(file, _trusted(given), witness_keys)
    if log is not None:
        compare_log(made, log)
    if run is not None:
        compare(made, run_folder(run), KeyRing().trusted())
    if format_ == "json":
        show_json(_document(file, made))
    else:
        show(_verdict(file, made))
        if made.ok and made.statement is not None:
            show(text(made.statement, made.signed_by, _log(made)))
    raise SystemExit(0 if made.ok else 1)


@certificate.command(name="show")
@click.argument("file", type=click.Path(path_type=Path))
@_keys_option
@witness_key_option("Demand that this witness has cosigned the certificate's log (repeatable).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write a page instead: `.html` or `.pdf`."
)
@anywhere_option()
def show_(file: Path, given: tuple[str, ...], witness_keys: tuple[str, ...], output: Path | None) -> None:
    """Show what a certificate that holds states, on the terminal or as a page.

    Of one that does not hold only the findings are printed: exits 1.
    """
    from faultwire.certificate import faces
    from faultwire.errors import UsageError
    from faultwire.output_file import create

    if output is not None and output.suffix not in faces.ENDINGS:
        raise UsageError(
            f"found the ending `{output.suffix}`, expected one of {', '.join(faces.ENDINGS)}",
            code="usage.output",
        )
    made = _judged(file, _trusted(given), witness_keys)
    if made.statement is None or not made.ok:
        show(_verdict(file, made))
        raise SystemExit(1)
    if output is None:
        show(faces.text(made.statement, made.signed_by, _log(made)))
        return
    shown = (made.statement, made.signed_by, _log(made))
    data = faces.html(*shown).encode() if output.suffix == ".html" else faces.pdf(*shown)
    try:
        with create(output, anywhere=anywhere()) as out:
            out.write(data)
    except FileExistsError as error:
        raise UsageError(f"`{output}` exists already", code="usage.output") from error
    except OSError as error:
        raise UsageError(f"cannot write `{output}`: {error.strerror}", code="usage.output") from error
    show(str(output))


@certificate.command(name="log")
@format_option
def log_(format_: Format) -> None:
    """Show this project's log of certificates, and the key that a witness needs to know it by.

    The key is made on first use: `faultwire witness --log KEY` demands it.
    """
    from faultwire.certificate.log import CertificateLog
    from faultwire.cli._witness_options import log_signer

    with CertificateLog.held(LOG, log_signer()) as log:
        entries, cosigned = len(log.leaves), log.cosigned
    if format_ == "json":
        show_json({"key": str(log.key), "folder": str(LOG), "entries": entries, "cosigned": cosigned})
    else:
        show(str(log.key))
        say(f"{counted(entries, 'entry', 'entries')} in {LOG}, {cosigned} of them cosigned")


# ---------------------------------------------------------------- parts


def _signer(pem: Path | None) -> Signer:
    import os

    from faultwire.certificate.keys import PASSWORD, ProjectSigner, pem_signer
    from faultwire.cli.tape_keep import project_signer

    return ProjectSigner(project_signer()) if pem is None else pem_signer(pem, os.environ.get(PASSWORD))


def _trusted(given: Sequence[str]) -> list[Verifier]:
    from faultwire.certificate.keys import ProjectVerifier, given_verifier
    from faultwire.tape.evidence.keyring import KeyRing

    if given:
        return list(map(given_verifier, given))
    return [ProjectVerifier(key) for key in KeyRing().trusted()]


def _judged(file: Path, keys: Sequence[Verifier], witnesses: Sequence[str]) -> Judgement:
    from faultwire.certificate.dsse import LARGEST, EnvelopeError
    from faultwire.certificate.verify import judge
    from faultwire.cli._witness_options import witness_keys
    from faultwire.tape.format.small_file import small_file

    try:
        data = small_file(file, LARGEST, links=True)
    except OSError as error:
        raise EnvelopeError(f"cannot read `{file}`: {error.strerror}") from error
    return judge(data, keys, witness_keys(witnesses))


def _log(made: Judgement) -> list[tuple[str, str]]:
    from faultwire.certificate.sections import log_rows

    return list(log_rows(made.logged, made.cosigned))


def _verdict(file: Path, made: Judgement) -> str:
    state = "holds" if made.ok else "does not hold"
    lines = [f"{file}: {state}"]
    if made.signed_by:
        lines.append(f"  signed by {made.signed_by}")
    if made.ok:
        files = (
            "the run's files are those that it names"
            if made.compared
            else "no run's files were compared (--run)"
        )
        lines.append(f"  {files}")
    lines += [f"  {finding.code}: {finding.message}" for finding in made.findings]
    if any(finding.code == "signature_untrusted" for finding in made.findings):
        lines.append("  hint: name the issuer's key with --key, or trust it: faultwire keys trust KEY")
    return "\n".join(lines)


def _document(file: Path, made: Judgement) -> dict[str, object]:
    return {
        "path": str(file),
        "ok": made.ok,
        "signed_by": made.signed_by,
        "compared": made.compared,
        "log": made.logged
        and {"origin": made.logged.origin, "index": made.logged.index, "size": made.logged.tree.size},
        "cosigned": [{"key": one.key, "at": one.at} for one in made.cosigned],
        "findings": [{"code": one.code, "message": one.message} for one in made.findings],
        "statement": made.statement.model_dump(mode="json", by_alias=True) if made.statement else None,
    }
