"""One place where errors become text on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.exceptions import Exit, NoArgsIsHelpError, NoSuchCommand

from faultwire.errors import FaultwireError, UsageError, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

INTERRUPTED = 130
VOID = FaultwireError.exit_code
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


class Guarded(click.Group):
    """A group whose `main` exits with faultwire's codes: 0, 1, 2, 3 or 130."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and flush its output while the reader may still be there."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _reader_left()
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command; ends the process unless `standalone_mode` is off."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        sys.excepthook = _crashed
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except (KeyboardInterrupt, click.Abort):
            sys.exit(INTERRUPTED)
        except Exit as exit_:
            sys.exit(exit_.exit_code)
        except NoArgsIsHelpError as asked:
            click.echo(asked.format_message(), err=True)
            sys.exit(UsageError.exit_code)
        except click.ClickException as error:
            _fail(translate(error))
        except FaultwireError as error:
            _fail(error)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            _fail(no_room(error))
        sys.exit(code if isinstance(code, int) else 0)


def _fail(error: FaultwireError) -> NoReturn:
    from faultwire.text import folded, safe, width_of

    click.echo(folded(safe(error.render(), lines=True), width_of(sys.stderr)), err=True)
    sys.exit(error.exit_code)


def no_room(error: OSError) -> FaultwireError:
    """The error for a full or read-only disk; the run is inconclusive."""
    where = f" `{error.filename}`" if error.filename else ""
    return FaultwireError(
        f"cannot write{where}: {(error.strerror or 'no room').lower()}",
        code="disk.full",
        hint="free disk space, or run from another folder; `faultwire tape prune` removes old tapes",
    )


def _reader_left() -> NoReturn:
    """Exit silently if the reader of stdout has closed it (`faultwire … | head`), like `cat`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(128 + 13)


def _crashed(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    """Report an internal error with exit code 3, since 1 would mean a failed verdict."""
    traceback.print_exception(kind, value, trace)
    click.echo("faultwire.internal: this is a bug in faultwire; the run is inconclusive", err=True)
    sys.exit(VOID)


def translate(error: click.ClickException) -> UsageError:
    """Convert a click error to the project's form: code, found, expected, hint."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "faultwire"
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(error, command)
    if isinstance(error, click.MissingParameter):
        name = error.param.get_error_hint(context) if error.param and context else "`argument`"
        return UsageError(
            f"found no {_ticks(name)}, expected it with `{command}`",
            code="usage.missing",
            hint=f"see `{command} --help`",
        )
    if isinstance(error, click.BadParameter):
        return _bad_value(error, command)
    if isinstance(error, click.FileError):
        return UsageError(f"cannot open `{error.ui_filename}`: {_plain(error.message)}", code="usage.file")
    if isinstance(error, NoSuchCommand):
        return _unknown_command(error, command)
    return UsageError(_plain(error.format_message()), hint=f"see `{command} --help`")


OF_THE_RUN = frozenset({"shrink", "blame"})
"""Commands whose seed is that of the run that they are about."""


def _unknown_option(error: click.NoSuchOption, command: str) -> UsageError:
    known = [name for p in error.ctx.command.get_params(error.ctx) for name in p.opts] if error.ctx else []
    close = nearest(error.option_name, [name for name in known if name.startswith("-")])
    hint = f"did you mean `{close}`?" if close else f"see `{command} --help`"
    if error.option_name == "--seed" and error.ctx is not None and error.ctx.info_name in OF_THE_RUN:
        hint = "the seed is that of the run that is named, and is on its tape: leave it out"
    return UsageError(
        f"found `{error.option_name}`, expected an option of `{command}`",
        code="usage.unknown_option",
        hint=hint,
    )


def _unknown_command(error: NoSuchCommand, command: str) -> UsageError:
    group = error.ctx.command if error.ctx else None
    known = group.list_commands(error.ctx) if isinstance(group, click.Group) and error.ctx else []
    return UsageError(
        f"found `{error.command_name}`, expected a command of `{command}`",
        code="usage.unknown_command",
        hint=did_you_mean(error.command_name, known),
    )


def _bad_value(error: click.BadParameter, command: str) -> UsageError:
    name = error.param.get_error_hint(error.ctx) if error.param and error.ctx else error.param_hint
    hint = None
    choices = getattr(error.param.type, "choices", None) if error.param else None
    if choices:
        hint = f"known: {', '.join(str(choice) for choice in choices)}"
    label = f"{_ticks(str(name))}: " if name else ""
    return UsageError(
        f"{label}{_plain(error.message)}", code="usage.bad_value", hint=hint or f"see `{command} --help`"
    )


def _ticks(quoted: str) -> str:
    return quoted.replace("'", "`") if "'" in quoted else f"`{quoted}`"


def _plain(message: str) -> str:
    """click's sentence in our style: lower case, no final period, values in backticks."""
    text = message.strip().rstrip(".").replace("'", "`")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
